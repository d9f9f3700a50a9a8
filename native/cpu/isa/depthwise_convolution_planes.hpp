#pragma once

#include "cpu/isa/depthwise_convolution_rows.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

// Output rows computed together: they share each weight, and give the multiply-adds independent chains.
constexpr int row_group = 4;

/// A source row, or zeros outside of the plane, of a correlation or a weights gradient.
template <class Plane, class T>
MPSGRAPH_INLINE const T* row_or_zeros(const Plane& p, const T* source, std::int64_t row) {
  return row >= 0 && row < p.source_rows ? source + row * p.source_columns : p.zeros;
}

/// `row_group` output rows, from row q of the phase on, by one vector of columns.
template <bool Inside, class T, int Stride>
MPSGRAPH_INLINE void correlate_block(const PlaneCorrelation<T>& p, const TapPhase& y, std::int64_t q, const TapPhase& x,
                                     const RowBlock<T, Stride>& block, Vec<T>* sums) {
  Vec<T> sum[row_group] = {};
  for (std::int64_t plane = 0; plane < p.planes; ++plane) {
    const T* source = p.source + plane * p.source_plane_stride;
    const T* weights = p.weights + plane * p.weights_plane_stride + x.first_weight * p.weights_column_stride;
    const std::int64_t weight_step = x.weight_step * p.weights_column_stride;
    for (std::int64_t ty = 0; ty < y.taps; ++ty) {
      const T* rows[row_group];
#pragma GCC unroll 4
      for (int i = 0; i < row_group; ++i) {
        const std::int64_t row = y.first_source + (q + i) * y.source_step + ty * y.tap_step;
        rows[i] = q + i < y.outputs ? row_or_zeros(p, source, row) : p.zeros;
      }
      const T* weight = weights + (y.first_weight + ty * y.weight_step) * p.weights_row_stride;
      std::int64_t tx = 0;
      if constexpr (Stride == 2) {
        if (x.tap_step == 1) {
          for (; tx + 1 < x.taps; tx += 2, weight += 2 * weight_step) {
            const Vec<T> first = broadcast(weight[0]), second = broadcast(weight[weight_step]);
#pragma GCC unroll 4
            for (int i = 0; i < row_group; ++i) {
              Vec<T> a, b;
              block.template load_tap_pair<Inside>(rows[i], tx, Vec<T>{}, a, b);
              sum[i] = multiply_add(b, second, multiply_add(a, first, sum[i]));
            }
          }
        }
      }
      for (; tx < x.taps; ++tx, weight += weight_step) {
        const Vec<T> w = broadcast(*weight);
#pragma GCC unroll 4
        for (int i = 0; i < row_group; ++i)
          sum[i] = multiply_add(block.template load_tap<Inside>(rows[i], tx, Vec<T>{}), w, sum[i]);
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < row_group; ++i) sums[i] = sum[i];
}

template <class T, int Stride>
MPSGRAPH_INLINE void correlate_columns(const PlaneCorrelation<T>& p, const TapPhase& y, std::int64_t q,
                                       const TapPhase& x, std::int64_t column, Vec<T>* sums) {
  const RowBlock<T, Stride> block(p.source_columns, x.first_source + column * x.source_step, x.taps, x.tap_step,
                                  x.source_step);
  if (block.inside())
    correlate_block<true>(p, y, q, x, block, sums);
  else
    correlate_block<false>(p, y, q, x, block, sums);
}

template <class T, int Stride>
void correlate_row_group(const PlaneCorrelation<T>& p, const TapPhase& y, std::int64_t q) {
  constexpr std::int64_t L = lanes<T>;
  const std::int64_t rows = y.outputs - q < row_group ? y.outputs - q : row_group;
  T* output = p.output + (y.first_output + q * y.output_step) * p.output_columns;
  const std::int64_t row_step = y.output_step * p.output_columns;
  if (p.x_phases == 2) {
    // The first phase has at least as many outputs as the second; a lane beyond the second's end is not stored.
    for (std::int64_t column = 0; column < p.x[0].outputs; column += L) {
      Vec<T> even[row_group], odd[row_group];
      correlate_columns<T, Stride>(p, y, q, p.x[0], column, even);
      correlate_columns<T, Stride>(p, y, q, p.x[1], column, odd);
      const std::int64_t left = p.output_columns - 2 * column;
      for (std::int64_t i = 0; i < rows; ++i) {
        T* to = output + i * row_step + 2 * column;
        store_lanes(to, left, interleave_low<T>(even[i], odd[i]));
        if (left > L) store_lanes(to + L, left - L, interleave_high<T>(even[i], odd[i]));
      }
    }
    return;
  }
  for (std::int64_t phase = 0; phase < p.x_phases; ++phase) {
    const TapPhase& x = p.x[phase];
    for (std::int64_t column = 0; column < x.outputs; column += L) {
      Vec<T> sums[row_group];
      correlate_columns<T, Stride>(p, y, q, x, column, sums);
      const std::int64_t left = x.outputs - column;
      for (std::int64_t i = 0; i < rows; ++i) {
        T* to = output + i * row_step + x.first_output + column * x.output_step;
        if (x.output_step == 1)
          store_lanes(to, left, sums[i]);
        else
          for (int lane = 0; lane < L && lane < left; ++lane) to[lane * x.output_step] = sums[i][lane];
      }
    }
  }
}

/// Any taps, strides and number of phases.
template <class T>
void correlate_any_plane(const PlaneCorrelation<T>& p) {
  for (std::int64_t phase = 0; phase < p.y_phases; ++phase) {
    const TapPhase& y = p.y[phase];
    for (std::int64_t q = 0; q < y.outputs; q += row_group) {
      switch (p.x[0].source_step) {
        case 1: correlate_row_group<T, 1>(p, y, q); break;
        case 2: correlate_row_group<T, 2>(p, y, q); break;
        default: correlate_row_group<T, 0>(p, y, q); break;
      }
    }
  }
}

/// Rows that a strip takes at once: 4 took up to 1.3 times as long, even where 16 registers do not hold all sums,
/// weights and values of wide windows.
template <int Step, int Phases>
constexpr int strip_rows = 8 / Step / Phases;

template <int Taps, int Step, int Stride, class T>
void correlate_rows(const PlaneCorrelation<T>& p) {
  constexpr int rows = strip_rows<Step, 1>;
  for (std::int64_t plane = 0; plane < p.planes; ++plane) {
    const Strip<rows, Taps, Step, Stride, 1, T> strip(p, *p.y, plane);
    for (std::int64_t q = 0; q < p.y->outputs; q += rows) strip.rows(q);
  }
}

/// Both phases of a data gradient with stride 2, whose rows alternate, of `Even` and `Odd` kernel rows.
template <int Even, int Odd, class T>
void correlate_phases(const PlaneCorrelation<T>& p) {
  constexpr int rows = strip_rows<1, 2>;
  for (std::int64_t plane = 0; plane < p.planes; ++plane) {
    const Strip<rows, Even, 1, 1, 2, T> even(p, p.y[0], plane);
    const Strip<rows, Odd, 1, 1, 2, T> odd(p, p.y[1], plane);
    for (std::int64_t q = 0; q < p.y[0].outputs; q += rows) {
      even.rows(q);
      if (q < p.y[1].outputs) odd.rows(q);
    }
  }
}

/// Windows of 5 and 7 taps are unrolled where they are worth the compiler's time: in float32, with registers enough.
template <class T>
constexpr bool unrolls_wide_windows = sizeof(T) == 4 && (panel_vectors == 4 || lanes<T> >= 8);

/// body.template operator()<Taps>() for a number of kernel rows that strips take; else false.
template <class T, class Body>
bool with_kernel_rows(std::int64_t taps, Body&& body) {
  switch (taps) {
    case 3: body.template operator()<3>(); return true;
    case 5:
      if constexpr (unrolls_wide_windows<T>) body.template operator()<5>();
      return unrolls_wide_windows<T>;
    case 7:
      if constexpr (unrolls_wide_windows<T>) body.template operator()<7>();
      return unrolls_wide_windows<T>;
    default: return false;
  }
}

template <class T>
bool correlate_single_phase(const PlaneCorrelation<T>& p) {
  const TapPhase &y = *p.y, &x = *p.x;
  if (y.tap_step != 1 || y.source_step > 2 || x.output_step != 1 || x.taps > strip_taps) return false;
  if (x.source_step == 1)
    return with_kernel_rows<T>(y.taps, [&]<int Taps>() {
      y.source_step == 1 ? correlate_rows<Taps, 1, 1>(p) : correlate_rows<Taps, 2, 1>(p);
    });
  if (x.source_step != 2 || x.tap_step != 1) return false;
  return with_kernel_rows<T>(
      y.taps, [&]<int Taps>() { y.source_step == 1 ? correlate_rows<Taps, 1, 2>(p) : correlate_rows<Taps, 2, 2>(p); });
}

template <class T>
bool correlate_alternating_phases(const PlaneCorrelation<T>& p) {
  for (int phase = 0; phase < 2; ++phase) {
    const TapPhase &x = p.x[phase], &y = p.y[phase];
    if (x.source_step != 1 || x.taps == 0 || x.taps > strip_taps / 2 || (x.taps > 1 && x.tap_step != 1)) return false;
    if (y.source_step != 1 || (y.taps > 1 && y.tap_step != 1)) return false;
  }
  if (p.x[0].first_source - p.x[1].first_source > 1 || p.x[1].first_source - p.x[0].first_source > 1) return false;
  const std::int64_t even = p.y[0].taps, odd = p.y[1].taps;
  if (even == 1 && odd == 1) return correlate_phases<1, 1>(p), true;
  if (even == 1 && odd == 2) return correlate_phases<1, 2>(p), true;
  if (even == 2 && odd == 1) return correlate_phases<2, 1>(p), true;
  if constexpr (unrolls_wide_windows<T>) {
    if (even == 2 && odd == 2) return correlate_phases<2, 2>(p), true;
    if (even == 2 && odd == 3) return correlate_phases<2, 3>(p), true;
    if (even == 3 && odd == 2) return correlate_phases<3, 2>(p), true;
    if (even == 3 && odd == 4) return correlate_phases<3, 4>(p), true;
    if (even == 4 && odd == 3) return correlate_phases<4, 3>(p), true;
  }
  return false;
}

/// Windows of the usual sizes as strips; every other one with loads for each tap.
template <class T>
void correlate_plane(const PlaneCorrelation<T>& p) {
  if (p.x_phases == 1 && p.y_phases == 1 && correlate_single_phase(p)) return;
  if (p.x_phases == 2 && p.y_phases == 2 && correlate_alternating_phases(p)) return;
  correlate_any_plane(p);
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
