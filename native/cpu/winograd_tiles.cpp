#include "cpu/winograd_tiles.hpp"

#include <algorithm>

namespace mpsgraph_native::cpu {

WinogradTiles::WinogradTiles(const ImageTensor& tensor, std::int64_t side, std::int64_t step, std::int64_t origin_y,
                             std::int64_t origin_x, const PixelBlock& largest)
    : tensor_(tensor),
      side_(side),
      step_(step),
      origin_y_(origin_y),
      origin_x_(origin_x),
      strip_rows_((largest.rows - 1) * step + side),
      strip_columns_((largest.columns - 1) * step + side),
      pack_(&kernels<float>().matrix.widths[0]) {}

void WinogradTiles::pack_row(const float* row, std::int64_t x, std::int64_t columns, std::int64_t channels,
                             float* to) const {
  const std::int64_t width = pack_->width;
  const std::int64_t begin = std::clamp<std::int64_t>(-x, 0, columns);
  const std::int64_t end = std::clamp<std::int64_t>(tensor_.width - x, begin, columns);
  std::fill_n(to, begin * width, 0.0f);
  if (begin < end) {
    const float* from = row + (x + begin) * tensor_.column_stride();
    if (tensor_.channels_last) {
      // The next vector of channels, in the lines beside these, is packed when this one is done: too far away for the
      // processor to see it coming.
      for (std::int64_t i = 0; i < end - begin; ++i) __builtin_prefetch(from + i * tensor_.channels + width, 0, 2);
      pack_->pack_columns(from, tensor_.channels, channels, end - begin, to + begin * width);
    } else {
      pack_->pack_rows(from, tensor_.channel_stride(), channels, end - begin, to + begin * width);
    }
  }
  std::fill_n(to + end * width, (columns - end) * width, 0.0f);
}

void WinogradTiles::transform(WinogradTransform transform, const float* tensor, const PixelBlock& block,
                              std::int64_t first_channel, std::int64_t channels, float* strip, float* points,
                              std::int64_t point_step, std::int64_t tile_step) const {
  const std::int64_t width = pack_->width;
  const std::int64_t rows = (block.rows - 1) * step_ + side_;
  const std::int64_t columns = (block.columns - 1) * step_ + side_;
  const std::int64_t top = origin_y_ + block.y * step_;
  const std::int64_t left = origin_x_ + block.x * step_;
  const WinogradRun run{block.columns, columns * width, width, step_ * width, point_step, tile_step};
  tensor += first_channel * tensor_.channel_stride();
  for (std::int64_t n = 0; n < block.images; ++n) {
    const float* image = tensor + (block.image + n) * tensor_.image_stride();
    for (std::int64_t r = 0; r < rows; ++r) {
      float* to = strip + r * columns * width;
      const std::int64_t y = top + r;
      if (y >= 0 && y < tensor_.height)
        pack_row(image + y * tensor_.row_stride(), left, columns, channels, to);
      else
        std::fill_n(to, columns * width, 0.0f);
    }
    for (std::int64_t row = 0; row < block.rows; ++row, points += block.columns * tile_step)
      transform(run, strip + row * step_ * columns * width, points);
  }
}

}  // namespace mpsgraph_native::cpu
