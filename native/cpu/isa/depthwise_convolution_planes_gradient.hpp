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

/// `Rows` gradient rows, `Step` source rows apart, of a window of `Taps` neighbouring kernel rows, by a vector of
/// columns: each source vector is loaded once for all gradients that it meets, which stay in registers for all taps
/// along the row.
template <int Rows, int Taps, int Step, int Stride, class T>
class WeightsGradientRows {
 public:
  static MPSGRAPH_INLINE void add(const PlaneWeightsGradient<T>& p, std::int64_t row) {
    const std::int64_t first = p.y.first_source + row * Step;
    const T* source = p.source + first * p.source_columns;
    Block block{source + p.x.first_source,
                p.source_columns,
                -first,
                p.source_rows - first,
                p.x.first_source,
                p.x.tap_step,
                p.x.taps,
                p.gradient + row * p.x.outputs,
                p.x.outputs,
                p.x.outputs,
                p.accumulators};
    const bool rows_inside = first >= 0 && first + source_rows <= p.source_rows;
    const std::int64_t last = (block.taps - 1) * block.tap_step + Stride * lanes<T>;
    FetchAhead<false> ahead(source, block.gradient);
    for (; block.left > 0; block.left -= lanes<T>) {
      if (rows_inside && block.position >= 0 && block.position + last <= block.source_columns && block.left >= lanes<T>)
        add_block<true>(block);
      else
        add_block<false>(block);
      if (p.fetch_ahead) ahead.step<Rows * Step * Stride, Rows>();
      block.source += Stride * lanes<T>;
      block.position += Stride * lanes<T>;
      block.gradient += lanes<T>;
    }
  }

 private:
  static constexpr int source_rows = (Rows - 1) * Step + Taps;

  /// Passed by value: what is stored could change it otherwise.
  struct Block {
    const T* source;  ///< where row 0, lane 0 reads tap 0
    std::int64_t source_columns;
    std::int64_t begin, end;  ///< of the source rows inside the plane, counted from row 0
    std::int64_t position, tap_step, taps;
    const T* gradient;
    std::int64_t gradient_columns, left;
    T* accumulators;
  };

  template <bool Inside>
  static MPSGRAPH_INLINE void add_block(const Block block) {
    Vec<T> gradients[Rows];
    const LaneRange<T> used(0, block.left);
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const T* from = block.gradient + i * block.gradient_columns;
      gradients[i] = in_register(Inside ? load(from) : load_range<T>(from, used, Vec<T>{}));
    }
    std::int64_t tap = 0;
    if constexpr (Stride == 2)
      for (; tap + 1 < block.taps; tap += 2) add_tap<Inside, true>(block, tap, gradients);
    for (; tap < block.taps; ++tap) add_tap<Inside, false>(block, tap, gradients);
  }

  /// One tap, or with a stride of 2 it and the next.
  template <bool Inside, bool Both>
  static MPSGRAPH_INLINE void add_tap(const Block& block, std::int64_t tap, const Vec<T> (&gradients)[Rows]) {
    Vec<T> sum[Taps] = {}, next[Taps] = {};
    const std::int64_t position = block.position + tap * block.tap_step;
    // A lane beyond the outputs reads nothing: an infinite source would make a NaN of its gradient of zero.
    const std::int64_t end = position + Stride * block.left;
    const TapLoads<Inside, Stride, T> loads(position, end < block.source_columns ? end : block.source_columns);
    const T* source = block.source + tap * block.tap_step;
#pragma GCC unroll 16
    for (int r = 0; r < source_rows; ++r, source += block.source_columns) {
      if (!Inside && (r < block.begin || r >= block.end)) continue;
      Vec<T> values[Stride];
      loads.load(source, values);
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        const int t = r - i * Step;
        if (t < 0 || t >= Taps) continue;
        sum[t] = multiply_add(gradients[i], values[0], sum[t]);
        if (Both) next[t] = multiply_add(gradients[i], values[Stride - 1], next[t]);
      }
    }
#pragma GCC unroll 8
    for (int t = 0; t < Taps; ++t) {
      T* to = block.accumulators + (t * block.taps + tap) * lanes<T>;
      store(to, load(to) + sum[t]);
      if (Both) store(to + lanes<T>, load(to + lanes<T>) + next[t]);
    }
  }
};

