#include "cpu/convolution_correlation.hpp"

#include <algorithm>

#include "cpu/convolution_lines.hpp"

namespace mpsgraph_native::cpu {
namespace {

// A block's planes are read once per panel; they stay in the outer cache together with the weights of a panel.
constexpr std::int64_t plane_bytes = 4 << 20;
constexpr std::int64_t depth_bytes = 4608;  // 1152 floats: splitting them costs more than their weights' way

// Pixels of single taps that share the copies of their planes, which fewer would cut into short runs (112 took 1.07 of
// the time of 224).
constexpr std::int64_t pixels_of_planes = 224;

/// Pixels of a block. Channels of a pixel that are read in place are nothing to share among many (48 took 0.95 of the
/// time of 112).
std::int64_t target_pixels(bool channels_in_place, bool one_tap, std::int64_t x_axes) {
  if (channels_in_place) return 48;
  if (x_axes > 1) return std::max<std::int64_t>(448 / x_axes, 32);
  return one_tap ? pixels_of_planes : 112;
}

/// Whether single taps are best read where the tensor lies. Channels last they are in the best order. Whole planes of
/// one image need no copy either (0.93 to 0.99 of the time; 1.1 where images are so small that a block joins some),
/// if they are short and do not crowd the same position of all channels into a few sets of the cache.
template <class T>
bool reads_in_place(const ImageTensor& input, const CorrelationAxis& y, const CorrelationAxis& x) {
  if (y.taps * x.taps > 1 || !y.inside() || !x.inside()) return false;
  if (input.channels_last) return true;
  constexpr std::int64_t most_bytes = 1024, crowding_bytes = 256, most_offset = 2147483647;
  const std::int64_t pixels = y.outputs * x.outputs, bytes = pixels * static_cast<std::int64_t>(sizeof(T));
  return pixels == input.height * input.width && 2 * pixels > pixels_of_planes && bytes <= most_bytes &&
         bytes % crowding_bytes != 0 && input.image_stride() <= most_offset;
}

}  // namespace

template <class T>
Correlation<T>::Correlation(const CorrelationSizes& sizes, const CorrelationAxes& axes, ScratchLayout& shared_scratch,
                            ScratchLayout& thread_scratch)
    : kernels_(kernels<T>().matrix), sizes_(sizes), axes_(axes) {
  const std::int64_t x_count = static_cast<std::int64_t>(axes.x.size());
  const CorrelationAxis y = spanning_axis(axes.y), x = spanning_axis(axes.x);
  const bool in_place = reads_in_place<T>(sizes.input, y, x);
  blocks_ = PixelBlocks(sizes.batch, y.outputs, x.outputs,
                        target_pixels(in_place && sizes.input.channels_last, y.taps * x.taps == 1, x_count));
  planes_ = in_place ? InputPlanes::in_place(sizes.input, sizes.channels, y, x, blocks_.largest())
                     : InputPlanes(sizes.input, sizes.channels, y, x, blocks_.largest(),
                                   plane_bytes / static_cast<std::int64_t>(sizeof(T)));
  pixel_offsets_ = planes_.pixel_offsets();
  for (const CorrelationAxis& phase_y : axes.y)
    for (const CorrelationAxis& phase_x : axes.x) {
      Phase phase{{sizes.weights, sizes.rows, phase_y, phase_x}, phase_y.taps * phase_x.taps, {}, {}};
      phase.tap_offsets = planes_.tap_offsets(phase_y, phase_x);
      phase.packed_weights = shared_scratch.reserve<T>(sizes.groups * phase.panels.count() * sizes.channels *
                                                       phase.taps * phase.panels.width());
      phases_.push_back(std::move(phase));
    }
  plane_slot_ = thread_scratch.reserve<T>(planes_.elements());
  const bool whole = planes_.channels_at_once() == sizes.channels;
  tile_slot_ = thread_scratch.reserve<T>((whole ? x_count : panels() * static_cast<std::int64_t>(phases_.size())) *
                                         tile_elements());
  column_slot_ = thread_scratch.reserve<const T*>(blocks_.largest().pixels());
}

template <class T>
void Correlation<T>::multiply_phase(const Phase& phase, std::int64_t depth, const T* a, const T* const* columns,
                                    std::int64_t pixels, T* tile, std::int64_t tile_stride, bool accumulate,
                                    Prefetch& prefetch) const {
  const std::int64_t most_depth = std::max<std::int64_t>(depth_bytes / static_cast<std::int64_t>(sizeof(T)), 1);
  const std::int64_t parts = (depth + most_depth - 1) / most_depth;
  for (std::int64_t part = 0; part < parts; ++part) {
    const Range k = split_range(depth, part, parts);
    phase.panels.kernels().multiply_and_fetch(k.end - k.begin, a + k.begin * width(),
                                              phase.tap_offsets.data() + k.begin, columns, pixels, tile, tile_stride,
                                              accumulate || part > 0, prefetch);
  }
}

/// Units are (group, block, panel), panels innermost, so that a thread copies few blocks that another copies too.
template <class T>
void Correlation<T>::multiply(const Invocation& invocation, const T* input, T* result, std::int64_t chunk,
                              Range units) const {
  T* planes = per_thread(invocation, chunk, plane_slot_);
  T* all_tiles = per_thread(invocation, chunk, tile_slot_);
  const T** columns = per_thread(invocation, chunk, column_slot_);
  const bool whole = planes_.channels_at_once() == sizes_.channels;
  const std::size_t x_count = axes_.x.size();

  for (std::int64_t unit = units.begin; unit < units.end;) {
    const std::int64_t first = unit % panels();
    const std::int64_t last = std::min(panels(), first + units.end - unit);
    const std::int64_t group = unit / panels() / blocks_.count();
    const PixelBlock block = blocks_[unit / panels() % blocks_.count()];
    const std::int64_t pixels = block.pixels();
    for (std::int64_t c = 0; c < sizes_.channels; c += planes_.channels_at_once()) {
      const std::int64_t channels = std::min(planes_.channels_at_once(), sizes_.channels - c);
      const T* base = planes_.prepare(kernels_, input, block, group * sizes_.channels + c, channels, planes);
      for (std::int64_t p = 0; p < pixels; ++p) columns[p] = base + pixel_offsets_[static_cast<std::size_t>(p)];
      Prefetch prefetch;
      if (const std::int64_t next = c + channels; next < sizes_.channels)
        prefetch.second = planes_.source(input, block, group * sizes_.channels + next,
                                         std::min(planes_.channels_at_once(), sizes_.channels - next));
      else if (unit + last - first < units.end)
        prefetch.second = next_source(input, unit + last - first);
      for (std::int64_t panel = first; panel < last; ++panel)
        for (std::size_t y = 0; y < axes_.y.size(); ++y) {
          const std::int64_t first_channel = group * sizes_.rows + panel * width();
          const std::int64_t rows = phases_[0].panels.rows(panel);
          const bool final = c + channels == sizes_.channels;
          if (final) prefetch.first = destination(result, axes_.y[y], block, first_channel, rows);
          T* in_order = this->in_order(result, block, first_channel, rows);
          // Tiles that wait for more channels each have a place of their own.
          T* tiles = whole ? all_tiles
                           : all_tiles + (panel * static_cast<std::int64_t>(phases_.size()) +
                                          static_cast<std::int64_t>(y * x_count)) *
                                             tile_elements();
          for (std::size_t x = 0; x < x_count; ++x) {
            const Phase& phase = phases_[y * x_count + x];
            const T* a = shared(invocation, phase.packed_weights) +
                         ((group * panels() + panel) * sizes_.channels + c) * phase.taps * width();
            T* to = in_order ? in_order : tiles + static_cast<std::int64_t>(x) * tile_elements();
            multiply_phase(phase, channels * phase.taps, a, columns, pixels, to,
                           in_order ? sizes_.result.channels : width(), c > 0, prefetch);
          }
          if (final && !in_order) write(tiles, axes_.y[y], block, first_channel, rows, result);
        }
    }
    unit += last - first;
  }
}

template <class T>
MemoryRuns Correlation<T>::next_source(const T* input, std::int64_t unit) const {
  return planes_.source(input, blocks_[unit / panels() % blocks_.count()],
                        unit / panels() / blocks_.count() * sizes_.channels, planes_.channels_at_once());
}

template <class T>
T* Correlation<T>::in_order(T* result, const PixelBlock& block, std::int64_t first_channel,
                            std::int64_t channels) const {
  const ImageTensor& tensor = sizes_.result;
  const CorrelationAxis &y = axes_.y[0], &x = axes_.x[0];
  if (!tensor.channels_last || channels < width() || phases_.size() > 1 || y.result_step * x.result_step > 1)
    return nullptr;
  const bool one_row = block.images == 1 && block.rows == 1;
  const bool whole_rows = block.columns == tensor.width && (block.images == 1 || block.rows == tensor.height);
  if (!one_row && !whole_rows) return nullptr;
  return result + block.image * tensor.image_stride() + (y.result_begin + block.y) * tensor.row_stride() +
         (x.result_begin + block.x) * tensor.column_stride() + first_channel;
}

/// The memory that `write` writes.
template <class T>
MemoryRuns Correlation<T>::destination(const T* result, const CorrelationAxis& y, const PixelBlock& block,
                                       std::int64_t first_channel, std::int64_t channels) const {
  const ImageTensor& tensor = sizes_.result;
  constexpr std::int64_t size = sizeof(T);
  const auto* run = reinterpret_cast<const char*>(result + block.image * tensor.image_stride() +
                                                  first_channel * tensor.channel_stride() +
                                                  (y.result_begin + block.y * y.result_step) * tensor.row_stride() +
                                                  block.x * axes_.x[0].result_step * tensor.column_stride());
  const std::int64_t rows = std::clamp<std::int64_t>(y.outputs - block.y, 0, block.rows);
  if (tensor.channels_last) {
    if (y.result_step > 1 || block.columns * axes_.x[0].result_step < tensor.width) return {};
    return {run, channels * size, tensor.column_stride() * size, block.images * rows * tensor.width};
  }
  if (y.result_step > 1 || axes_.x[0].result_step > 1) return {};
  if (block.images > 1)
    return {run, channels * tensor.channel_stride() * size, tensor.image_stride() * size, block.images};
  return {run, ((rows - 1) * tensor.width + block.columns) * size, tensor.channel_stride() * size, channels};
}

/// Writes one row of every channel from the transposed tiles of the x axes, interleaved.
template <class T>
void Correlation<T>::write_planes(const T* tiles, std::int64_t columns, std::int64_t x, std::int64_t channels,
                                  T* row) const {
  constexpr std::int64_t most_columns = 64, most_channels = 16;
  const std::int64_t channel_stride = sizes_.result.channel_stride();
  T lines[2][most_channels * most_columns];
  const std::size_t at_once = axes_.x.size() == 2 && axes_.x[0].result_step == 2 ? 2 : 1;
  for (std::int64_t i = 0; i < columns; i += most_columns)
    for (std::int64_t r = 0; r < channels; r += most_channels) {
      const std::int64_t block_channels = std::min(most_channels, channels - r);
      for (std::size_t first = 0; first < axes_.x.size(); first += at_once) {
        std::int64_t lengths[2];
        for (std::size_t p = 0; p < at_once; ++p) {
          lengths[p] =
              std::clamp<std::int64_t>(axes_.x[first + p].outputs - x - i, 0, std::min(most_columns, columns - i));
          kernels_.transpose(tiles + static_cast<std::int64_t>(first + p) * tile_elements() + i * width() + r, width(),
                             lengths[p], block_channels, lines[p], most_columns);
        }
        for (std::int64_t channel = 0; channel < block_channels; ++channel) {
          T* to = row + (r + channel) * channel_stride;
          const T* from[2] = {lines[0] + channel * most_columns, lines[1] + channel * most_columns};
          write_line(axes_.x.data() + first, at_once, x + i, from, lengths, to);
        }
      }
    }
}

template <class T>
void Correlation<T>::write(const T* tiles, const CorrelationAxis& y, const PixelBlock& block,
                           std::int64_t first_channel, std::int64_t channels, T* result) const {
  const ImageTensor& tensor = sizes_.result;
  const std::int64_t column_step = axes_.x[0].result_step * tensor.column_stride();
  const std::int64_t row_step = y.result_step * tensor.row_stride();
  const std::int64_t rows = std::clamp<std::int64_t>(y.outputs - block.y, 0, block.rows);
  const bool single = axes_.x.size() == 1;
  // Rows that follow each other in the result are one.
  const bool rows_join =
      single && (tensor.channels_last || column_step == 1) && block.columns * column_step == row_step;
  const std::int64_t lines = rows_join ? std::min<std::int64_t>(rows, 1) : rows;
  const std::int64_t length = rows_join ? rows * block.columns : block.columns;
  for (std::int64_t n = 0; n < block.images; ++n, tiles += block.rows * block.columns * width()) {
    T* to = result + (block.image + n) * tensor.image_stride() + first_channel * tensor.channel_stride() +
            (y.result_begin + block.y * y.result_step) * tensor.row_stride();
    const T* tile = tiles;
    for (std::int64_t line = 0; line < lines; ++line, to += row_step, tile += length * width()) {
      if (tensor.channels_last) {
        for (std::size_t p = 0; p < axes_.x.size(); ++p) {
          const CorrelationAxis& x = axes_.x[p];
          const T* from = tile + static_cast<std::int64_t>(p) * tile_elements();
          T* pixel = to + (x.result_begin + block.x * x.result_step) * tensor.column_stride();
          const std::int64_t count = rows_join ? length : std::min(length, x.outputs - block.x);
          for (std::int64_t i = 0; i < count; ++i, pixel += column_step)
            std::copy_n(from + i * width(), channels, pixel);
        }
      } else if (single && column_step == 1) {
        kernels_.transpose(tile, width(), length, channels, to + axes_.x[0].result_begin + block.x,
                           tensor.channel_stride());
      } else {
        write_planes(tile, length, block.x, channels, to);
      }
    }
  }
}

template <class T>
void Correlation<T>::run(const Invocation& invocation, const T* input, const T* weights, T* result, int threads) const {
  const std::int64_t all_panels = sizes_.groups * panels();
  const std::int64_t packing_items = all_panels * static_cast<std::int64_t>(phases_.size());
  const std::int64_t packing_chunks = std::min<std::int64_t>(threads, packing_items);
  parallel_for(packing_chunks, [&](std::int64_t chunk) {
    const Range range = split_range(packing_items, chunk, packing_chunks);
    for (std::int64_t item = range.begin; item < range.end; ++item) {
      const Phase& phase = phases_[static_cast<std::size_t>(item / all_panels)];
      const std::int64_t i = item % all_panels;
      phase.panels.pack(weights, i / panels(), i % panels(), {0, sizes_.channels},
                        shared(invocation, phase.packed_weights) + i * sizes_.channels * phase.taps * width());
    }
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
