#pragma once

#include "cpu/isa/depthwise_convolution.hpp"
#include "cpu/isa/row_window.hpp"

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

/// The weight of the t-th tap of a phase, along each axis.
template <class T>
MPSGRAPH_INLINE T weight_at(const PlaneCorrelation<T>& p, const T* weights, const TapPhase& y, std::int64_t ty,
                            const TapPhase& x, std::int64_t tx) {
  return weights[(y.first_weight + ty * y.weight_step) * p.weights_row_stride +
                 (x.first_weight + tx * x.weight_step) * p.weights_column_stride];
}

/// Fetches the cache lines of `count` elements that are read a little later: planes lie one behind the other.
template <class T>
MPSGRAPH_INLINE void fetch_for_reading(const T* p, std::int64_t count) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T)), ahead = 64 * line;
  for (std::int64_t i = ahead; i < ahead + count; i += line) __builtin_prefetch(p + i, 0, 3);
}

/// The processor does not foresee where the next rows of outputs are written.
template <class T>
MPSGRAPH_INLINE void fetch_for_writing(T* p) {
  __builtin_prefetch(p, 1, 2);
}

/// `Rows` output rows from row q on, of a K by K window with stride 1. They share the loads of each source row.
template <int Rows, int K, class T>
MPSGRAPH_INLINE void correlate_square_rows(const PlaneCorrelation<T>& p, const T* source, const T (&weights)[K][K],
                                           std::int64_t q, const TapBlocks<T, K, 1>& blocks, bool accumulate) {
  constexpr int source_rows = Rows + K - 1;
  const T* rows[source_rows];
#pragma GCC unroll 16
  for (int r = 0; r < source_rows; ++r)
    rows[r] = row_or_zeros(p, source, p.y->first_source + q + r) + p.x->first_source;
  T* output = p.output + q * p.output_columns;
  fetch_for_reading(source + (p.y->first_source + q + K - 1) * p.source_columns, Rows * p.source_columns);
  blocks.for_each([&]<bool Inside>(const TapBlock<T, K, 1>& block, std::int64_t begin,
                                   std::int64_t end) __attribute__((always_inline)) {
    for (std::int64_t column = begin; column < end; column += lanes<T>) {
      Vec<T> sum[Rows];
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i)
        sum[i] = accumulate ? block.template load_outputs<Inside>(output + i * p.output_columns + column) : Vec<T>{};
#pragma GCC unroll 16
      for (int r = 0; r < source_rows; ++r) {
        Vec<T> taps[K];
        block.template load<Inside>(rows[r] + column, Vec<T>{}, taps);
#pragma GCC unroll 8
        for (int i = 0; i < Rows; ++i)
          if (r >= i && r - i < K)
#pragma GCC unroll 8
            for (int k = 0; k < K; ++k) sum[i] = multiply_add(taps[k], broadcast(weights[r - i][k]), sum[i]);
      }
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i) {
        T* to = output + i * p.output_columns + column;
        block.template store_outputs<Inside>(to, sum[i]);
        fetch_for_writing(to + Rows * p.output_columns);
      }
    }
  });
}

template <int K, class T>
void correlate_square(const PlaneCorrelation<T>& p) {
  const TapBlocks<T, K, 1> blocks(p.source_columns, p.x->first_source, p.x->outputs);
  for (std::int64_t plane = 0; plane < p.planes; ++plane) {
    const T* source = p.source + plane * p.source_plane_stride;
    T weights[K][K];
    for (int i = 0; i < K; ++i)
      for (int j = 0; j < K; ++j)
        weights[i][j] = weight_at(p, p.weights + plane * p.weights_plane_stride, *p.y, i, *p.x, j);
    const std::int64_t rows = p.y->outputs;
    std::int64_t q = 0;
    for (; q + row_group <= rows; q += row_group)
      correlate_square_rows<row_group, K>(p, source, weights, q, blocks, plane > 0);
    for (; q < rows; ++q) correlate_square_rows<1, K>(p, source, weights, q, blocks, plane > 0);
  }
}

/// Most kernel rows that a strip takes.
constexpr int strip_rows = 8;

