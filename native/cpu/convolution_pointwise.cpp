#include "cpu/convolution_pointwise.hpp"

#include <algorithm>

#include "cpu/panels.hpp"

namespace mpsgraph_native::cpu {
namespace {

// Some packed panels stay in the outer cache together with the weights that pass by them.
constexpr std::int64_t block_bytes = 256 << 10, rows_bytes = 96 << 10;
constexpr std::int64_t depth_bytes = 4608;  // 1152 floats, as in other products
constexpr std::int64_t most_rows = 96;

/// Runs that begin with a line of the cache, lest the last line of one be left out.
MemoryRuns whole_lines(const void* begin, std::int64_t bytes, std::int64_t stride, std::int64_t count) {
  const char* run = static_cast<const char*>(begin);
  const auto before = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(run) % 64);
  return {run - before, bytes + before, stride, count};
}

bool pointwise(const CorrelationAxis& axis, std::int64_t result) {
  return axis.taps == 1 && axis.stride == 1 && axis.origin == 0 && axis.result_step == 1 && axis.result_begin == 0 &&
         axis.outputs == axis.input && axis.outputs == result;
}

}  // namespace

template <class T>
bool PointwiseCorrelation<T>::fits(const CorrelationSizes& sizes, const CorrelationAxes& axes) {
  return !sizes.input.channels_last && axes.y.size() == 1 && axes.x.size() == 1 &&
         pointwise(axes.y[0], sizes.result.height) && pointwise(axes.x[0], sizes.result.width);
}

template <class T>
PointwiseCorrelation<T>::PointwiseCorrelation(const CorrelationSizes& sizes, const CorrelationAxes&,
                                              ScratchLayout& shared_scratch, ScratchLayout& thread_scratch)
    : kernels_(kernels<T>().matrix),
      sizes_(sizes),
      plane_(sizes.result.height * sizes.result.width),
      panel_(panel_for_rows(kernels_, sizes.batch * plane_)),
      weights_in_order_(sizes.weights.channel == 1) {
  constexpr std::int64_t size = sizeof(T);
  parts_ = ceil_divide(sizes.channels * size, depth_bytes);
  const std::int64_t depth = ceil_divide(sizes.channels, parts_);
  panels_at_once_ = std::clamp<std::int64_t>(block_bytes / (depth * panel_.width * size), 1, panels());
  rows_at_once_ = std::clamp<std::int64_t>(rows_bytes / (depth * size) / kernels_.tile_columns * kernels_.tile_columns,
                                           kernels_.tile_columns, most_rows);
  for (std::int64_t k = 0; k < depth; ++k) steps_.push_back(static_cast<std::int32_t>(k));
  if (!weights_in_order_) weights_slot_ = shared_scratch.reserve<T>(sizes.groups * sizes.rows * sizes.channels);
  packed_slot_ = thread_scratch.reserve<T>(panels_at_once_ * depth * panel_.width);
  tile_slot_ = thread_scratch.reserve<T>(rows_at_once_ * panel_.width);
  column_slot_ = thread_scratch.reserve<const T*>(rows_at_once_);
}

template <class T>
auto PointwiseCorrelation<T>::piece(std::int64_t begin, std::int64_t end) const -> Piece {
  const std::int64_t pixel = begin % plane_;
  return {begin / plane_, pixel, std::min(plane_ - pixel, end - begin)};
}

template <class T>
void PointwiseCorrelation<T>::pack(const T* input, std::int64_t panel, Range channels, T* packed) const {
  const std::int64_t first = panel * panel_.width, end = panel_end(panel);
  const std::int64_t depth = channels.end - channels.begin;
  for (std::int64_t q = first; q < end;) {
    const Piece piece = this->piece(q, end);
    const T* from = input + piece.image * sizes_.input.image_stride() + channels.begin * plane_ + piece.pixel;
    kernels<T>().flat_convolution.copy_lines(
        {1, depth, piece.count, from, 0, plane_, packed + (q - first), 0, panel_.width});
    q += piece.count;
  }
  if (const std::int64_t count = end - first; count < panel_.width)
    for (std::int64_t k = 0; k < depth; ++k) std::fill_n(packed + k * panel_.width + count, panel_.width - count, T(0));
}

template <class T>
MemoryRuns PointwiseCorrelation<T>::next_source(const T* input, Ahead& ahead) const {
  if (ahead.begin == ahead.end) return {};
  constexpr std::int64_t size = sizeof(T);
  const Piece piece = this->piece(ahead.begin, ahead.end);
  ahead.begin += piece.count;
  const T* from = input + piece.image * sizes_.input.image_stride() + ahead.channels.begin * plane_ + piece.pixel;
  return whole_lines(from, piece.count * size, plane_ * size, ahead.channels.end - ahead.channels.begin);
}

