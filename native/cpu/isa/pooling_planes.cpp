#include "cpu/isa/fetch_ahead.hpp"
#include "cpu/isa/pooling.hpp"
#include "cpu/isa/pooling_maximum.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

/// The maximum of each lane's window of `rows` rows: of each row, then of those, which is the first one as well.
/// `tap_codes` are those of a row, and of its outside lanes that of the first tap inside.
template <template <class> class Best, bool WithIndices, bool Inside, class T, int Taps>
MPSGRAPH_INLINE Best<T> maximum_of_block(const TapBlock<T, Taps, 2>& block, const T* from, std::int64_t source_step,
                                         std::int64_t rows, const IndexVec<T> (&tap_codes)[Taps],
                                         IndexVec<T> row_code) {
  const auto of_row = [&](const T* row) __attribute__((always_inline)) {
    Vec<T> taps[Taps];
    block.template load<Inside>(row, broadcast(-infinity<T>), taps);
    Best<T> best(taps[0], tap_codes[0]);
#pragma GCC unroll 3
    for (int t = 1; t < Taps; ++t) best.template take<WithIndices>(taps[t], tap_codes[t]);
    return best;
  };
  Best<T> best = of_row(from);
  IndexVec<T> code = row_code;
  for (std::int64_t i = 1; i < rows; ++i, code += row_code) {
    from += source_step;
    best.template take<WithIndices>(of_row(from), code);
  }
  return best;
}

