#include "cpu/convolution_narrow.hpp"

#include <algorithm>

#include "cpu/convolution_lines.hpp"

namespace mpsgraph_native::cpu {
namespace {

// The planes of a block stay in the outer cache together with the source of the next; more rows at once share more of
// what taps above and below need.
constexpr std::int64_t block_bytes = 320 << 10;
constexpr std::int64_t least_pixels = 256, most_pixels = 4096;
constexpr std::int64_t plane_bytes = 4 << 20;
constexpr std::int64_t depth_bytes = 2304;  // 576 floats
constexpr std::int64_t most_phases = 16;

}  // namespace

template <class T>
bool NarrowCorrelation<T>::fits(const CorrelationSizes& sizes, const CorrelationAxes& axes) {
  const auto& matrix = cpu::kernels<T>().matrix;
  if (sizes.rows > std::min<std::int64_t>(matrix.maximum_narrow_rows, matrix.lanes / 2)) return false;
  if (static_cast<std::int64_t>(axes.y.size() * axes.x.size()) > most_phases) return false;
  const CorrelationAxis y = spanning_axis(axes.y), x = spanning_axis(axes.x);
  // A single tap takes less time than laying the channels of its pixels out as planes.
  if (sizes.input.channels_last && y.taps * x.taps == 1) return false;
  return y.stride == 1 && x.stride == 1 && (x.taps - 1) * x.dilation * 4 <= x.outputs &&
         (y.taps - 1) * y.dilation <= y.outputs && x.outputs * y.outputs >= 4 * matrix.lanes;
}

template <class T>
NarrowCorrelation<T>::NarrowCorrelation(const CorrelationSizes& sizes, const CorrelationAxes& axes,
                                        ScratchLayout& shared_scratch, ScratchLayout& thread_scratch)
    : kernels_(kernels<T>().matrix), sizes_(sizes), axes_(axes) {
  constexpr std::int64_t size = sizeof(T);
  const CorrelationAxis y = spanning_axis(axes.y), x = spanning_axis(axes.x);
  blocks_ = PixelBlocks(sizes.batch, y.outputs, x.outputs,
                        std::clamp(block_bytes / size / sizes.channels, least_pixels, most_pixels));
  planes_ = InputPlanes(sizes.input, sizes.channels, y, x, blocks_.largest(), plane_bytes / size);
  for (const CorrelationAxis& phase_y : axes.y)
    for (const CorrelationAxis& phase_x : axes.x)
      phases_.push_back(
          {kernel_offsets(sizes.weights, phase_y, phase_x), planes_.tap_offsets(phase_y, phase_x),
           shared_scratch.reserve<T>(sizes.groups * sizes.channels * phase_y.taps * phase_x.taps * sizes.rows)});
  const std::int64_t lanes = kernels_.lanes;
  line_ = (line_pixels(blocks_.largest()) + lanes - 1) / lanes * lanes;
  tile_ = blocks_.largest().images * sizes.rows * line_;
  // The last vector of a line reads beyond the planes.
  plane_slot_ = thread_scratch.reserve<T>(planes_.elements() + lanes);
  tile_slot_ = thread_scratch.reserve<T>(static_cast<std::int64_t>(phases_.size()) * tile_);
}

template <class T>
void NarrowCorrelation<T>::pack(const T* weights, const Phase& phase, std::int64_t group, T* packed) const {
  weights += group * sizes_.weights.group;
  for (std::int64_t c = 0; c < sizes_.channels; ++c)
    for (const std::int64_t offset : phase.kernel_offsets)
      for (std::int64_t r = 0; r < sizes_.rows; ++r)
        *packed++ = weights[c * sizes_.weights.channel + offset + r * sizes_.weights.row];
}

template <class T>
MemoryRuns NarrowCorrelation<T>::source(const T* input, std::int64_t unit, std::int64_t c) const {
  return planes_.source(input, blocks_[unit % blocks_.count()], unit / blocks_.count() * sizes_.channels + c,
                        std::min(planes_.channels_at_once(), sizes_.channels - c));
}

/// Units are (group, block).
template <class T>
void NarrowCorrelation<T>::multiply(const Invocation& invocation, const T* input, T* result, std::int64_t chunk,
                                    Range units) const {
  const std::int64_t most_depth = depth_bytes / static_cast<std::int64_t>(sizeof(T));
  T* planes = per_thread(invocation, chunk, plane_slot_);
  T* tiles = per_thread(invocation, chunk, tile_slot_);
  for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
    const std::int64_t group = unit / blocks_.count();
    const PixelBlock block = blocks_[unit % blocks_.count()];
    for (std::int64_t c = 0; c < sizes_.channels; c += planes_.channels_at_once()) {
      const std::int64_t channels = std::min(planes_.channels_at_once(), sizes_.channels - c);
      const T* base = planes_.prepare(kernels_, input, block, group * sizes_.channels + c, channels, planes);
      Prefetch prefetch;
      if (c + channels < sizes_.channels)
        prefetch.first = source(input, unit, c + channels);
      else if (unit + 1 < units.end)
        prefetch.first = source(input, unit + 1, 0);
      for (std::size_t p = 0; p < phases_.size(); ++p) {
        const Phase& phase = phases_[p];
        const std::int64_t taps = static_cast<std::int64_t>(phase.kernel_offsets.size());
        const T* weights =
            shared(invocation, phase.packed_weights) + (group * sizes_.channels + c) * taps * sizes_.rows;
        const std::int64_t parts = (channels * taps + most_depth - 1) / most_depth;
        for (std::int64_t n = 0; n < block.images; ++n) {
          T* tile = tiles + static_cast<std::int64_t>(p) * tile_ + n * sizes_.rows * line_;
          for (std::int64_t part = 0; part < parts; ++part) {
            const Range k = split_range(channels * taps, part, parts);
            kernels_.multiply_narrow(sizes_.rows, k.end - k.begin, weights + k.begin * sizes_.rows,
                                     base + n * planes_.image_offset(), phase.tap_offsets.data() + k.begin,
                                     line_pixels(block), tile, line_, c > 0 || part > 0, prefetch);
          }
        }
      }
    }
    for (std::int64_t n = 0; n < block.images; ++n) write(tiles + n * sizes_.rows * line_, block, n, group, result);
  }
}