template <class T>
void PointwiseCorrelation<T>::multiply_panel(const T* packed, const T* const* columns, std::int64_t depth,
                                             std::int64_t panel, std::int64_t first_channel, std::int64_t rows,
                                             bool accumulate, T* tile, T* result, Prefetch& prefetch) const {
  const std::int64_t width = panel_.width, first = panel * width, end = panel_end(panel);
  const auto place = [&](const Piece& piece) {
    return result + piece.image * sizes_.result.image_stride() + first_channel * plane_ + piece.pixel;
  };
  if (const Piece whole = piece(first, end); whole.count == width) {
    constexpr std::int64_t size = sizeof(T);
    prefetch.first = whole_lines(place(whole), width * size, plane_ * size, rows);
    panel_.multiply_and_fetch(depth, packed, steps_.data(), columns, rows, place(whole), plane_, accumulate, prefetch);
    return;
  }
  panel_.multiply_and_fetch(depth, packed, steps_.data(), columns, rows, tile, width, false, prefetch);
  for (std::int64_t q = first; q < end;) {
    const Piece piece = this->piece(q, end);
    const T* from = tile + (q - first);
    if (accumulate)
      for (std::int64_t r = 0; r < rows; ++r) kernels_.add(from + r * width, piece.count, place(piece) + r * plane_);
    else
      kernels<T>().flat_convolution.copy_lines({1, rows, piece.count, from, 0, width, place(piece), 0, plane_});
    q += piece.count;
  }
}

template <class T>
void PointwiseCorrelation<T>::multiply(const Invocation& invocation, const T* input, const T* weights, T* result,
                                       std::int64_t chunk, Range panels, Range rows) const {
  T* packed = per_thread(invocation, chunk, packed_slot_);
  T* tile = per_thread(invocation, chunk, tile_slot_);
  const T** columns = per_thread(invocation, chunk, column_slot_);
  const std::int64_t row_stride = weights_in_order_ ? sizes_.weights.row : sizes_.channels;
  const std::int64_t group_stride = weights_in_order_ ? sizes_.weights.group : sizes_.rows * sizes_.channels;
  const std::int64_t per_group = this->panels();
  // Blocks end with their group.
  const auto last_of = [&](std::int64_t first) {
    return std::min({first + panels_at_once_, panels.end, (first / per_group + 1) * per_group});
  };
  for (std::int64_t first = panels.begin; first < panels.end; first = last_of(first)) {
    const std::int64_t last = last_of(first), group = first / per_group;
    const T* source = input + group * sizes_.channels * plane_;
    for (std::int64_t part = 0; part < parts_; ++part) {
      const Range k = this->part(part);
      const std::int64_t depth = k.end - k.begin;
      for (std::int64_t panel = first; panel < last; ++panel)
        pack(source, panel % per_group, k, packed + (panel - first) * depth * panel_.width);
      Ahead ahead;
      const T* next = source;
      if (part + 1 < parts_) {
        ahead = {first % per_group * panel_.width, panel_end((last - 1) % per_group), this->part(part + 1)};
      } else if (last < panels.end) {
        next = input + last / per_group * sizes_.channels * plane_;
        ahead = {last % per_group * panel_.width, panel_end((last_of(last) - 1) % per_group), this->part(0)};
      }
      Prefetch prefetch;
      for (std::int64_t row = rows.begin; row < rows.end; row += rows_at_once_) {
        const std::int64_t count = std::min(rows_at_once_, rows.end - row);
        for (std::int64_t i = 0; i < count; ++i)
          columns[i] = weights + group * group_stride + (row + i) * row_stride + k.begin;
        for (std::int64_t panel = first; panel < last; ++panel) {
          if (!prefetch.second.count) prefetch.second = next_source(next, ahead);
          multiply_panel(packed + (panel - first) * depth * panel_.width, columns, depth, panel % per_group,
                         group * sizes_.rows + row, count, part > 0, tile, result, prefetch);
        }
      }
    }
  }
}

template <class T>
const T* PointwiseCorrelation<T>::ordered_weights(const Invocation& invocation, const T* weights, int threads) const {
  if (weights_in_order_) return weights;
  T* ordered = shared(invocation, weights_slot_);
  const std::int64_t rows_of_item = kernels_.panel_width;
  const std::int64_t items_of_group = ceil_divide(sizes_.rows, rows_of_item);
  const std::int64_t items = sizes_.groups * items_of_group;
  const std::int64_t chunks = std::min<std::int64_t>(threads, items);
  parallel_for(chunks, [&](std::int64_t chunk) {
    const Range range = split_range(items, chunk, chunks);
    for (std::int64_t item = range.begin; item < range.end; ++item) {
      const std::int64_t group = item / items_of_group, row = item % items_of_group * rows_of_item;
      kernels_.transpose(weights + group * sizes_.weights.group + row, sizes_.weights.channel, sizes_.channels,
                         std::min(rows_of_item, sizes_.rows - row),
                         ordered + (group * sizes_.rows + row) * sizes_.channels, sizes_.channels);
    }
  });
  return ordered;
}

template <class T>
void PointwiseCorrelation<T>::run(const Invocation& invocation, const T* input, const T* weights, T* result,
                                  int threads) const {
  weights = ordered_weights(invocation, weights, threads);
  // Splitting the panels shares the packing; the other direction serves when there are few panels.
  const std::int64_t all_panels = sizes_.groups * panels();
  const std::int64_t panel_parts = std::min<std::int64_t>(threads, all_panels);
  const std::int64_t row_parts = std::min(threads / panel_parts, ceil_divide(sizes_.rows, kernels_.tile_columns));
  parallel_for(panel_parts * row_parts, [&](std::int64_t chunk) {
    multiply(invocation, input, weights, result, chunk, split_range(all_panels, chunk / row_parts, panel_parts),
             split_range(sizes_.rows, chunk % row_parts, row_parts));
  });
}

template class PointwiseCorrelation<float>;
template class PointwiseCorrelation<double>;

}  // namespace mpsgraph_native::cpu
