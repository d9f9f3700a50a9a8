#pragma once

#include "cpu/isa/depthwise_convolution.hpp"
#include "cpu/isa/row_window.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

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
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
