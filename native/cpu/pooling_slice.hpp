#pragma once

#include <cstring>

#include "cpu/dispatch.hpp"
#include "cpu/pooling_plan.hpp"

namespace mpsgraph_native::cpu {

enum class PoolingReduction { Maximum, Average, L2Norm };

/// Scratch for the taps of one thread's windows.
struct TapScratch {
  Slot<std::int64_t> offsets;
  Slot<std::int32_t> codes;

  static TapScratch reserve(ScratchLayout& layout, const PoolingPlan& plan) {
    const std::int64_t taps = plan.maximum_taps();
    const Slot<std::int64_t> offsets = layout.reserve<std::int64_t>(taps);
    return {offsets, layout.reserve<std::int32_t>(taps)};
  }
  WindowTaps taps(const PoolingPlan& plan, std::size_t axes, const Invocation& invocation, std::int64_t chunk) const {
    return WindowTaps(plan, axes, per_thread(invocation, chunk, offsets), per_thread(invocation, chunk, codes));
  }
};

/// Forward pooling of rows of one slice. Either destination may be null; both begin at the slice.
template <class T>
struct SlicePooling {
  const PoolingPlan& plan;
  PoolingReduction reduction;
  const T* source;
  T* values;
  std::int32_t* indices;
  std::int64_t index = 0;  ///< of the slice
  /// The part of the inner elements to pool, for vectors along them.
  std::int64_t inner_begin = 0, inner_count = 0;

  /// Vectors along the row.
  void row(std::int64_t row, WindowPosition& position, WindowTaps& taps, const T* divisors) const {
    const PoolingKernels<T>& isa = kernels<T>().pooling;
    const WindowAxis& last = plan.axes[3];
    position.set_row(row);
    taps.update(position);
    T* row_values = values ? values + row * last.output : nullptr;
    std::int32_t* row_indices = indices ? indices + row * last.output : nullptr;
    PoolingRow<T> window{};
    window.source = source;
    window.row_offsets = taps.offsets();
    window.row_codes = taps.codes();
    window.rows = taps.count();
    window.columns = last.input;
    window.outputs = last.output;
    window.taps = last.kernel;
    window.stride = last.stride;
    window.dilation = last.dilation;
    window.padding = last.padding_before;
    window.first_taps = plan.first_taps[3].data();
    window.tap_code = plan.index_tap_steps[3];
    window.index = index + position.index();
    window.index_step = plan.index_output_steps[3];
    switch (reduction) {
      case PoolingReduction::Maximum:
        if (window.rows > 0)
          isa.maximum_row(window, row_values, row_indices);
        else if (row_values)
          std::fill_n(row_values, last.output, -std::numeric_limits<T>::infinity());
        if (row_indices && plan.has_empty_windows)
          for (std::int64_t o = 0; o < last.output; ++o)
            if (window.rows == 0 || window.first_taps[o] < 0) row_indices[o] = -1;
        return;
      case PoolingReduction::Average:
        return isa.average_row(window, static_cast<T>(position.divisor(3)), divisors, row_values);
      case PoolingReduction::L2Norm: return isa.l2_norm_row(window, row_values);
    }
  }

  /// Vectors along the inner elements.
  void pixels(std::int64_t row, WindowPosition& position, WindowTaps& taps) const {
    const PoolingKernels<T>& isa = kernels<T>().pooling;
    position.set_row(row);
    std::int64_t positions = 1;
    for (std::int64_t column = 0; column < plan.outputs(3); column += positions) {
      position.set_column(column);
      taps.update(position);
      if (reduction == PoolingReduction::Maximum) positions = equal_windows(column);
      PoolingPixel<T> pixel{};
      pixel.source = source + inner_begin;
      pixel.offsets = taps.offsets();
      pixel.codes = taps.codes();
      pixel.taps = taps.count();
      pixel.inner = inner_count;
      pixel.index = index + position.index() + inner_begin * plan.index_inner_step;
      pixel.index_step = plan.index_inner_step;
      const std::int64_t to = (row * plan.outputs(3) + column) * plan.inner + inner_begin;
      switch (reduction) {
        case PoolingReduction::Maximum:
          pixel.positions = positions;
          pixel.source_position_step = plan.axes[3].stride * plan.source_steps[3];
          pixel.index_position_step = plan.index_output_steps[3];
          pixel.result_position_step = plan.inner;
          isa.maximum_pixel(pixel, values ? values + to : nullptr, indices ? indices + to : nullptr);
          break;
        case PoolingReduction::Average:
          isa.average_pixel(pixel, static_cast<T>(position.divisor(4)), values + to);
          break;
        case PoolingReduction::L2Norm: isa.l2_norm_pixel(pixel, values + to); break;
      }
    }
  }

 private:
  /// How many windows from a column on have the same taps inside.
  std::int64_t equal_windows(std::int64_t column) const {
    const std::vector<std::int32_t>&first = plan.first_taps[3], &count = plan.tap_counts[3];
    const std::size_t at = static_cast<std::size_t>(column);
    std::size_t end = at + 1;
    while (end < first.size() && first[end] == first[at] && count[end] == count[at]) ++end;
    return static_cast<std::int64_t>(end - at);
  }
};

/// Interleaves `count` slices of `size` elements, contiguous in memory, as [element][slice of `group`].
template <class T>
void interleave_slices(const T* slices, std::int64_t size, std::int64_t count, std::int64_t group, T* destination) {
  kernels<T>().matrix.transpose(slices, size, count, size, destination, group);
}
template <class T>
void separate_slices(const T* interleaved, std::int64_t size, std::int64_t count, std::int64_t group, T* slices) {
  kernels<T>().matrix.transpose(interleaved, group, size, count, slices, size);
}

/// Divisors of the average along the last axis alone, one per output.
template <class T>
std::vector<T> last_axis_divisors(const PoolingPlan& plan) {
  std::vector<T> divisors;
  for (const std::int32_t count : plan.tap_counts[3])
    divisors.push_back(plan.include_zero_pad_to_average ? static_cast<T>(plan.axes[3].kernel)
                                                        : static_cast<T>(std::max(count, 1)));
  return divisors;
}

}  // namespace mpsgraph_native::cpu
