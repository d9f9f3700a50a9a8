#pragma once

namespace mpsgraph_native {

// Bare enumerations, so that the kernels of cpu/isa/ can include them.

enum class UnaryFunction { Absolute, Exponent, Identity, Logarithm, Negative, Reciprocal, Square, SquareRoot, Tanh };
enum class BinaryFunction { Addition, Subtraction, Multiplication, Division, Maximum, Minimum };
enum class ComparisonFunction { Equal, NotEqual, LessThan, LessThanOrEqualTo, GreaterThan, GreaterThanOrEqualTo };

inline constexpr int unary_function_count = 9;
inline constexpr int binary_function_count = 6;
inline constexpr int comparison_function_count = 6;

}  // namespace mpsgraph_native
