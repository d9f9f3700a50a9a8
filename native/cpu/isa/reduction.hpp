#pragma once

#include <cstdint>

namespace mpsgraph_native::cpu {

enum class ReductionFunction { Sum, Product, Maximum, Minimum };
inline constexpr int reduction_function_count = 4;

/// For float, double, int32 and int64. Sums and products are pairwise, so that their error does not grow with the
/// length; integers wrap around. Maximum and minimum start from the lowest and the highest value and skip NaN.
template <class T>
struct ReductionKernels {
  /// Of `count` contiguous elements; indexed by ReductionFunction.
  T (*elements[reduction_function_count])(const T* source, std::int64_t count);
  /// result[c] = function over r of source[r * row_stride + c].
  void (*rows[reduction_function_count])(const T* source, std::int64_t row_stride, std::int64_t rows,
                                         std::int64_t columns, T* result);
};

/// Where the first maximum (index 0) or minimum (index 1) is; -1 when every element is NaN.
template <class T>
struct ArgReductionKernels {
  std::int64_t (*elements[2])(const T* source, std::int64_t count);
  void (*rows[2])(const T* source, std::int64_t row_stride, std::int64_t rows, std::int64_t columns,
                  std::int32_t* result);
};

}  // namespace mpsgraph_native::cpu
