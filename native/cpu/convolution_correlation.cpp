#include "cpu/convolution_correlation.hpp"

#include <algorithm>

namespace mpsgraph_native::cpu {
namespace {

// A block's planes are read once per panel and its tile is written once per depth block; both stay in the outer
// cache together with the weights of one depth block.
constexpr std::int64_t target_pixels = 448;
constexpr std::int64_t plane_bytes = 4 << 20;
constexpr std::int64_t depth_bytes = 2304;  // 576 floats

}  // namespace

template <class T>
Correlation<T>::Correlation(const CorrelationSizes& sizes, const CorrelationAxis& y, const CorrelationAxis& x,
                            ScratchLayout& shared_scratch, ScratchLayout& thread_scratch)
    : kernels_(kernels<T>().matrix),
      sizes_(sizes),
      panels_(sizes.weights, sizes.rows, y, x),
      y_(y),
      x_(x),
      taps_(y.taps * x.taps),
      depth_(sizes.channels * taps_),
      blocks_(sizes.batch, y.outputs, x.outputs, target_pixels) {
  // One tap in a channels-last tensor reads consecutive channels: the tensor itself is the best order.
  const bool in_place = sizes.input.channels_last && taps_ == 1 && y.inside() && x.inside();
  planes_ = in_place ? InputPlanes::in_place(sizes.input, sizes.channels, y, x, blocks_.largest())
                     : InputPlanes(sizes.input, sizes.channels, y, x, blocks_.largest(),
                                   plane_bytes / static_cast<std::int64_t>(sizeof(T)));
  pixel_offsets_ = planes_.pixel_offsets();
  tap_offsets_ = planes_.tap_offsets();
  packed_weights_ = shared_scratch.reserve<T>(sizes.groups * panels_.count() * depth_ * panels_.width());
  plane_slot_ = thread_scratch.reserve<T>(planes_.elements());
  const std::int64_t tiles = planes_.channels_at_once() < sizes.channels ? panels_.count() : 1;
  tile_slot_ = thread_scratch.reserve<T>(tiles * blocks_.largest().pixels() * panels_.width());
  column_slot_ = thread_scratch.reserve<const T*>(blocks_.largest().pixels());
}

/// Units are (group, block, panel), panels innermost, so that a thread copies few blocks that another copies too.
template <class T>
void Correlation<T>::multiply(const Invocation& invocation, const T* input, T* result, std::int64_t chunk,
                              Range units) const {
  const std::int64_t width = panels_.width();
  const std::int64_t panel_elements = depth_ * width;
  const T* packed = shared(invocation, packed_weights_);
  T* planes = per_thread(invocation, chunk, plane_slot_);
  T* tiles = per_thread(invocation, chunk, tile_slot_);
  const T** columns = per_thread(invocation, chunk, column_slot_);
  const std::int64_t most_depth = std::max<std::int64_t>(depth_bytes / static_cast<std::int64_t>(sizeof(T)), 1);

  for (std::int64_t unit = units.begin; unit < units.end;) {
    const std::int64_t first = unit % panels_.count();
    const std::int64_t last = std::min(panels_.count(), first + units.end - unit);
    const std::int64_t group = unit / panels_.count() / blocks_.count();
    const PixelBlock block = blocks_[unit / panels_.count() % blocks_.count()];
    const std::int64_t pixels = block.pixels();
    const bool whole = planes_.channels_at_once() == sizes_.channels;
    for (std::int64_t c = 0; c < sizes_.channels; c += planes_.channels_at_once()) {
      const std::int64_t channels = std::min(planes_.channels_at_once(), sizes_.channels - c);
      const T* base = planes_.prepare(kernels_, input, block, group * sizes_.channels + c, channels, planes);
      for (std::int64_t p = 0; p < pixels; ++p) columns[p] = base + pixel_offsets_[static_cast<std::size_t>(p)];
      const std::int64_t depth = channels * taps_;
      const std::int64_t parts = (depth + most_depth - 1) / most_depth;
      for (std::int64_t panel = first; panel < last; ++panel) {
        const T* a = packed + (group * panels_.count() + panel) * panel_elements + c * taps_ * width;
        T* tile = whole ? tiles : tiles + panel * blocks_.largest().pixels() * width;
        for (std::int64_t part = 0; part < parts; ++part) {
          const Range k = split_range(depth, part, parts);
          panels_.kernels().multiply(k.end - k.begin, a + k.begin * width, tap_offsets_.data() + k.begin, columns,
                                     pixels, tile, c > 0 || part > 0);
        }
        if (c + channels == sizes_.channels)
          write(tile, block, group * sizes_.rows + panel * width, panels_.rows(panel), result);
      }
    }
    unit += last - first;
  }
}

template <class T>
void Correlation<T>::write(const T* tile, const PixelBlock& block, std::int64_t first_channel, std::int64_t channels,
                           T* result) const {
  const ImageTensor& tensor = sizes_.result;
  const std::int64_t width = panels_.width();
  const std::int64_t column_step = x_.result_step * tensor.column_stride();
  const std::int64_t row_step = y_.result_step * tensor.row_stride();
  const bool rows_join = block.columns * column_step == row_step;
  const std::int64_t lines = rows_join ? 1 : block.rows;
  const std::int64_t length = rows_join ? block.rows * block.columns : block.columns;
  for (std::int64_t n = 0; n < block.images; ++n) {
    T* to = result + (block.image + n) * tensor.image_stride() + first_channel * tensor.channel_stride() +
            (y_.result_begin + block.y * y_.result_step) * tensor.row_stride() +
            (x_.result_begin + block.x * x_.result_step) * tensor.column_stride();
    for (std::int64_t line = 0; line < lines; ++line, to += row_step, tile += length * width) {
      if (tensor.channels_last) {
        for (std::int64_t i = 0; i < length; ++i) std::copy_n(tile + i * width, channels, to + i * column_step);
      } else if (column_step == 1) {
        kernels_.transpose(tile, width, length, channels, to, tensor.channel_stride());
      } else {
        for (std::int64_t r = 0; r < channels; ++r) {
          T* plane = to + r * tensor.channel_stride();
          for (std::int64_t i = 0; i < length; ++i) plane[i * column_step] = tile[i * width + r];
        }
      }
    }
  }
}

template <class T>
void Correlation<T>::run(const Invocation& invocation, const T* input, const T* weights, T* result, int threads) const {
  T* packed = shared(invocation, packed_weights_);
  const std::int64_t all_panels = sizes_.groups * panels_.count();
  const std::int64_t packing_chunks = std::min<std::int64_t>(threads, all_panels);
  parallel_for(packing_chunks, [&](std::int64_t chunk) {
    const Range range = split_range(all_panels, chunk, packing_chunks);
    for (std::int64_t i = range.begin; i < range.end; ++i)
      panels_.pack(weights, i / panels_.count(), i % panels_.count(), {0, sizes_.channels},
                   packed + i * depth_ * panels_.width());
  });
  const std::int64_t units = all_panels * blocks_.count();
  const std::int64_t chunks = std::min<std::int64_t>(threads, units);
  parallel_for(chunks, [&](std::int64_t chunk) {
    multiply(invocation, input, result, chunk, split_range(units, chunk, chunks));
  });
}

template class Correlation<float>;
template class Correlation<double>;

}  // namespace mpsgraph_native::cpu