/// The window of one x phase, or of the two phases of a data gradient with stride 2, whose outputs alternate. The
/// phases share the loads of the `Taps` neighbouring source positions that one of them reads at least.
template <int Taps, int Stride, int Phases, class T>
class Strip {
 public:
  explicit Strip(const PlaneCorrelation<T>& p) : p_(p), first_source_(p.x[0].first_source) {
    if (Phases == 2 && p.x[1].first_source < first_source_) first_source_ = p.x[1].first_source;
    for (int phase = 0; phase < Phases; ++phase) {
      first_[phase] = p.x[phase].first_source - first_source_;
      last_[phase] = first_[phase] + p.x[phase].taps;
    }
  }

  void correlate(const TapPhase& y, std::int64_t plane) const {
    const T* plane_weights = p_.weights + plane * p_.weights_plane_stride;
    const T* source = p_.source + plane * p_.source_plane_stride;
    T weights[strip_rows][Taps][Phases] = {};
    for (std::int64_t ty = 0; ty < y.taps; ++ty)
      for (int phase = 0; phase < Phases; ++phase)
        for (std::int64_t tx = 0; tx < p_.x[phase].taps; ++tx)
          weights[ty][first_[phase] + tx][phase] = weight_at(p_, plane_weights, y, ty, p_.x[phase], tx);
    const Blocks blocks(p_.source_columns, first_source_, p_.x[0].outputs);
    for (std::int64_t q = 0; q < y.outputs; q += row_group) rows(y, source, weights, q, blocks, plane > 0);
  }

 private:
  using Blocks = TapBlocks<T, Taps, Stride>;

  MPSGRAPH_INLINE void rows(const TapPhase& y, const T* source, const T (&weights)[strip_rows][Taps][Phases],
                            std::int64_t q, const Blocks& blocks, bool accumulate) const {
    const T* rows[strip_rows][row_group];
    for (std::int64_t ty = 0; ty < y.taps; ++ty)
      for (int i = 0; i < row_group; ++i)
        rows[ty][i] =
            row_or_zeros(p_, source, y.first_source + (q + i) * y.source_step + ty * y.tap_step) + first_source_;
    const std::int64_t count = y.outputs - q < row_group ? y.outputs - q : row_group;
    const std::int64_t row_step = y.output_step * p_.output_columns;
    T* output = p_.output + (y.first_output + q * y.output_step) * p_.output_columns;
    const std::int64_t last_row = y.first_source + q * y.source_step + (y.taps - 1) * y.tap_step;
    fetch_for_reading(source + last_row * p_.source_columns, row_group * y.source_step * p_.source_columns);
    blocks.for_each([&]<bool Inside>(const TapBlock<T, Taps, Stride>& block, std::int64_t begin,
                                     std::int64_t end) __attribute__((always_inline)) {
      for (std::int64_t column = begin; column < end; column += lanes<T>) {
        Vec<T> sum[Phases][row_group] = {};
        for (std::int64_t ty = 0; ty < y.taps; ++ty) {
          Vec<T> taps[row_group][Taps];
#pragma GCC unroll 4
          for (int i = 0; i < row_group; ++i)
            block.template load<Inside>(rows[ty][i] + column * Stride, Vec<T>{}, taps[i]);
#pragma GCC unroll 8
          for (int k = 0; k < Taps; ++k)
#pragma GCC unroll 2
            for (int phase = 0; phase < Phases; ++phase) {
              // A weight of zero instead would make a NaN of an infinite source.
              if (Phases == 2 && (k < first_[phase] || k >= last_[phase])) continue;
              const Vec<T> w = broadcast(weights[ty][k][phase]);
#pragma GCC unroll 4
              for (int i = 0; i < row_group; ++i) sum[phase][i] = multiply_add(taps[i][k], w, sum[phase][i]);
            }
        }
#pragma GCC unroll 4
        for (int i = 0; i < row_group; ++i)
          if (i < count) {
            T* to = output + i * row_step + Phases * column;
            if constexpr (Phases == 1)
              store_row<Inside>(to, block, sum[0][i], accumulate);
            else
              store_alternating(to, p_.output_columns - 2 * column, sum[0][i], sum[1][i], accumulate);
            for (int part = 0; part < Phases; ++part) fetch_for_writing(to + row_group * row_step + part * lanes<T>);
          }
      }
    });
  }

