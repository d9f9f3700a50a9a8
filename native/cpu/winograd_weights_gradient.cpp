#include "cpu/winograd_weights_gradient.hpp"

#include <algorithm>
#include <atomic>

#include "graph/division.hpp"

namespace mpsgraph_native::cpu {
namespace {

// Up to this size each thread has sums of its own, which stay in its outer cache.
constexpr std::int64_t private_bytes = 2 << 20;
// Points of one block beside private sums; beside shared ones, which are read and written once per block and therefore
// want many points.
constexpr std::int64_t small_block_bytes = 600 << 10, large_block_bytes = 5 << 20;
constexpr std::int64_t small_block_tiles = 24, large_block_points = 96 * winograd_weights_points;
constexpr std::int64_t channels_per_write = 16;

}  // namespace

WinogradWeightsGradient::WinogradWeightsGradient(const WeightsGradientSizes& sizes, const WinogradScheme& scheme,
                                                 ScratchLayout& shared_scratch, ScratchLayout& thread_scratch)
    : kernels_(kernels<float>().matrix),
      scheme_(scheme),
      members_(scheme.members()),
      panel_(panel_for_rows(kernels_, sizes.output_channels)),
      sizes_(sizes) {
  const std::int64_t width = panel_.width, lanes = kernels_.widths[0].width;
  sum_point_ = spread_elements(panels() * sizes.input_channels * width);
  const std::int64_t all_sums = sizes.groups * winograd_weights_points * sum_point_;
  sums_per_thread_ = all_sums * std::int64_t{sizeof(float)} <= private_bytes;

  const std::int64_t source_channels = ceil_divide(sizes.input_channels, lanes) * lanes;
  const std::int64_t tile_bytes = scheme.points() * (source_channels + panels() * width) * std::int64_t{sizeof(float)};
  blocks_ = PixelBlocks(
      sizes.batch, ceil_divide(sizes.y.outputs, scheme.results), ceil_divide(sizes.x.outputs, scheme.results),
      sums_per_thread_ ? std::max(small_block_bytes / tile_bytes, small_block_tiles)
                       : std::max(large_block_bytes / tile_bytes, large_block_points / scheme.points()));
  const PixelBlock& largest = blocks_.largest();
  source_tiles_ =
      WinogradTiles(sizes.source, scheme.input_side, scheme.input_step, sizes.y.origin, sizes.x.origin, largest);
  gradient_tiles_ = WinogradTiles(sizes.incoming, scheme.results, scheme.results, 0, 0, largest);
  const std::int64_t tiles = largest.pixels();
  for (std::int64_t t = 0; t < tiles; ++t) tile_offsets_.push_back(static_cast<std::int32_t>(t * lanes));
  source_point_ = spread_elements(source_channels * tiles);
  gradient_point_ = spread_elements(panels() * width * tiles);

  ScratchLayout& scratch = sums_per_thread_ ? thread_scratch : shared_scratch;
  sum_slot_ = scratch.reserve<float>(all_sums);
  source_slot_ = scratch.reserve<float>(scheme.points() * source_point_);
  gradient_slot_ = scratch.reserve<float>(scheme.points() * gradient_point_);
  strip_slot_ =
      thread_scratch.reserve<float>(std::max(source_tiles_.strip_elements(), gradient_tiles_.strip_elements()));
  weights_slot_ = thread_scratch.reserve<float>(channels_per_write * 9 * width);
  column_slot_ = thread_scratch.reserve<const float*>(sizes.input_channels);
}

std::int64_t WinogradWeightsGradient::panel_rows(std::int64_t panel) const {
  return std::min<std::int64_t>(panel_.width, sizes_.output_channels - panel * panel_.width);
}

std::int64_t WinogradWeightsGradient::source_vectors() const {
  return ceil_divide(sizes_.input_channels, source_tiles_.lanes());
}

std::int64_t WinogradWeightsGradient::gradient_vectors() const {
  return panels() * panel_.width / gradient_tiles_.lanes();
}

float* WinogradWeightsGradient::area(const Invocation& invocation, std::int64_t chunk, Slot<float> slot) const {
  return sums_per_thread_ ? per_thread(invocation, chunk, slot) : shared(invocation, slot);
}

/// Vectors of channels, first those of the source, then those of the gradient's panels.
void WinogradWeightsGradient::transform(const Invocation& invocation, std::int64_t chunk, const float* incoming,
                                        const float* source, std::int64_t group, const PixelBlock& block,
                                        Range vectors) const {
  const std::int64_t lanes = source_tiles_.lanes(), width = panel_.width;
  const std::int64_t tiles = blocks_.largest().pixels();
  float* strip = per_thread(invocation, chunk, strip_slot_);
  float* source_points = area(invocation, chunk, source_slot_);
  float* gradient_points = area(invocation, chunk, gradient_slot_);
  for (std::int64_t v = vectors.begin; v < vectors.end; ++v) {
    if (v < source_vectors()) {
      const std::int64_t channel = v * lanes;
      source_tiles_.transform(scheme_.transform_input, source, block, group * sizes_.input_channels + channel,
                              std::min(lanes, sizes_.input_channels - channel), strip, source_points + channel * tiles,
                              source_point_, lanes);
      continue;
    }
    const std::int64_t channel = (v - source_vectors()) * lanes;
    const std::int64_t channels = std::clamp<std::int64_t>(sizes_.output_channels - channel, 0, lanes);
    float* points = gradient_points + channel / width * tiles * width + channel % width;
    if (channels > 0) {
      gradient_tiles_.transform(scheme_.transform_gradient, incoming, block, group * sizes_.output_channels + channel,
                                channels, strip, points, gradient_point_, width);
      continue;
    }
    // The rest of the last panel.
    for (std::int64_t point = 0; point < scheme_.points(); ++point)
      for (std::int64_t t = 0; t < block.pixels(); ++t)
        std::fill_n(points + point * gradient_point_ + t * width, lanes, 0.0f);
  }
}

/// Products are (point, panel), the points of a weight together and panels outside them; those of one weight and panel,
/// which add to the same sums, are done with the first.
void WinogradWeightsGradient::multiply(const Invocation& invocation, std::int64_t chunk, std::int64_t group,
                                       const PixelBlock& block, Range products, bool accumulate) const {
  const std::int64_t lanes = source_tiles_.lanes(), width = panel_.width;
  const std::int64_t tiles = blocks_.largest().pixels();
  const float** columns = per_thread(invocation, chunk, column_slot_);
  std::int64_t product = 0;
  for (std::int64_t weight = 0; weight < winograd_weights_points; ++weight) {
    const WinogradScheme::Members& members = members_[static_cast<std::size_t>(weight)];
    for (std::int64_t panel = 0; panel < panels(); ++panel, product += static_cast<std::int64_t>(members.size())) {
      if (product < products.begin || product >= products.end) continue;
      float* sums = area(invocation, chunk, sum_slot_) + (group * winograd_weights_points + weight) * sum_point_ +
                    panel * sizes_.input_channels * width;
      for (const std::int64_t point : members) {
        const float* source = area(invocation, chunk, source_slot_) + point * source_point_;
        const float* gradient =
            area(invocation, chunk, gradient_slot_) + point * gradient_point_ + panel * tiles * width;
        for (std::int64_t c = 0; c < sizes_.input_channels; ++c)
          columns[c] = source + c / lanes * tiles * lanes + c % lanes;
        panel_.multiply(block.pixels(), gradient, tile_offsets_.data(), columns, sizes_.input_channels, sums,
                        accumulate || point != members.front());
      }
    }
  }
}

/// Every chunk sums its share of the blocks for all weights.
void WinogradWeightsGradient::split_blocks(const Invocation& invocation, const float* incoming, const float* source,
                                           std::int64_t chunks) const {
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range range = split_range(blocks_.count(), chunk, chunks);
    for (std::int64_t group = 0; group < sizes_.groups; ++group)
      for (std::int64_t b = range.begin; b < range.end; ++b) {
        const PixelBlock block = blocks_[b];
        transform(invocation, chunk, incoming, source, group, block, {0, source_vectors() + gradient_vectors()});
        multiply(invocation, chunk, group, block, {0, scheme_.points() * panels()}, b > range.begin);
      }
  });
}

