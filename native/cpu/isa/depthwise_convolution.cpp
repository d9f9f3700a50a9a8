#include "cpu/isa/families.hpp"
#include "cpu/isa/row_window.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

// Output rows computed together: they share each weight, and give the multiply-adds independent chains.
constexpr int row_group = 4;

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
        rows[i] = row >= 0 && row < p.source_rows && q + i < y.outputs ? source + row * p.source_columns : p.zeros;
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

template <class T>
void correlate_plane(const PlaneCorrelation<T>& p) {
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
      const T* source = row >= 0 && row < p.source_rows ? p.source + row * p.source_columns : p.zeros;
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
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j) {
      T* accumulator = p.accumulators + ((ky + i) * p.x.taps + kx + j) * L;
      store(accumulator, load(accumulator) + sums[i][j]);
    }
}

// What fits into the registers beside the gradient, the source and a mask.
constexpr int register_accumulators = panel_vectors == 4 ? 28 : 12;

/// Takes kernel rows in groups of `Rows`, then of `Rest`, then one by one.
template <int Columns, int Rows, int Rest, int Stride, class T>
void weights_gradient_strip(const PlaneWeightsGradient<T>& p, std::int64_t kx) {
  constexpr int fitting = register_accumulators / Columns;
  std::int64_t ky = 0;
  if constexpr (Rows <= fitting)
    for (; ky + Rows <= p.y.taps; ky += Rows) weights_gradient_taps<Rows, Columns, Stride>(p, ky, kx);
  if constexpr (Rest <= fitting)
    for (; ky + Rest <= p.y.taps; ky += Rest) weights_gradient_taps<Rest, Columns, Stride>(p, ky, kx);
  for (; ky < p.y.taps; ++ky) weights_gradient_taps<1, Columns, Stride>(p, ky, kx);
}

template <int Stride, class T>
void weights_gradient_strips(const PlaneWeightsGradient<T>& p) {
  std::int64_t kx = 0;
  for (; kx + 7 <= p.x.taps; kx += 7) weights_gradient_strip<7, 4, 3, Stride>(p, kx);
  for (; kx + 5 <= p.x.taps; kx += 5) weights_gradient_strip<5, 5, 2, Stride>(p, kx);
  for (; kx + 3 <= p.x.taps; kx += 3) weights_gradient_strip<3, 3, 2, Stride>(p, kx);
  for (; kx < p.x.taps; ++kx) weights_gradient_strip<1, 4, 2, Stride>(p, kx);
}

template <class T>
void weights_gradient_plane(const PlaneWeightsGradient<T>& p) {
  switch (p.x.source_step) {
    case 1: weights_gradient_strips<1>(p); break;
    case 2: weights_gradient_strips<2>(p); break;
    default:
      for (std::int64_t kx = 0; kx < p.x.taps; ++kx) weights_gradient_strip<1, 4, 2, 0>(p, kx);
  }
}

template <class T>
void sum_accumulators(const T* accumulators, std::int64_t count, T* destination) {
  for (std::int64_t i = 0; i < count; ++i) destination[i] = horizontal_sum<T>(load(accumulators + i * lanes<T>));
}

