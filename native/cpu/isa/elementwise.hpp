#pragma once

#include <cstdint>

#include "graph/elementwise_functions.hpp"

namespace mpsgraph_native::cpu {

/// `rows` rows of `columns` elements of a result, and where operand k has them: its rows are row_strides[k] elements
/// apart, its columns 1, or 0 where one value serves the whole row.
template <int Operands>
struct ElementwiseBlock {
  std::int64_t rows, columns, result_stride;
  std::int64_t row_strides[Operands];
  std::int64_t column_strides[Operands];
};

/// For float, double, int32 and int64; a function that integers do not have is null. Integers wrap around, and division
/// by an integer zero gives 0.
template <class T>
struct ElementwiseKernels {
  using Unary = void (*)(const T* tensor, std::int64_t count, T* result);
  using Binary = void (*)(const ElementwiseBlock<2>& block, const T* primary, const T* secondary, T* result);
  using Comparison = void (*)(const ElementwiseBlock<2>& block, const T* primary, const T* secondary,
                              std::uint8_t* result);

  Unary unary[unary_function_count];                 ///< indexed by UnaryFunction
  Binary binary[binary_function_count];              ///< indexed by BinaryFunction
  Comparison comparison[comparison_function_count];  ///< indexed by ComparisonFunction
  void (*select)(const ElementwiseBlock<3>& block, const std::uint8_t* predicate, const T* true_value,
                 const T* false_value, T* result);

  Unary relu, sigmoid;
  void (*relu_gradient)(const T* gradient, const T* source, std::int64_t count, T* result);
  void (*sigmoid_gradient)(const T* gradient, const T* source, std::int64_t count, T* result);
  /// result = values - learning_rate * gradient.
  void (*gradient_descent)(T learning_rate, const T* values, const T* gradient, std::int64_t count, T* result);
};

}  // namespace mpsgraph_native::cpu