/// Block by block, the threads share first the transforms, then the products.
void WinogradWeightsGradient::split_products(const Invocation& invocation, const float* incoming, const float* source,
                                             int threads) const {
  const std::int64_t vectors = source_vectors() + gradient_vectors();
  const std::int64_t products = scheme_.points() * panels();
  const std::int64_t vector_chunks = std::min<std::int64_t>(threads, vectors);
  const std::int64_t product_chunks = std::min<std::int64_t>(threads, products);
  for (std::int64_t group = 0; group < sizes_.groups; ++group)
    for (std::int64_t b = 0; b < blocks_.count(); ++b) {
      const PixelBlock block = blocks_[b];
      parallel_for(vector_chunks, [&](std::int64_t chunk) {
        transform(invocation, chunk, incoming, source, group, block, split_range(vectors, chunk, vector_chunks));
      });
      parallel_for(product_chunks, [&](std::int64_t chunk) {
        multiply(invocation, chunk, group, block, split_range(products, chunk, product_chunks), b > 0);
      });
    }
}

/// Items are (group, panel, part of the input channels). Adds the copies of the sums in order and lays the gathered
/// weights out.
bool WinogradWeightsGradient::write(const Invocation& invocation, std::int64_t chunk, std::int64_t copies, Range items,
                                    float* result) const {
  const std::int64_t lanes = source_tiles_.lanes(), width = panel_.width;
  const std::int64_t parts = ceil_divide(sizes_.input_channels, channels_per_write);
  const std::int64_t all_outputs = sizes_.groups * sizes_.output_channels;
  float* weights = per_thread(invocation, chunk, weights_slot_);
  bool finite = true;
  for (std::int64_t item = items.begin; item < items.end; ++item) {
    const std::int64_t group = item / parts / panels(), panel = item / parts % panels();
    const Range channels = split_range(sizes_.input_channels, item % parts, parts);
    const std::int64_t count = channels.end - channels.begin, rows = panel_rows(panel);
    const std::int64_t offset =
        group * winograd_weights_points * sum_point_ + (panel * sizes_.input_channels + channels.begin) * width;
    float* sums = area(invocation, 0, sum_slot_) + offset;
    for (std::int64_t copy = 1; copy < copies; ++copy)
      for (std::int64_t point = 0; point < winograd_weights_points; ++point)
        kernels_.add(area(invocation, copy, sum_slot_) + offset + point * sum_point_, count * width,
                     sums + point * sum_point_);
    const WinogradRun run{count, 3 * width, width, 9 * width, sum_point_, width};
    for (std::int64_t v = 0; v < rows; v += lanes) finite &= scheme_.gather_weights(run, sums + v, weights + v);
    const std::int64_t output = group * sizes_.output_channels + panel * width;
    if (!sizes_.output_last) {
      const std::int64_t columns = sizes_.input_channels * 9;
      kernels_.transpose(weights, width, count * 9, rows, result + output * columns + channels.begin * 9, columns);
      continue;
    }
    for (std::int64_t c = 0; c < count; ++c)
      for (std::int64_t tap = 0; tap < 9; ++tap)
        std::copy_n(weights + (c * 9 + tap) * width, rows,
                    result + (tap * sizes_.input_channels + channels.begin + c) * all_outputs + output);
  }
  return finite;
}

bool WinogradWeightsGradient::run(const Invocation& invocation, const float* incoming, const float* source,
                                  float* result, int threads) const {
  std::int64_t copies = 1;
  if (sums_per_thread_) {
    copies = std::min<std::int64_t>(threads, blocks_.count());
    split_blocks(invocation, incoming, source, copies);
  } else {
    split_products(invocation, incoming, source, threads);
  }
  const std::int64_t items = sizes_.groups * panels() * ceil_divide(sizes_.input_channels, channels_per_write);
  const std::int64_t chunks = std::min<std::int64_t>(threads, items);
  std::atomic<bool> finite{true};
  parallel_for(chunks, [&](std::int64_t chunk) {
    if (!write(invocation, chunk, copies, split_range(items, chunk, chunks), result))
      finite.store(false, std::memory_order_relaxed);
  });
  return finite.load(std::memory_order_relaxed);
}

}  // namespace mpsgraph_native::cpu
