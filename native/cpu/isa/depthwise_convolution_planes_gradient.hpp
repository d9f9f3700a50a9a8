#pragma once

#include "cpu/isa/depthwise_convolution_planes.hpp"
#include "cpu/isa/row_window.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

/// Kernel rows [ky, ky + Rows) by kernel columns [kx, kx + Columns): their accumulators stay in registers.
template <bool Inside, int Rows, int Columns, class T, int Stride>
MPSGRAPH_INLINE void weights_gradient_block(const PlaneWeightsGradient<T>& p, std::int64_t ky, std::int64_t column,
                                            const RowBlock<T, Stride>& block, Vec<T> (&sums)[Rows][Columns]) {
  const std::int64_t count = p.x.outputs - column;
  const IndexVec<T> used = lane_numbers<T>() < static_cast<Index<T>>(count < lanes<T> ? count : lanes<T>);
  Vec<T> sum[Rows][Columns];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j) sum[i][j] = sums[i][j];
  for (std::int64_t output = 0; output < p.y.outputs; ++output) {
    const Vec<T> gradient = load_lanes(p.gradient + output * p.x.outputs + column, Inside ? lanes<T> : count);
    const std::int64_t first = p.y.first_source + output * p.y.source_step + ky * p.y.tap_step;
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const std::int64_t row = first + i * p.y.tap_step;
      const T* source = row_or_zeros(p, p.source, row);
      // A lane beyond the outputs has gradient 0, which would make a NaN of an infinite source.
      const auto add = [&](int j, Vec<T> value) __attribute__((always_inline)) {
        sum[i][j] = multiply_add(gradient, Inside ? value : select<T>(used, value, Vec<T>{}), sum[i][j]);
      };
      int j = 0;
      if constexpr (Stride == 2) {
        if (p.x.tap_step == 1) {
#pragma GCC unroll 8
          for (; j + 1 < Columns; j += 2) {
            Vec<T> a, b;
            block.template load_tap_pair<Inside>(source, j, Vec<T>{}, a, b);
            add(j, a);
            add(j + 1, b);
          }
          if constexpr (Columns % 2 == 1)
            add(Columns - 1, block.template load_tap<Inside>(source, Columns - 1, Vec<T>{}));
          continue;
        }
      }
#pragma GCC unroll 8
      for (j = 0; j < Columns; ++j) add(j, block.template load_tap<Inside>(source, j, Vec<T>{}));
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j) sums[i][j] = sum[i][j];
}

/// Adds the sums of the kernel rows from ky and the kernel columns from kx on.
template <int Rows, int Columns, class T>
MPSGRAPH_INLINE void add_to_accumulators(const PlaneWeightsGradient<T>& p, std::int64_t ky, std::int64_t kx,
                                         const Vec<T> (&sums)[Rows][Columns]) {
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < Columns; ++j) {
      T* accumulator = p.accumulators + ((ky + i) * p.x.taps + kx + j) * lanes<T>;
      store(accumulator, load(accumulator) + sums[i][j]);
    }
}

template <int Rows, int Columns, int Stride, class T>
void weights_gradient_taps(const PlaneWeightsGradient<T>& p, std::int64_t ky, std::int64_t kx) {
  constexpr std::int64_t L = lanes<T>;
  Vec<T> sums[Rows][Columns] = {};
  for (std::int64_t column = 0; column < p.x.outputs; column += L) {
    const RowBlock<T, Stride> block(p.source_columns, p.x.first_source + column * p.x.source_step + kx * p.x.tap_step,
                                    Columns, p.x.tap_step, p.x.source_step, column + L <= p.x.outputs);
    if (block.inside())
      weights_gradient_block<true, Rows, Columns>(p, ky, column, block, sums);
    else
      weights_gradient_block<false, Rows, Columns>(p, ky, column, block, sums);
  }
  add_to_accumulators(p, ky, kx, sums);
}

/// Takes kernel rows in groups of three, which fit into the registers beside what they are made of, then one by one.
template <int Columns, int Stride, class T>
void weights_gradient_strip(const PlaneWeightsGradient<T>& p, std::int64_t kx) {
  std::int64_t ky = 0;
  for (; ky + 3 <= p.y.taps; ky += 3) weights_gradient_taps<3, Columns, Stride>(p, ky, kx);
  for (; ky < p.y.taps; ++ky) weights_gradient_taps<1, Columns, Stride>(p, ky, kx);
}

template <int Stride, class T>
void weights_gradient_strips(const PlaneWeightsGradient<T>& p) {
  std::int64_t kx = 0;
  for (; kx + 4 <= p.x.taps; kx += 4) weights_gradient_strip<4, Stride>(p, kx);
  for (; kx < p.x.taps; ++kx) weights_gradient_strip<1, Stride>(p, kx);
}

/// Any taps and strides.
template <class T>
void weights_gradient_any_plane(const PlaneWeightsGradient<T>& p) {
  switch (p.x.source_step) {
    case 1: weights_gradient_strips<1>(p); break;
    case 2: weights_gradient_strips<2>(p); break;
    default:
      for (std::int64_t kx = 0; kx < p.x.taps; ++kx) weights_gradient_strip<1, 0>(p, kx);
  }
}

