#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

/// One output position whose `inner` neighbours in memory are pooled alike; vectors run along them.
template <class T>
struct PoolingPixel {
  const T* source;
  const std::int64_t* offsets;  ///< of each tap from `source`, in row-major window order
  const std::int32_t* codes;    ///< index contribution of each tap
  std::int64_t taps;
  std::int64_t inner;
  std::int64_t index;       ///< added to the code of the maximum
  std::int64_t index_step;  ///< and this for every inner position
};

/// One row of outputs along the window's last axis; vectors run along the row.
template <class T>
struct PoolingRow {
  const T* source;
  const std::int64_t* row_offsets;  ///< of the source rows that the window covers, in window order
  const std::int32_t* row_codes;    ///< index contribution of each
  std::int64_t rows;
  std::int64_t columns;  ///< of the source
  std::int64_t outputs;
  std::int64_t taps, stride, dilation, padding;
  const std::int32_t* first_taps;  ///< of each output, the first tap along the row that is inside
  std::int64_t tap_code;
  std::int64_t index;
  std::int64_t index_step;  ///< from one output to the next
};

template <class T>
struct PoolingKernels {
  int lanes;
  /// The first maximum of each window, NaN above all numbers, and its index; either destination may be null.
  /// A window without taps gives -inf and -1.
  void (*maximum_pixel)(const PoolingPixel<T>& pixel, T* values, std::int32_t* indices);
  /// sum / divisor.
  void (*average_pixel)(const PoolingPixel<T>& pixel, T divisor, T* values);
  /// sqrt(sum of squares).
  void (*l2_norm_pixel)(const PoolingPixel<T>& pixel, T* values);
  /// result[tap] += gradient / divisor.
  void (*average_gradient_pixel)(const PoolingPixel<T>& pixel, const T* gradient, T divisor, T* result);
  /// result[tap] += gradient · source[tap] / l2 norm, 0 where the norm is 0.
  void (*l2_norm_gradient_pixel)(const PoolingPixel<T>& pixel, const T* gradient, T* result);

  void (*maximum_row)(const PoolingRow<T>& row, T* values, std::int32_t* indices);
  /// sum / (divisor · divisors[output]).
  void (*average_row)(const PoolingRow<T>& row, T divisor, const T* divisors, T* values);
  void (*l2_norm_row)(const PoolingRow<T>& row, T* values);
};

}  // namespace mpsgraph_native::cpu