template <int Pixels, class T>
MPSGRAPH_INLINE void correlate_pixel_group(const PixelTaps<T>& taps, const T* source, const T* weights, T* output,
                                           std::int64_t output_step, std::int64_t channels) {
  Vec<T> sum[Pixels] = {};
  if (channels >= lanes<T>) {
    for (std::int64_t t = 0; t < taps.taps; ++t) {
      const Vec<T> w = load(weights + taps.weights_offsets[t]);
      const T* from = source + taps.source_offsets[t];
#pragma GCC unroll 8
      for (int i = 0; i < Pixels; ++i) sum[i] = multiply_add(load(from + i * taps.source_step), w, sum[i]);
    }
  } else {
    const int count = static_cast<int>(channels);
    for (std::int64_t t = 0; t < taps.taps; ++t) {
      const Vec<T> w = load_partial(weights + taps.weights_offsets[t], count);
      const T* from = source + taps.source_offsets[t];
#pragma GCC unroll 8
      for (int i = 0; i < Pixels; ++i)
        sum[i] = multiply_add(load_partial(from + i * taps.source_step, count), w, sum[i]);
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < Pixels; ++i) store_lanes(output + i * output_step, channels, sum[i]);
}

template <class T>
void correlate_pixels(const PixelTaps<T>& taps, const T* weights, T* output, std::int64_t output_step) {
  constexpr int group = 6;
  for (std::int64_t c = 0; c < taps.channels; c += lanes<T>) {
    const std::int64_t left = taps.channels - c;
    std::int64_t pixel = 0;
    for (; pixel + group <= taps.pixels; pixel += group)
      correlate_pixel_group<group>(taps, taps.source + pixel * taps.source_step + c, weights + c,
                                   output + pixel * output_step + c, output_step, left);
    for (; pixel < taps.pixels; ++pixel)
      correlate_pixel_group<1>(taps, taps.source + pixel * taps.source_step + c, weights + c,
                               output + pixel * output_step + c, output_step, left);
  }
}

template <int Taps, class T>
void weights_gradient_tap_group(const PixelTaps<T>& taps, std::int64_t first, std::int64_t c, const T* gradient,
                                std::int64_t gradient_step, T* accumulators) {
  const std::int64_t left = taps.channels - c;
  const T* from[Taps];
  Vec<T> sum[Taps];
#pragma GCC unroll 16
  for (int t = 0; t < Taps; ++t) {
    from[t] = taps.source + taps.source_offsets[first + t] + c;
    sum[t] = Vec<T>{};
  }
  if (left >= lanes<T>) {
    for (std::int64_t pixel = 0; pixel < taps.pixels; ++pixel) {
      const Vec<T> g = load(gradient + pixel * gradient_step + c);
#pragma GCC unroll 16
      for (int t = 0; t < Taps; ++t) sum[t] = multiply_add(load(from[t] + pixel * taps.source_step), g, sum[t]);
    }
  } else {
    const int count = static_cast<int>(left);
    for (std::int64_t pixel = 0; pixel < taps.pixels; ++pixel) {
      const Vec<T> g = load_partial(gradient + pixel * gradient_step + c, count);
#pragma GCC unroll 16
      for (int t = 0; t < Taps; ++t)
        sum[t] = multiply_add(load_partial(from[t] + pixel * taps.source_step, count), g, sum[t]);
    }
  }
#pragma GCC unroll 16
  for (int t = 0; t < Taps; ++t) {
    T* accumulator = accumulators + taps.weights_offsets[first + t] + c;
    store_lanes(accumulator, left, load_lanes(accumulator, left) + sum[t]);
  }
}

template <class T>
void weights_gradient_pixels(const PixelTaps<T>& taps, const T* gradient, std::int64_t gradient_step, T* accumulators) {
  for (std::int64_t c = 0; c < taps.channels; c += lanes<T>) {
    std::int64_t t = 0;
    for (; t + 9 <= taps.taps; t += 9) weights_gradient_tap_group<9>(taps, t, c, gradient, gradient_step, accumulators);
    for (; t + 3 <= taps.taps; t += 3) weights_gradient_tap_group<3>(taps, t, c, gradient, gradient_step, accumulators);
    for (; t < taps.taps; ++t) weights_gradient_tap_group<1>(taps, t, c, gradient, gradient_step, accumulators);
  }
}

}  // namespace

template <class T>
DepthwiseConvolutionKernels<T> depthwise_convolution_kernels() {
  return {lanes<T>,
          correlate_plane<T>,
          weights_gradient_plane<T>,
          sum_accumulators<T>,
          correlate_pixels<T>,
          weights_gradient_pixels<T>};
}
template DepthwiseConvolutionKernels<float> depthwise_convolution_kernels<float>();
template DepthwiseConvolutionKernels<double> depthwise_convolution_kernels<double>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