/// Kernel rows [ky, ky + Rows) of a window K wide with stride 1. One source row meets the gradient rows that reach it:
/// its taps are loaded once for all of them, and the sums stay in registers over the whole plane.
template <int Rows, int K, class T>
void weights_gradient_rows(const PlaneWeightsGradient<T>& p, std::int64_t ky) {
  const TapBlocks<T, K, 1> blocks(p.source_columns, p.x.first_source, p.x.outputs);
  const std::int64_t first = p.y.first_source + ky;  // the source row of gradient row 0 under kernel row ky
  const std::int64_t begin_row = first < 0 ? 0 : first, behind = first + p.y.outputs + Rows - 1;
  const std::int64_t end_row = behind < p.source_rows ? behind : p.source_rows;
  Vec<T> sum[Rows][K] = {};
  for (std::int64_t row = begin_row; row < end_row; ++row) {
    const T* source = p.source + row * p.source_columns + p.x.first_source;
    const std::int64_t newest = row - first;  // the gradient row of kernel row ky; ky + i has the i-th before
    const T* gradient = p.gradient + newest * p.x.outputs;
    fetch_for_reading(source, p.source_columns);
    fetch_for_reading(gradient, p.x.outputs);
    const bool all = newest >= Rows - 1 && newest < p.y.outputs;
    blocks.for_each([&]<bool Inside>(const TapBlock<T, K, 1>& block, std::int64_t begin, std::int64_t end)
                        __attribute__((always_inline)) {
                          for (std::int64_t column = begin; column < end; column += lanes<T>) {
                            Vec<T> taps[K];
                            block.template load<Inside>(source + column, Vec<T>{}, taps);
#pragma GCC unroll 8
                            for (int i = 0; i < Rows; ++i) {
                              if (!all && (newest < i || newest - i >= p.y.outputs)) continue;
                              const Vec<T> g = block.template load_outputs<Inside>(gradient - i * p.x.outputs + column);
#pragma GCC unroll 8
                              for (int k = 0; k < K; ++k) sum[i][k] = multiply_add(g, taps[k], sum[i][k]);
                            }
                          }
                        });
  }
  add_to_accumulators(p, ky, 0, sum);
}

/// The same for a stride of 2 along the row, any along the columns: one gradient row meets the source rows that it
/// comes from.
template <int Rows, int K, class T>
void weights_gradient_strided_rows(const PlaneWeightsGradient<T>& p, std::int64_t ky) {
  const TapBlocks<T, K, 2> blocks(p.source_columns, p.x.first_source, p.x.outputs);
  Vec<T> sum[Rows][K] = {};
  for (std::int64_t output = 0; output < p.y.outputs; ++output) {
    const T* gradient = p.gradient + output * p.x.outputs;
    const std::int64_t first = p.y.first_source + output * p.y.source_step + ky * p.y.tap_step;
    const T* rows[Rows];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) rows[i] = row_or_zeros(p, p.source, first + i * p.y.tap_step) + p.x.first_source;
    fetch_for_reading(p.source + first * p.source_columns, p.y.source_step * p.source_columns);
    fetch_for_reading(gradient, p.x.outputs);
    blocks.for_each([&]<bool Inside>(const TapBlock<T, K, 2>& block, std::int64_t begin, std::int64_t end)
                        __attribute__((always_inline)) {
                          for (std::int64_t column = begin; column < end; column += lanes<T>) {
                            const Vec<T> g = block.template load_outputs<Inside>(gradient + column);
#pragma GCC unroll 8
                            for (int i = 0; i < Rows; ++i) {
                              Vec<T> taps[K];
                              block.template load<Inside>(rows[i] + 2 * column, Vec<T>{}, taps);
#pragma GCC unroll 8
                              for (int k = 0; k < K; ++k) sum[i][k] = multiply_add(g, taps[k], sum[i][k]);
                            }
                          }
                        });
  }
  add_to_accumulators(p, ky, 0, sum);
}

template <int Rows, int K, int Stride, class T>
void weights_gradient_window(const PlaneWeightsGradient<T>& p, std::int64_t ky) {
  if constexpr (Stride == 1)
    weights_gradient_rows<Rows, K>(p, ky);
  else
    weights_gradient_strided_rows<Rows, K>(p, ky);
}

template <int K, int Stride, class T>
void weights_gradient_windows(const PlaneWeightsGradient<T>& p) {
  // Sums, gradients and one tap fit into the registers.
  constexpr int registers = panel_vectors == 4 ? 32 : 16;
  constexpr int fitting = (registers - 2) / (K + 1), rows = fitting < 3 ? fitting : 3;
  std::int64_t ky = 0;
  for (; ky + rows <= p.y.taps; ky += rows) weights_gradient_window<rows, K, Stride>(p, ky);
  for (; ky < p.y.taps; ++ky) weights_gradient_window<1, K, Stride>(p, ky);
}

/// A window of the usual width with its taps in registers; every other one with loads for each tap.
template <class T>
void weights_gradient_plane(const PlaneWeightsGradient<T>& p) {
  if (p.x.tap_step == 1 && p.x.source_step == 1 && p.y.source_step == 1 && p.y.tap_step == 1) {
    if (p.x.taps == 3) return weights_gradient_windows<3, 1>(p);
    if constexpr (unrolls_wide_windows<T>) {
      switch (p.x.taps) {
        case 5: return weights_gradient_windows<5, 1>(p);
        case 7: return weights_gradient_windows<7, 1>(p);
      }
    }
  }
  if (p.x.tap_step == 1 && p.x.source_step == 2) {
    if (p.x.taps == 3) return weights_gradient_windows<3, 2>(p);
    if constexpr (unrolls_wide_windows<T>) {
      switch (p.x.taps) {
        case 5: return weights_gradient_windows<5, 2>(p);
        case 7: return weights_gradient_windows<7, 2>(p);
      }
    }
  }
  weights_gradient_any_plane(p);
}

template <class T>
void sum_accumulators(const T* accumulators, std::int64_t count, T* destination) {
  for (std::int64_t i = 0; i < count; ++i) destination[i] = horizontal_sum<T>(load(accumulators + i * lanes<T>));
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