  template <bool Inside>
  MPSGRAPH_INLINE void store_row(T* to, const TapBlock<T, Taps, Stride>& block, Vec<T> sum, bool accumulate) const {
    if (accumulate) sum += block.template load_outputs<Inside>(to);
    block.template store_outputs<Inside>(to, sum);
  }
  /// The first phase has at least as many outputs as the second; a lane beyond the second's end is not stored.
  MPSGRAPH_INLINE void store_alternating(T* to, std::int64_t left, Vec<T> even, Vec<T> odd, bool accumulate) const {
    const Vec<T> parts[2] = {interleave_low<T>(even, odd), interleave_high<T>(even, odd)};
#pragma GCC unroll 2
    for (int part = 0; part < 2; ++part) {
      const LaneRange<T> used(0, left - part * lanes<T>);
      Vec<T> sum = parts[part];
      if (accumulate) sum += load_range<T>(to + part * lanes<T>, used, Vec<T>{});
      store_range<T>(to + part * lanes<T>, used, sum);
    }
  }

  const PlaneCorrelation<T>& p_;
  std::int64_t first_source_, first_[Phases], last_[Phases];
};

template <int Taps, int Stride, int Phases, class T>
void correlate_strips(const PlaneCorrelation<T>& p) {
  const Strip<Taps, Stride, Phases, T> strip(p);
  for (std::int64_t plane = 0; plane < p.planes; ++plane)
    for (std::int64_t phase = 0; phase < p.y_phases; ++phase) strip.correlate(p.y[phase], plane);
}

/// The neighbouring source positions that a row of windows reads, if strips can take them; else 0.
template <class T>
std::int64_t strip_taps(const PlaneCorrelation<T>& p) {
  for (std::int64_t phase = 0; phase < p.y_phases; ++phase)
    if (p.y[phase].taps > strip_rows) return 0;
  std::int64_t first = p.x[0].first_source, last = first;
  for (std::int64_t phase = 0; phase < p.x_phases; ++phase) {
    const TapPhase& x = p.x[phase];
    if (x.taps == 0 || (x.taps > 1 && x.tap_step != 1)) return 0;
    if (x.first_source < first) first = x.first_source;
    if (x.first_source + x.taps > last) last = x.first_source + x.taps;
  }
  return last - first;
}

/// Windows of 5 and 7 taps are unrolled where they are worth the compiler's time: in float32, with registers enough.
template <class T>
constexpr bool unrolls_wide_windows = sizeof(T) == 4 && (panel_vectors == 4 || lanes<T> >= 8);

/// A window of the usual size with its taps in registers; every other one with loads for each tap.
template <class T>
void correlate_plane(const PlaneCorrelation<T>& p) {
  const std::int64_t taps = strip_taps(p), step = p.x[0].source_step;
  if (p.x_phases == 1 && step == 1 && p.x->output_step == 1) {
    const TapPhase& y = *p.y;
    const bool square = p.y_phases == 1 && y.taps == taps && y.tap_step == 1 && y.source_step == 1;
    if (square && taps == 3) return correlate_square<3>(p);
    if constexpr (unrolls_wide_windows<T>) {
      switch (square ? taps : 0) {
        case 5: return correlate_square<5>(p);
        case 7: return correlate_square<7>(p);
      }
    }
  }
  if (p.x_phases == 1 && step == 2) {
    if (taps == 3) return correlate_strips<3, 2, 1>(p);
    if constexpr (unrolls_wide_windows<T>) {
      switch (taps) {
        case 5: return correlate_strips<5, 2, 1>(p);
        case 7: return correlate_strips<7, 2, 1>(p);
      }
    }
  }
  if (p.x_phases == 2 && step == 1) {
    if (taps == 2) return correlate_strips<2, 1, 2>(p);
    if constexpr (unrolls_wide_windows<T>) {
      switch (taps) {
        case 3: return correlate_strips<3, 1, 2>(p);
        case 4: return correlate_strips<4, 1, 2>(p);
      }
    }
  }
  correlate_any_plane(p);
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