/// Takes groups of `Rows` rows while there are enough, then of half as many.
template <int Rows, int Taps, int Step, int Stride, class T>
MPSGRAPH_INLINE void weights_gradient_rows(const PlaneWeightsGradient<T>& p, std::int64_t row) {
  for (; row + Rows <= p.y.outputs; row += Rows) WeightsGradientRows<Rows, Taps, Step, Stride, T>::add(p, row);
  if constexpr (Rows > 1) weights_gradient_rows<Rows / 2, Taps, Step, Stride>(p, row);
}

/// Kernel rows [ky, ky + Rows) of a window K wide with stride 1. One source row meets the gradient rows that reach it:
/// its taps are loaded once for all of them, and the sums stay in registers over the whole plane.
template <int Rows, int K, class T>
void weights_gradient_window_rows(const PlaneWeightsGradient<T>& p, std::int64_t ky) {
  const TapBlocks<T, K, 1> blocks(p.source_columns, p.x.first_source, p.x.outputs);
  const std::int64_t first = p.y.first_source + ky;  // the source row of gradient row 0 under kernel row ky
  const std::int64_t begin_row = first < 0 ? 0 : first, behind = first + p.y.outputs + Rows - 1;
  const std::int64_t end_row = behind < p.source_rows ? behind : p.source_rows;
  Vec<T> sum[Rows][K] = {};
  for (std::int64_t row = begin_row; row < end_row; ++row) {
    const T* source = p.source + row * p.source_columns + p.x.first_source;
    const std::int64_t newest = row - first;  // the gradient row of kernel row ky; ky + i has the i-th before
    const T* gradient = p.gradient + newest * p.x.outputs;
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
void weights_gradient_strided_window_rows(const PlaneWeightsGradient<T>& p, std::int64_t ky) {
  const TapBlocks<T, K, 2> blocks(p.source_columns, p.x.first_source, p.x.outputs);
  Vec<T> sum[Rows][K] = {};
  for (std::int64_t output = 0; output < p.y.outputs; ++output) {
    const T* gradient = p.gradient + output * p.x.outputs;
    const std::int64_t first = p.y.first_source + output * p.y.source_step + ky * p.y.tap_step;
    const T* rows[Rows];
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) rows[i] = row_or_zeros(p, p.source, first + i * p.y.tap_step) + p.x.first_source;
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
    weights_gradient_window_rows<Rows, K>(p, ky);
  else
    weights_gradient_strided_window_rows<Rows, K>(p, ky);
}

template <int K, int Stride, class T>
void weights_gradient_windows(const PlaneWeightsGradient<T>& p) {
  // Sums, gradients and one tap fit into the registers.
  constexpr int rows = 3;
  std::int64_t ky = 0;
  for (; ky + rows <= p.y.taps; ky += rows) weights_gradient_window<rows, K, Stride>(p, ky);
  for (; ky < p.y.taps; ++ky) weights_gradient_window<1, K, Stride>(p, ky);
}

/// Windows of the usual sizes by rows, whose sums begin anew for each vector of columns; every other one with loads for
/// each tap.
template <class T>
void weights_gradient_plane(const PlaneWeightsGradient<T>& p) {
  // With 4 lanes and 16 registers, adding to the accumulators for each vector took 1.4 times as long.
  if constexpr (vector_bytes == 16 && panel_vectors == 2) {
    if (p.x.taps == 3 && p.x.tap_step == 1 && p.y.tap_step == 1) {
      if (p.x.source_step == 1 && p.y.source_step == 1) return weights_gradient_windows<3, 1>(p);
      if (p.x.source_step == 2) return weights_gradient_windows<3, 2>(p);
    }
  }
  constexpr int rows = 8;
  const auto by_rows = [&]<int Taps>() {
    if (p.x.source_step == 1)
      weights_gradient_rows<rows, Taps, 1, 1>(p, 0);
    else if (p.y.source_step == 1)
      weights_gradient_rows<rows, Taps, 1, 2>(p, 0);
    else
      weights_gradient_rows<rows / 2, Taps, 2, 2>(p, 0);
  };
  const bool suits =
      p.y.tap_step == 1 &&
      (p.x.source_step == 1 ? p.y.source_step == 1 : p.x.source_step == 2 && p.x.tap_step == 1 && p.y.source_step <= 2);
  if (suits && with_kernel_rows<T>(p.y.taps, by_rows)) return;
  weights_gradient_any_plane(p);
}

template <class T>
void sum_accumulators(const T* accumulators, std::int64_t count, T* destination) {
  for (std::int64_t i = 0; i < count; ++i) destination[i] = horizontal_sum<T>(load(accumulators + i * lanes<T>));
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
