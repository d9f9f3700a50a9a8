#pragma once

#include <cstdint>

#include "cpu/convolution_planes.hpp"
#include "cpu/dispatch.hpp"

namespace mpsgraph_native::cpu {

/// Elements between equal positions of neighbouring arrays: an odd number of cache lines, so that arrays of a size
/// near a power of two do not all fall into the same few sets of the cache.
constexpr std::int64_t spread_elements(std::int64_t elements) {
  constexpr std::int64_t line = 16;
  return ((elements + line - 1) / line | 1) * line;
}

/// Cuts an image tensor into square tiles and transforms them, a vector of channels at a time.
class WinogradTiles {
 public:
  WinogradTiles() = default;
  /// Tiles are `step` pixels apart, the first at pixel (origin_y, origin_x); what lies outside the image is zero.
  /// Blocks count tiles.
  WinogradTiles(const ImageTensor& tensor, std::int64_t side, std::int64_t step, std::int64_t origin_y,
                std::int64_t origin_x, const PixelBlock& largest);

  /// Channels that `transform` takes at once.
  std::int64_t lanes() const { return pack_->width; }
  /// Scratch that `transform` needs.
  std::int64_t strip_elements() const { return strip_rows_ * strip_columns_ * lanes(); }

  /// Point p of tile t goes to points + p·point_step + t·tile_step, tiles in the order of the block's pixels.
  void transform(WinogradTransform transform, const float* tensor, const PixelBlock& block, std::int64_t first_channel,
                 std::int64_t channels, float* strip, float* points, std::int64_t point_step,
                 std::int64_t tile_step) const;

 private:
  void pack_row(const float* row, std::int64_t x, std::int64_t columns, std::int64_t channels, float* to) const;

  ImageTensor tensor_;
  std::int64_t side_ = 0, step_ = 0, origin_y_ = 0, origin_x_ = 0;
  std::int64_t strip_rows_ = 0, strip_columns_ = 0;
  const PanelKernels<float>* pack_ = nullptr;  ///< the panel one vector wide
};

}  // namespace mpsgraph_native::cpu
