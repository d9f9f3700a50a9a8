#pragma once

#include "cpu/isa/depthwise_convolution.hpp"
#include "cpu/isa/row_window.hpp"

// A block is a column of pixels by one vector of channels. The blocks of all channels of a column come before the next
// column. The processor foresees neither where the next columns' taps stand nor where the next rows are written: both
// are fetched ahead.

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

/// One vector of channels: a whole one, or the last channels of a pixel.
template <bool Whole, class T>
struct ChannelVector {
  LaneRange<T> used;

  MPSGRAPH_INLINE Vec<T> load(const T* p) const {
    if constexpr (Whole) return cpu::MPSGRAPH_ISA::load(p);
    return load_range<T>(p, used, Vec<T>{});
  }
  MPSGRAPH_INLINE void store(T* p, Vec<T> v) const {
    if constexpr (Whole)
      cpu::MPSGRAPH_ISA::store(p, v);
    else
      store_range<T>(p, used, v);
  }
};

/// The source pixels, as they stand in the first row, that a later column reads as the first one: (begin, end]. A
/// column ahead took 1.2 to 1.3 times as long as a KiB.
template <class T>
struct NewPixels {
  const T *begin, *end;
};
template <int Rows, int Step, class T>
MPSGRAPH_INLINE NewPixels<T> new_pixels(const PixelRows<T>& p, std::int64_t column) {
  std::int64_t later = column + 1024 / (p.channels * static_cast<std::int64_t>(sizeof(T))) + 1;
  const T* source = p.source;
  if (later >= p.pixels) {  // the next rows
    later -= p.pixels;
    source += Rows * Step * p.source_row_stride;
    if (later >= p.pixels) later = p.pixels - 1;
  }
  const PixelColumn &last = p.columns[later], &before = p.columns[later > 0 ? later - 1 : 0];
  const T* end = source + last.source + (last.taps - 1) * p.tap_source_stride;
  return {later > 0 ? source + before.source + (before.taps - 1) * p.tap_source_stride : end - p.channels, end};
}

/// body(block, c, column, new pixels) for every block.
template <int Rows, int Step, class T, class Body>
MPSGRAPH_INLINE void for_each_pixel_block(const PixelRows<T>& p, Body&& body) {
  constexpr std::int64_t L = lanes<T>;
  const std::int64_t whole = p.channels / L * L;
  for (std::int64_t x = 0; x < p.pixels; ++x) {
    const NewPixels<T> fetched = new_pixels<Rows, Step>(p, x);
    for (std::int64_t c = 0; c < whole; c += L) body(ChannelVector<true, T>{}, c, x, fetched);
    if (whole < p.channels) body(ChannelVector<false, T>{LaneRange<T>(0, p.channels - whole)}, whole, x, fetched);
  }
}

/// Those of `count` source rows that an earlier group of rows has not read.
template <int Taps, int Step, class T>
MPSGRAPH_INLINE void fetch_source_ahead(const PixelRows<T>& p, const NewPixels<T>& fetched, std::int64_t c, int count) {
  for (const T* pixel = fetched.end; pixel > fetched.begin; pixel -= p.channels)
#pragma GCC unroll 16
    for (int r = Taps > Step ? Taps - Step : 0; r < count; ++r)
      __builtin_prefetch(pixel + c + r * p.source_row_stride, 0, 2);
}

template <int Rows, int Taps, int Step, class T>
void correlate_pixel_taps(const PixelRows<T>& p, const T* weights, T* output, bool accumulate) {
  constexpr int source_rows = (Rows - 1) * Step + Taps;
  const auto correlate = [&](const auto& block, std::int64_t c, std::int64_t x, const NewPixels<T>& fetched)
                             __attribute__((always_inline)) {
                               const PixelColumn& column = p.columns[x];
                               const T* source = p.source + column.source + c;
                               const T* weight = weights + column.weights + c;
                               T* to = output + x * p.channels + c;
                               Vec<T> sum[Rows] = {};
                               if (accumulate)
#pragma GCC unroll 8
                                 for (int i = 0; i < Rows; ++i)
                                   if (i < p.rows) sum[i] = block.load(to + i * p.row_stride);
                               for (std::int64_t tap = 0; tap < column.taps; ++tap) {
                                 Vec<T> w[Taps];
#pragma GCC unroll 8
                                 for (int t = 0; t < Taps; ++t) w[t] = load(weight + t * p.weights_row_stride);
#pragma GCC unroll 16
                                 for (int r = 0; r < source_rows; ++r) {
                                   if (r < p.begin || r >= p.end) continue;
                                   const Vec<T> value = in_register(block.load(source + r * p.source_row_stride));
#pragma GCC unroll 8
                                   for (int i = 0; i < Rows; ++i)
                                     if (r >= i * Step && r - i * Step < Taps)
                                       sum[i] = multiply_add(value, w[r - i * Step], sum[i]);
                                 }
                                 source += p.tap_source_stride;
                                 weight += p.tap_weights_stride;
                               }
                               fetch_source_ahead<Taps, Step>(p, fetched, c, source_rows);
#pragma GCC unroll 8
                               for (int i = 0; i < Rows; ++i) {
                                 if (i >= p.rows) break;
                                 block.store(to + i * p.row_stride, sum[i]);
                                 __builtin_prefetch(to + (i + Rows) * p.row_stride, 1, 2);
                               }
                             };
  for_each_pixel_block<Rows, Step>(p, correlate);
}

/// body.template operator()<Taps>(first) for groups of taps that make up `count`, at least one.
template <class Body>
MPSGRAPH_INLINE void for_each_tap_group(std::int64_t count, Body&& body) {
  std::int64_t first = 0;
  for (; count - first >= 7; first += 7) body.template operator()<7>(first);
  for (; count - first >= 5; first += 5) body.template operator()<5>(first);
  for (; count - first >= 3; first += 3) body.template operator()<3>(first);
  for (; count - first >= 2; first += 2) body.template operator()<2>(first);
  if (first < count || count == 0) body.template operator()<1>(first);
}

/// The same rows, counted from tap `first` on.
template <class T>
MPSGRAPH_INLINE PixelRows<T> from_tap(PixelRows<T> rows, std::int64_t first) {
  rows.source += first * rows.source_row_stride;
  rows.begin -= first;
  rows.end -= first;
  return rows;
}

/// Rows without taps come out as zeros.
template <class T>
void correlate_pixels(const PixelRows<T>& rows, const T* weights, T* output) {
  for_each_tap_group(rows.taps, [&]<int Taps>(std::int64_t first) {
    const PixelRows<T> p = from_tap(rows, first);
    const T* from = weights + first * p.weights_row_stride;
    if (p.rows == 1)
      correlate_pixel_taps<1, Taps, 1>(p, from, output, first > 0);
    else if (p.step == 1)
      correlate_pixel_taps<pixel_row_group(1), Taps, 1>(p, from, output, first > 0);
    else
      correlate_pixel_taps<pixel_row_group(2), Taps, 2>(p, from, output, first > 0);
  });
}

}  // namespace
}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
