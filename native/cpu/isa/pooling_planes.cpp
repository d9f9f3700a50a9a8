#include "cpu/isa/pooling.hpp"
#include "cpu/isa/pooling_maximum.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <class T, int Taps, bool WithIndices>
void maximum_rows(const PoolingPlane& plane, const T* source, const PoolingPlane::Row* rows, std::int64_t count,
                  std::int64_t index, T* values, std::int32_t* indices) {
  constexpr std::int64_t L = lanes<T>;
  using Block = TapBlock<T, Taps, 2>;
  const TapBlocks<T, Taps, 2> blocks(plane.columns, -plane.padding, plane.outputs);
  const IndexVec<T> lane_index = lane_numbers<T>() * broadcast_index<T>(plane.index_step);
  for (std::int64_t r = 0; r < count; ++r, values += plane.outputs) {
    const PoolingPlane::Row row = rows[r];
    const T* top = source + row.source;
    blocks.for_each([&]<bool Inside>(const Block& block, std::int64_t begin,
                                     std::int64_t end) __attribute__((always_inline)) {
      for (std::int64_t output = begin; output < end; output += L) {
        const std::int64_t left = plane.outputs - output, position = 2 * output - plane.padding;
        const T* from = top + position;
        Maximum<T> best{};
        // Until a tap exceeds -inf the maximum is the first one inside.
        if constexpr (WithIndices && !Inside) {
          const IndexVec<T> outside = -(lane_numbers<T>() * 2 + broadcast_index<T>(position));
          best.code = (outside > 0 ? outside : IndexVec<T>{}) * broadcast_index<T>(plane.tap_code);
        }
        Vec<T> taps[Taps];
        block.template load<Inside>(from, broadcast(-infinity<T>), taps);
        best.value = taps[0];
#pragma GCC unroll 3
        for (int t = 1; t < Taps; ++t) best.template take<WithIndices>(taps[t], broadcast_index<T>(t * plane.tap_code));
        fetch_for_reading(from);
        fetch_for_reading(from + L);
        for (std::int64_t i = 1; i < row.rows; ++i) {
          from += plane.source_step;
          block.template load<Inside>(from, broadcast(-infinity<T>), taps);
#pragma GCC unroll 3
          for (int t = 0; t < Taps; ++t)
            best.template take<WithIndices>(taps[t], broadcast_index<T>(i * plane.row_code + t * plane.tap_code));
          fetch_for_reading(from);
          fetch_for_reading(from + L);
        }
        store_lanes(values + output, left, best.value);
        fetch_for_writing(values + output);
        if constexpr (WithIndices) {
          fetch_for_writing(indices + output);
          store_indices<T>(indices + output, left,
                           best.code + lane_index + broadcast_index<T>(index + row.index + output * plane.index_step));
        }
      }
    });
    if constexpr (WithIndices) indices += plane.outputs;
  }
}

template <class T>
void maximum(const PoolingPlane& plane, const T* source, const PoolingPlane::Row* rows, std::int64_t count,
             std::int64_t index, T* values, std::int32_t* indices) {
  if (plane.taps == 2) {
    if (indices) return maximum_rows<T, 2, true>(plane, source, rows, count, index, values, indices);
    return maximum_rows<T, 2, false>(plane, source, rows, count, index, values, nullptr);
  }
  if (indices) return maximum_rows<T, 3, true>(plane, source, rows, count, index, values, indices);
  maximum_rows<T, 3, false>(plane, source, rows, count, index, values, nullptr);
}

MPSGRAPH_INLINE IndexVec<float> load_indices(const std::int32_t* p) {
  return reinterpret_cast<IndexVec<float>>(load(reinterpret_cast<const float*>(p)));
}
/// Lanes outside the range come out as -1, which is no position.
MPSGRAPH_INLINE IndexVec<float> load_indices(const std::int32_t* p, const LaneRange<float>& range) {
  const Vec<float> outside = reinterpret_cast<Vec<float>>(~IndexVec<float>{});
  return reinterpret_cast<IndexVec<float>>(load_range<float>(reinterpret_cast<const float*>(p), range, outside));
}

template <int Taps>
bool indices_in_windows_of(const PoolingPlaneWindows& windows, const std::int32_t* indices, std::int64_t base) {
  constexpr std::int64_t L = lanes<float>;
  const std::int64_t columns = windows.columns;
  IndexVec<float> all = ~IndexVec<float>{};
  for (std::int64_t row = 0; row < windows.output_rows; ++row, indices += windows.output_columns) {
    const std::int64_t top = 2 * row - windows.row_padding;
    const std::int64_t first = top < 0 ? 0 : top;
    const std::int64_t last = top + windows.row_taps < windows.rows ? top + windows.row_taps : windows.rows;
    for (std::int64_t output = 0; output < windows.output_columns; output += L) {
      const std::int64_t position = 2 * output - windows.column_padding;
      const bool inside =
          output + L <= windows.output_columns && position >= 0 && position + 2 * (L - 1) + Taps <= columns;
      const IndexVec<float> column = lane_numbers<float>() * 2 + broadcast_index<float>(position);
      IndexVec<float> found{}, counts[Taps];
      IndexVec<float> given;
      if (inside) {
        given = load_indices(indices + output);
      } else {
        given = load_indices(indices + output, LaneRange<float>(output, windows.output_columns));
        found = lane_numbers<float>() >= broadcast_index<float>(windows.output_columns - output);
        for (int t = 0; t < Taps; ++t) counts[t] = (column + t >= 0) & (column + t < broadcast_index<float>(columns));
      }
      for (std::int64_t y = first; y < last; ++y) {
        const IndexVec<float> place = column + broadcast_index<float>(base + y * columns);
#pragma GCC unroll 3
        for (int t = 0; t < Taps; ++t) found |= inside ? given == place + t : (given == place + t) & counts[t];
      }
      all &= found;
    }
  }
  for (int i = 0; i < L; ++i)
    if (!all[i]) return false;
  return true;
}

