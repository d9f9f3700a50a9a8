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
  /// For maxima and their gradient: so many positions along the row are pooled alike, with these steps from one to the
  /// next.
  std::int64_t positions = 1, source_position_step = 0, index_position_step = 0, result_position_step = 0;
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

/// Windows of 2 or 3 taps along a row, 2 columns apart, that slide over the rows of a plane. None is empty.
struct PoolingPlane {
  /// What differs between rows of outputs.
  struct Row {
    std::int64_t source;  ///< offset of the window's first row inside
    std::int64_t rows;    ///< of the window, inside
    std::int64_t index;   ///< of output 0 of the row when that row's tap 0 is the maximum
  };

  std::int64_t columns;  ///< of the source
  std::int64_t outputs;  ///< of a row
  std::int64_t taps, padding;
  std::int64_t source_step;                     ///< from one row of a window to the next
  std::int64_t row_code, tap_code, index_step;  ///< index contribution of a row, of a tap, and of an output
};

/// Windows of 2 or 3 taps along a row, 2 columns and 2 rows apart, over a whole plane whose positions indices count.
struct PoolingPlaneWindows {
  std::int64_t columns, rows;  ///< of the source
  std::int64_t output_columns, output_rows;
  std::int64_t column_taps, row_taps;
  std::int64_t column_padding, row_padding;
};

template <class T>
struct PoolingPlaneKernels {
  /// The first maximum of each window of `count` rows of outputs, as maximum_row gives it; indices may be null.
  void (*maximum)(const PoolingPlane& plane, const T* source, const PoolingPlane::Row* rows, std::int64_t count,
                  std::int64_t index, T* values, std::int32_t* indices);
  /// Whether every index, `base` being position 0, lies inside its own window.
  bool (*indices_in_windows)(const PoolingPlaneWindows& windows, const std::int32_t* indices, std::int64_t base);
  /// Each position's sum of the gradients of those windows whose index it is, in their order. Null for a T that is not
  /// as wide as the indices, like the one before.
  void (*gather_gradient)(const PoolingPlaneWindows& windows, const std::int32_t* indices, std::int64_t base,
                          const T* gradient, T* result);
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

  /// Whether every index is one that maximum_pixel could give. Null, like the one after it, for a T that is not as wide
  /// as the indices.
  bool (*indices_in_window)(const PoolingPixel<T>& pixel, const std::int32_t* indices);
  /// result[tap] is the gradient where the index is the tap's, else zero: of a window that no other one overlaps.
  void (*maximum_gradient_pixel)(const PoolingPixel<T>& pixel, const T* gradient, const std::int32_t* indices,
                                 T* result);

  void (*maximum_row)(const PoolingRow<T>& row, T* values, std::int32_t* indices);
  /// sum / (divisor · divisors[output]).
  void (*average_row)(const PoolingRow<T>& row, T divisor, const T* divisors, T* values);
  void (*l2_norm_row)(const PoolingRow<T>& row, T* values);

  PoolingPlaneKernels<T> planes;
};

}  // namespace mpsgraph_native::cpu
