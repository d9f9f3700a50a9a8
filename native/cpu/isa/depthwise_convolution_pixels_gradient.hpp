#pragma once

#include "cpu/isa/depthwise_convolution_pixels.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

template <int Rows, int Taps, int Step, class T>
void weights_gradient_pixel_taps(const PixelRows<T>& p, const T* gradient, T* accumulators) {
  constexpr int source_rows = (Rows - 1) * Step + Taps;
  const auto correlate = [&](const auto& block, std::int64_t c, std::int64_t x, const NewPixels<T>& fetched)
                             __attribute__((always_inline)) {
                               const PixelColumn& column = p.columns[x];
                               const T* source = p.source + column.source + c;
                               T* accumulator = accumulators + column.weights + c;
                               Vec<T> g[Rows];
#pragma GCC unroll 8
                               for (int i = 0; i < Rows; ++i) {
                                 const T* from = gradient + i * p.row_stride + x * p.channels + c;
                                 g[i] = block.load(from);
                                 __builtin_prefetch(from + p.channels, 0, 2);
                               }
                               for (std::int64_t tap = 0; tap < column.taps; ++tap) {
                                 Vec<T> sum[Taps] = {};
#pragma GCC unroll 16
                                 for (int r = 0; r < source_rows; ++r) {
                                   if (r < p.begin || r >= p.end) continue;
                                   const Vec<T> value = in_register(block.load(source + r * p.source_row_stride));
#pragma GCC unroll 8
                                   for (int i = 0; i < Rows; ++i)
                                     if (r >= i * Step && r - i * Step < Taps)
                                       sum[r - i * Step] = multiply_add(value, g[i], sum[r - i * Step]);
                                 }
#pragma GCC unroll 8
                                 for (int t = 0; t < Taps; ++t) {
                                   T* to = accumulator + t * p.weights_row_stride;
                                   store(to, load(to) + sum[t]);
                                 }
                                 source += p.tap_source_stride;
                                 accumulator += p.tap_weights_stride;
                               }
                               fetch_source_ahead<Taps, Step>(p, fetched, c, source_rows);
                             };
  for_each_pixel_block<Rows, Step>(p, correlate);
}

/// Takes groups of `Rows` rows while there are enough, then of half as many.
template <int Rows, int Taps, int Step, class T>
void weights_gradient_pixel_rows(PixelRows<T> p, const T* gradient, T* accumulators) {
  for (; p.rows >= Rows; p.rows -= Rows) {
    weights_gradient_pixel_taps<Rows, Taps, Rows == 1 ? 1 : Step>(p, gradient, accumulators);
    p.source += Rows * Step * p.source_row_stride;
    p.begin -= Rows * Step;
    p.end -= Rows * Step;
    gradient += Rows * p.row_stride;
  }
  if constexpr (Rows > 1)
    if (p.rows > 0) weights_gradient_pixel_rows<Rows / 2, Taps, Step>(p, gradient, accumulators);
}

template <class T>
void weights_gradient_pixels(const PixelRows<T>& rows, const T* gradient, T* accumulators) {
  for_each_tap_group(rows.taps, [&]<int Taps>(std::int64_t first) {
    const PixelRows<T> p = from_tap(rows, first);
    T* to = accumulators + first * p.weights_row_stride;
    if (p.step == 2)
      weights_gradient_pixel_rows<pixel_row_group(2), Taps, 2>(p, gradient, to);
    else
      weights_gradient_pixel_rows<pixel_row_group(1), Taps, 1>(p, gradient, to);
  });
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