bool indices_in_windows(const PoolingPlaneWindows& windows, const std::int32_t* indices, std::int64_t base) {
  return windows.column_taps == 2 ? indices_in_windows_of<2>(windows, indices, base)
                                  : indices_in_windows_of<3>(windows, indices, base);
}

/// Pairs of positions: lane i of `even` is the position of tap 0 of output `output + i`, that of `odd` of tap 1, and
/// tap 2 is the even position of the next output.
template <int Taps, bool Inside>
MPSGRAPH_INLINE void gather_pairs(const PoolingPlaneWindows& windows, const std::int32_t* indices, std::int64_t place,
                                  const float* gradient, std::int64_t output, Vec<float>& even, Vec<float>& odd) {
  const IndexVec<float> target = lane_numbers<float>() * 2 + broadcast_index<float>(place);
  const auto take = [&](std::int64_t first, IndexVec<float>& given, Vec<float>& values) __attribute__((always_inline)) {
    if constexpr (Inside) {
      given = load_indices(indices + first);
      values = load(gradient + first);
    } else {
      const LaneRange<float> range(first, windows.output_columns);
      given = load_indices(indices + first, range);
      values = load_range<float>(gradient + first, range, Vec<float>{});
    }
  };
  IndexVec<float> given;
  Vec<float> values;
  if constexpr (Taps == 3) {
    take(output - 1, given, values);
    even += select<float>(given == target, values, Vec<float>{});
  }
  take(output, given, values);
  even += select<float>(given == target, values, Vec<float>{});
  odd += select<float>(given == target + 1, values, Vec<float>{});
}

template <int Taps>
void gather_gradient_of(const PoolingPlaneWindows& windows, const std::int32_t* indices, std::int64_t base,
                        const float* gradient, float* result) {
  constexpr std::int64_t L = lanes<float>;
  const std::int64_t columns = windows.columns, outputs = windows.output_columns;
  for (std::int64_t y = 0; y < windows.rows; ++y, result += columns) {
    const std::int64_t at = y + windows.row_padding, lowest = at - windows.row_taps + 1;
    const std::int64_t first = lowest > 0 ? (lowest + 1) / 2 : 0;
    const std::int64_t last = at / 2 < windows.output_rows - 1 ? at / 2 : windows.output_rows - 1;
    for (std::int64_t output = 0; 2 * output - windows.column_padding < columns; output += L) {
      const std::int64_t position = 2 * output - windows.column_padding;
      const std::int64_t place = base + y * columns + position;
      const bool inside = output >= Taps - 2 && output + L <= outputs && position >= 0 && position + 2 * L <= columns;
      Vec<float> even{}, odd{};
      if (inside) {
        for (std::int64_t row = first; row <= last; ++row)
          gather_pairs<Taps, true>(windows, indices + row * outputs, place, gradient + row * outputs, output, even,
                                   odd);
        store(result + position, interleave_low<float>(even, odd));
        store(result + position + L, interleave_high<float>(even, odd));
        continue;
      }
      for (std::int64_t row = first; row <= last; ++row)
        gather_pairs<Taps, false>(windows, indices + row * outputs, place, gradient + row * outputs, output, even, odd);
      store_range<float>(result + position, LaneRange<float>(position, columns), interleave_low<float>(even, odd));
      store_range<float>(result + position + L, LaneRange<float>(position + L, columns),
                         interleave_high<float>(even, odd));
    }
  }
}

void gather_gradient(const PoolingPlaneWindows& windows, const std::int32_t* indices, std::int64_t base,
                     const float* gradient, float* result) {
  if (windows.column_taps == 2) return gather_gradient_of<2>(windows, indices, base, gradient, result);
  gather_gradient_of<3>(windows, indices, base, gradient, result);
}

}  // namespace

template <class T>
PoolingPlaneKernels<T> pooling_plane_kernels() {
  if constexpr (sizeof(T) == sizeof(std::int32_t))
    return {maximum<T>, indices_in_windows, gather_gradient};
  else
    return {maximum<T>, nullptr, nullptr};
}
template PoolingPlaneKernels<float> pooling_plane_kernels<float>();
template PoolingPlaneKernels<double> pooling_plane_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