template <class T>
void NarrowCorrelation<T>::write(const T* tiles, const PixelBlock& block, std::int64_t image, std::int64_t group,
                                 T* result) const {
  const ImageTensor& tensor = sizes_.result;
  const std::size_t x_count = axes_.x.size();
  result += (block.image + image) * tensor.image_stride() + group * sizes_.rows * tensor.channel_stride();
  for (std::int64_t row = 0; row < block.rows; ++row)
    for (std::size_t j = 0; j < axes_.y.size(); ++j) {
      const CorrelationAxis& y = axes_.y[j];
      if (block.y + row >= y.outputs) continue;
      T* to = result + (y.result_begin + (block.y + row) * y.result_step) * tensor.row_stride();
      const T* from = tiles + static_cast<std::int64_t>(j * x_count) * tile_ + row * planes_.row_offset();
      for (std::int64_t r = 0; r < sizes_.rows; ++r, from += line_) {
        if (tensor.channels_last) {
          const std::int64_t step = axes_.x[0].result_step * tensor.column_stride();
          for (std::size_t i = 0; i < x_count; ++i) {
            const CorrelationAxis& x = axes_.x[i];
            const T* line = from + static_cast<std::int64_t>(i) * tile_;
            T* pixel = to + r + (x.result_begin + block.x * x.result_step) * tensor.column_stride();
            const std::int64_t count = std::min(block.columns, x.outputs - block.x);
            for (std::int64_t o = 0; o < count; ++o) pixel[o * step] = line[o];
          }
        } else {
          const T* lines[most_phases];
          std::int64_t lengths[most_phases];
          for (std::size_t i = 0; i < x_count; ++i) {
            lines[i] = from + static_cast<std::int64_t>(i) * tile_;
            lengths[i] = std::clamp<std::int64_t>(axes_.x[i].outputs - block.x, 0, block.columns);
          }
          write_line(axes_.x.data(), x_count, block.x, lines, lengths, to + r * tensor.channel_stride());
        }
      }
    }
}

template <class T>
void NarrowCorrelation<T>::run(const Invocation& invocation, const T* input, const T* weights, T* result,
                               int threads) const {
  // So few weights that one thread packs them sooner than it shares the work.
  for (const Phase& phase : phases_) {
    const std::int64_t elements =
        sizes_.channels * static_cast<std::int64_t>(phase.kernel_offsets.size()) * sizes_.rows;
    for (std::int64_t group = 0; group < sizes_.groups; ++group)
      pack(weights, phase, group, shared(invocation, phase.packed_weights) + group * elements);
  }
  const std::int64_t units = sizes_.groups * blocks_.count();
  const std::int64_t chunks = std::min<std::int64_t>(threads, units);
  parallel_for(chunks, [&](std::int64_t chunk) {
    multiply(invocation, input, result, chunk, split_range(units, chunk, chunks));
  });
}

template class NarrowCorrelation<float>;
template class NarrowCorrelation<double>;

}  // namespace mpsgraph_native::cpu