template <class T, int Taps, bool WithIndices>
void maximum_rows(const PoolingPlane& plane, const T* source, const PoolingPlane::Row* rows, std::int64_t count,
                  std::int64_t index, T* values, std::int32_t* indices) {
  constexpr std::int64_t L = lanes<T>;
  using Block = TapBlock<T, Taps, 2>;
  const TapBlocks<T, Taps, 2> blocks(plane.columns, -plane.padding, plane.outputs);
  const IndexVec<T> lane_index = lane_numbers<T>() * broadcast_index<T>(plane.index_step);
  const IndexVec<T> row_code = broadcast_index<T>(plane.row_code);
  // Until a tap exceeds -inf the maximum is the first one inside: not tap 0 in the padding, which is less than a
  // window.
  const IndexVec<T> outside = broadcast_index<T>(plane.padding) - lane_numbers<T>() * 2;
  const IndexVec<T> first_codes = (outside > 0 ? outside : IndexVec<T>{}) * broadcast_index<T>(plane.tap_code);
  for (std::int64_t r = 0; r < count; ++r, values += plane.outputs) {
    const PoolingPlane::Row row = rows[r];
    const T* top = source + row.source;
    FetchAhead<true> ahead(top, values), indices_ahead(nullptr, indices);
    blocks.for_each(
        [&]<bool Inside>(const Block& of_block, std::int64_t begin, std::int64_t end) __attribute__((always_inline)) {
          const Block block = of_block;  // what is stored could change it otherwise
          IndexVec<T> tap_codes[Taps];
#pragma GCC unroll 3
          for (int t = 0; t < Taps; ++t) tap_codes[t] = broadcast_index<T>(t * plane.tap_code);
          for (std::int64_t output = begin; output < end; output += L) {
            const std::int64_t left = plane.outputs - output, position = 2 * output - plane.padding;
            const auto put = [&](Vec<T> value, IndexVec<T> code) __attribute__((always_inline)) {
              store_lanes(values + output, left, value);
              if constexpr (WithIndices)
                store_indices<T>(indices + output, left,
                                 code + lane_index + broadcast_index<T>(index + row.index + output * plane.index_step));
            };
            bool found = false;
            if constexpr (!Inside) tap_codes[0] = output == 0 ? first_codes : IndexVec<T>{};
            if constexpr (expects_ordered) {
              const auto best = maximum_of_block<OrderedMaximum, WithIndices, Inside>(
                  block, top + position, plane.source_step, row.rows, tap_codes, row_code);
              found = best.all_ordered();
              if (found) put(best.value, best.code);
            }
            if (!found) {
              const auto best = maximum_of_block<Maximum, WithIndices, Inside>(block, top + position, plane.source_step,
                                                                               row.rows, tap_codes, row_code);
              put(best.value, best.code);
            }
            // Two rows of the source for one of the outputs.
            ahead.step<4, 1>();
            if constexpr (WithIndices) indices_ahead.step<0, 1>();
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

using Distances = Vec<std::uint32_t>;

/// An index lies in a row of its window when it lies less than the row's taps behind the first one inside.
template <int Taps>
bool indices_in_windows_of(const PoolingPlaneWindows& windows, const std::int32_t* indices, std::int64_t base) {
  constexpr std::int64_t L = lanes<float>;
  const std::int64_t columns = windows.columns, outputs = windows.output_columns;
  const IndexVec<float> row_step = broadcast_index<float>(columns), all_taps = broadcast_index<float>(Taps);
  IndexVec<float> all = ~IndexVec<float>{};
  FetchAhead<false> ahead(indices, nullptr);
  for (std::int64_t row = 0; row < windows.output_rows; ++row, indices += outputs) {
    const std::int64_t top = 2 * row - windows.row_padding;
    const std::int64_t first = top < 0 ? 0 : top;
    const std::int64_t last = top + windows.row_taps < windows.rows ? top + windows.row_taps : windows.rows;
    for (std::int64_t output = 0; output < outputs; output += L) {
      const std::int64_t position = 2 * output - windows.column_padding;
      const IndexVec<float> column = lane_numbers<float>() * 2 + broadcast_index<float>(position);
      IndexVec<float> found{}, begin = column, taps = all_taps, given;
      if (output + L <= outputs && position >= 0 && position + 2 * (L - 1) + Taps <= columns) {
        given = load_indices(indices + output);
      } else {
        given = load_indices(indices + output, LaneRange<float>(output, outputs));
        found = lane_numbers<float>() >= broadcast_index<float>(outputs - output);
        const IndexVec<float> end = column + Taps;
        begin = column < 0 ? IndexVec<float>{} : column;
        taps = (end < row_step ? end : row_step) - begin;
      }
      // An index may be any number: one before the first is far behind it.
      Distances behind = reinterpret_cast<Distances>(given) -
                         reinterpret_cast<Distances>(begin + broadcast_index<float>(base + first * columns));
      for (std::int64_t y = first; y < last; ++y, behind -= reinterpret_cast<Distances>(row_step))
        found |= behind < reinterpret_cast<Distances>(taps);
      all &= found;
      ahead.step<1, 0>();
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

/// sum + value in the lanes where the index is the target. A sum that begins with +0 is the same where 0 is added
/// elsewhere.
MPSGRAPH_INLINE void add_where_equal(IndexVec<float> index, IndexVec<float> target, Vec<float> value, Vec<float>& sum) {
#if defined(__AVX512F__)
  const __m512 to = reinterpret_cast<__m512>(sum);
  const __mmask16 equal = _mm512_cmpeq_epi32_mask(reinterpret_cast<__m512i>(index), reinterpret_cast<__m512i>(target));
  sum = reinterpret_cast<Vec<float>>(_mm512_mask_add_ps(to, equal, to, reinterpret_cast<__m512>(value)));
#else
  sum += select<float>(index == target, value, Vec<float>{});
#endif
}

/// Positions of a row in pairs: lane i of `even` is the position of tap 0 of output `output + i`, that of `odd` of tap
/// 1, and tap 2 is the even position of the next output.
struct Pairs {
  IndexVec<float> target;  ///< the even positions
  Vec<float> even{}, odd{};

  template <int Shift>
  MPSGRAPH_INLINE void take(IndexVec<float> given, Vec<float> values) {
    add_where_equal(given, target, values, even);
    if constexpr (Shift == 0) add_where_equal(given, target + 1, values, odd);
  }
};

/// The lanes of a block of pairs that count: of the outputs before it by one, of its own, and of the positions.
struct PairLanes {
  LaneRange<float> outputs[2], low, high;

  PairLanes() = default;
  MPSGRAPH_INLINE PairLanes(const PoolingPlaneWindows& windows, std::int64_t output)
      : outputs{{output, windows.output_columns}, {output - 1, windows.output_columns}},
        low(2 * output - windows.column_padding, windows.columns),
        high(2 * output - windows.column_padding + lanes<float>, windows.columns) {}
};

/// Gathers from one row of windows what goes to the positions of the upper row, and of the lower one below it. Indices
/// and gradient are those of lane 0.
template <int Taps, bool Inside, bool Lower>
MPSGRAPH_INLINE void gather_window_row(const std::int32_t* indices, const float* gradient, const PairLanes& used,
                                       Pairs& upper, Pairs& lower) {
  const auto take = [&]<int Shift>() __attribute__((always_inline)) {
    IndexVec<float> given;
    Vec<float> values;
    if constexpr (Inside) {
      given = load_indices(indices - Shift);
      values = load(gradient - Shift);
    } else {
      given = load_indices(indices - Shift, used.outputs[Shift]);
      values = load_range<float>(gradient - Shift, used.outputs[Shift], Vec<float>{});
    }
    given = in_register(given);
    values = in_register(values);
    upper.template take<Shift>(given, values);
    if constexpr (Lower) lower.template take<Shift>(given, values);
  };
  if constexpr (Taps == 3) take.template operator()<1>();
  take.template operator()<0>();
}

template <bool Inside>
MPSGRAPH_INLINE void store_pairs(float* p, const Pairs& pairs, const PairLanes& used) {
  const Vec<float> low = interleave_low<float>(pairs.even, pairs.odd);
  const Vec<float> high = interleave_high<float>(pairs.even, pairs.odd);
  if constexpr (Inside) {
    store(p, low);
    store(p + lanes<float>, high);
  } else {
    store_range<float>(p, used.low, low);
    store_range<float>(p + lanes<float>, used.high, high);
  }
}

/// Two rows of positions at a time: tap 0 of a row of windows, with tap 2 of the one before, and tap 1.
template <int Taps>
void gather_gradient_of(const PoolingPlaneWindows& windows, const std::int32_t* indices, std::int64_t base,
                        const float* gradient, float* result) {
  constexpr std::int64_t L = lanes<float>;
  const PoolingPlaneWindows w = windows;
  const std::int64_t last = (w.columns + w.column_padding - 1) / 2 / L * L;
  const PairLanes first_lanes(w, 0), last_lanes(w, last);
  FetchAhead<true> ahead(gradient, result);
  FetchAhead<false> indices_ahead(indices, nullptr);
  for (std::int64_t row = 0; 2 * row - w.row_padding < w.rows; ++row) {
    const std::int64_t upper_row = 2 * row - w.row_padding;
    const bool has_upper = upper_row >= 0, has_lower = upper_row >= -1 && upper_row + 1 < w.rows;
    const bool has_row = row < w.output_rows, has_before = w.row_taps == 3 && row > 0 && row <= w.output_rows;
    for (std::int64_t output = 0; output <= last; output += L) {
      const std::int64_t position = 2 * output - w.column_padding, from = row * w.output_columns + output;
      const auto gather = [&]<bool Inside>(const PairLanes& used) __attribute__((always_inline)) {
        const IndexVec<float> target =
            lane_numbers<float>() * 2 + broadcast_index<float>(base + upper_row * w.columns + position);
        Pairs upper{target}, lower{target + broadcast_index<float>(w.columns)};
        if (has_before)
          gather_window_row<Taps, Inside, false>(indices + from - w.output_columns, gradient + from - w.output_columns,
                                                 used, upper, lower);
        if (has_row) gather_window_row<Taps, Inside, true>(indices + from, gradient + from, used, upper, lower);
        float* to = result + upper_row * w.columns + position;
        if (has_upper) store_pairs<Inside>(to, upper, used);
        if (has_lower) store_pairs<Inside>(to + w.columns, lower, used);
      };
      if (output >= Taps - 2 && output + L <= w.output_columns && position >= 0 && position + 2 * L <= w.columns)
        gather.template operator()<true>(first_lanes);
      else if (output == 0)
        gather.template operator()<false>(first_lanes);
      else if (output == last)
        gather.template operator()<false>(last_lanes);
      else
        gather.template operator()<false>(PairLanes(w, output));
      ahead.step<1, 4>();
      indices_ahead.step<1, 0>();
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
