#include "cpu/winograd_correlation.hpp"

#include <algorithm>

#include "graph/division.hpp"

namespace mpsgraph_native::cpu {
namespace {

// Points of the input and products of a block stay in the outer cache, yet a block has tiles enough to pay for
// reading all transformed weights once.
constexpr std::int64_t block_bytes = 1800 << 10;
constexpr std::int64_t least_tiles = 24, most_tiles = 192;
constexpr std::int64_t most_depth = 576;
constexpr std::int64_t channels_per_packing = 16;

}  // namespace

WinogradCorrelation::WinogradCorrelation(const CorrelationSizes& sizes, const WinogradScheme& scheme,
                                         const WinogradAxis& y, const WinogradAxis& x, ScratchLayout& shared_scratch,
                                         ScratchLayout& thread_scratch)
    : kernels_(kernels<float>().matrix),
      scheme_(scheme),
      members_(scheme.members()),
      sizes_(sizes),
      panels_(sizes.weights, sizes.rows, y.weights, x.weights) {
  const std::int64_t lanes = kernels_.widths[0].width;
  const std::int64_t vectors = ceil_divide(sizes.channels, lanes);
  const std::int64_t all_rows = panels_.count() * panels_.width();
  const std::int64_t tile_bytes = scheme.points() * (vectors * lanes + all_rows) * std::int64_t{sizeof(float)};
  blocks_ = PixelBlocks(sizes.batch, ceil_divide(sizes.result.height, scheme.results),
                        ceil_divide(sizes.result.width, scheme.results),
                        std::clamp(block_bytes / tile_bytes, least_tiles, most_tiles));
  const PixelBlock& largest = blocks_.largest();
  tiles_ = WinogradTiles(sizes.input, scheme.input_side, scheme.input_step, y.origin, x.origin, largest);
  const std::int64_t tiles = largest.pixels();
  for (std::int64_t c = 0; c < sizes.channels; ++c)
    channel_offsets_.push_back(static_cast<std::int32_t>(c / lanes * tiles * lanes + c % lanes));
  weights_point_ = spread_elements(all_rows * sizes.channels);
  input_point_ = spread_elements(vectors * tiles * lanes);
  product_panel_ = tiles * panels_.width();
  product_point_ = spread_elements(panels_.count() * product_panel_);
  weights_slot_ = shared_scratch.reserve<float>(sizes.groups * winograd_weights_points * weights_point_);
  packed_slot_ = thread_scratch.reserve<float>(channels_per_packing * 9 * panels_.width());
  strip_slot_ = thread_scratch.reserve<float>(tiles_.strip_elements());
  input_slot_ = thread_scratch.reserve<float>(scheme.points() * input_point_);
  product_slot_ = thread_scratch.reserve<float>(scheme.points() * product_point_);
  result_slot_ = thread_scratch.reserve<float>(scheme.results * scheme.results * largest.columns * panels_.width());
  column_slot_ = thread_scratch.reserve<const float*>(tiles);
}

void WinogradCorrelation::transform_weights(const Invocation& invocation, const float* weights, int threads) const {
  const std::int64_t width = panels_.width(), lanes = tiles_.lanes();
  const std::int64_t parts = ceil_divide(sizes_.channels, channels_per_packing);
  const std::int64_t items = sizes_.groups * panels_.count() * parts;
  const std::int64_t chunks = std::min<std::int64_t>(threads, items);
  parallel_for(chunks, [&](std::int64_t chunk) {
    float* packed = per_thread(invocation, chunk, packed_slot_);
    const Range range = split_range(items, chunk, chunks);
    for (std::int64_t item = range.begin; item < range.end; ++item) {
      const std::int64_t group = item / parts / panels_.count(), panel = item / parts % panels_.count();
      const Range channels = split_range(sizes_.channels, item % parts, parts);
      panels_.pack(weights, group, panel, channels, packed);
      const WinogradRun run{channels.end - channels.begin, 3 * width, width, 9 * width, weights_point_, width};
      float* points = shared(invocation, weights_slot_) + group * winograd_weights_points * weights_point_ +
                      (panel * sizes_.channels + channels.begin) * width;
      for (std::int64_t v = 0; v < width; v += lanes) scheme_.transform_weights(run, packed + v, points + v);
    }
  });
}

void WinogradCorrelation::transform_input(const Invocation& invocation, std::int64_t chunk, const float* input,
                                          const Unit& unit) const {
  const std::int64_t lanes = tiles_.lanes();
  float* points = per_thread(invocation, chunk, input_slot_);
  for (std::int64_t c = 0; c < sizes_.channels; c += lanes, points += blocks_.largest().pixels() * lanes)
    tiles_.transform(scheme_.transform_input, input, unit.block, unit.group * sizes_.channels + c,
                     std::min(lanes, sizes_.channels - c), per_thread(invocation, chunk, strip_slot_), points,
                     input_point_, lanes);
}

void WinogradCorrelation::multiply(const Invocation& invocation, std::int64_t chunk, const Unit& unit) const {
  const std::int64_t width = panels_.width(), lanes = tiles_.lanes();
  const std::int64_t tiles = unit.block.pixels();
  const std::int64_t parts = ceil_divide(sizes_.channels, most_depth);
  const float** columns = per_thread(invocation, chunk, column_slot_);
  for (std::int64_t weight = 0; weight < winograd_weights_points; ++weight) {
    const float* weights =
        shared(invocation, weights_slot_) + (unit.group * winograd_weights_points + weight) * weights_point_;
    for (const std::int64_t point : members_[static_cast<std::size_t>(weight)]) {
      const float* input = per_thread(invocation, chunk, input_slot_) + point * input_point_;
      float* products = per_thread(invocation, chunk, product_slot_) + point * product_point_;
      for (std::int64_t t = 0; t < tiles; ++t) columns[t] = input + t * lanes;
      for (std::int64_t panel = unit.panels.begin; panel < unit.panels.end; ++panel)
        for (std::int64_t part = 0; part < parts; ++part) {
          const Range k = split_range(sizes_.channels, part, parts);
          panels_.kernels().multiply(k.end - k.begin, weights + (panel * sizes_.channels + k.begin) * width,
                                     channel_offsets_.data() + k.begin, columns, tiles,
                                     products + (panel - unit.panels.begin) * product_panel_, part > 0);
        }
    }
  }
}

bool WinogradCorrelation::write(const Invocation& invocation, std::int64_t chunk, const Unit& unit, std::int64_t panel,
                                float* result) const {
  const ImageTensor& tensor = sizes_.result;
  const PixelBlock& block = unit.block;
  const std::int64_t width = panels_.width(), lanes = tiles_.lanes();
  const std::int64_t channels = panels_.rows(panel);
  const std::int64_t strip_columns = block.columns * scheme_.results;
  const std::int64_t columns = std::min(strip_columns, tensor.width - block.x * scheme_.results);
  const WinogradRun run{block.columns, strip_columns * width, width, scheme_.results * width, product_point_, width};
  float* strip = per_thread(invocation, chunk, result_slot_);
  const float* points = per_thread(invocation, chunk, product_slot_) + (panel - unit.panels.begin) * product_panel_;
  bool finite = true;
  for (std::int64_t n = 0; n < block.images; ++n) {
    float* image = result + (block.image + n) * tensor.image_stride() +
                   block.x * scheme_.results * tensor.column_stride() +
                   (unit.group * sizes_.rows + panel * width) * tensor.channel_stride();
    for (std::int64_t row = 0; row < block.rows; ++row, points += block.columns * width) {
      for (std::int64_t v = 0; v < channels; v += lanes) finite &= scheme_.gather_results(run, points + v, strip + v);
      const std::int64_t y = (block.y + row) * scheme_.results;
      const std::int64_t rows = std::min(scheme_.results, tensor.height - y);
      for (std::int64_t r = 0; r < rows; ++r) {
        const float* from = strip + r * strip_columns * width;
        float* to = image + (y + r) * tensor.row_stride();
        if (tensor.channels_last)
          for (std::int64_t i = 0; i < columns; ++i)
            std::copy_n(from + i * width, channels, to + i * tensor.column_stride());
        else
          kernels_.transpose(from, width, columns, channels, to, tensor.channel_stride());
      }
    }
  }
  return finite;
}

bool WinogradCorrelation::run(const Invocation& invocation, const float* input, const float* weights, float* result,
                              int threads) const {
  transform_weights(invocation, weights, threads);
  // Panels innermost, so that few blocks are transformed by two threads.
  const std::int64_t panels = panels_.count();
  const std::int64_t units = sizes_.groups * blocks_.count() * panels;
  const std::int64_t chunks = std::min<std::int64_t>(threads, units);
  std::atomic<bool> finite{true};
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range range = split_range(units, chunk, chunks);
    for (std::int64_t i = range.begin; i < range.end;) {
      const std::int64_t first = i % panels, last = std::min(panels, first + range.end - i);
      const Unit unit{i / panels / blocks_.count(), blocks_[i / panels % blocks_.count()], {first, last}};
      transform_input(invocation, chunk, input, unit);
      multiply(invocation, chunk, unit);
      for (std::int64_t panel = first; panel < last; ++panel)
        if (!write(invocation, chunk, unit, panel, result)) finite.store(false, std::memory_order_relaxed);
      i += last - first;
    }
  });
  return finite.load(std::memory_order_relaxed);
}

}  // namespace mpsgraph_native::cpu
