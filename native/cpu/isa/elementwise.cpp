#include "cpu/isa/elementwise.hpp"

#include "cpu/isa/families.hpp"
#include "cpu/isa/lanes.hpp"
#include "cpu/isa/logarithm.hpp"
#include "cpu/isa/math.hpp"
#include "cpu/isa/vector.hpp"

namespace mpsgraph_native::cpu::MPSGRAPH_ISA {
namespace {

// Function objects over whole vectors: Vec<T> in, Vec<T> out.

struct AbsoluteValue {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    if constexpr (floating<T>)
      return absolute<T>(x);
    else
      return x < T(0) ? -x : x;
  }
};
struct Exponential {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    return exponential<T>(x);
  }
};
struct NaturalLogarithm {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    return logarithm<T>(x);
  }
};
struct Negation {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    return -x;
  }
};
struct Inverse {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    return T(1) / x;
  }
};
struct SecondPower {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    return x * x;
  }
};
struct Root {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    return square_root<T>(x);
  }
};
struct HyperbolicTangent {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    return hyperbolic_tangent<T>(x);
  }
};
struct Rectifier {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    return x < T(0) ? Vec<T>{} : x;  // NaN stays
  }
};
struct Logistic {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> x) {
    return sigmoid<T>(x);
  }
};

struct Sum {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> a, Vec<T> b) {
    return a + b;
  }
};
struct Difference {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> a, Vec<T> b) {
    return a - b;
  }
};
struct Product {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> a, Vec<T> b) {
    return a * b;
  }
};
struct Quotient {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> a, Vec<T> b) {
    if constexpr (floating<T>) {
      return a / b;
    } else {
      // Division by 0, and of the lowest integer by -1, would trap.
      const auto zero = b == T(0), minus_one = b == T(-1);
      const Vec<T> quotient = a / ((zero | minus_one) ? broadcast<T>(1) : b);
      return zero ? Vec<T>{} : minus_one ? -a : quotient;
    }
  }
};
/// A number wins over NaN.
struct Larger {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> a, Vec<T> b) {
    return ((a > b) | is_nan<T>(b)) ? a : b;
  }
};
struct Smaller {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> a, Vec<T> b) {
    return ((a < b) | is_nan<T>(b)) ? a : b;
  }
};

/// Of (gradient, source). The product with 0 keeps the gradient's sign and NaN.
struct RectifierGradient {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> gradient, Vec<T> source) {
    return source > T(0) ? gradient : is_nan<T>(source) ? source : gradient * T(0);
  }
};
struct LogisticGradient {
  template <class T>
  static MPSGRAPH_INLINE Vec<T> apply(Vec<T> gradient, Vec<T> source) {
    // sigmoid(-x) is 1 - sigmoid(x) without its cancellation.
    return gradient * (sigmoid<T>(source) * sigmoid<T>(-source));
  }
};

template <class T, class Function>
void unary(const T* tensor, std::int64_t count, T* result) {
  constexpr int L = lanes<T>;
  std::int64_t i = 0;
  for (; i + L <= count; i += L) store<T>(result + i, Function::template apply<T>(load(tensor + i)));
  const int rest = static_cast<int>(count - i);
  if (rest) store_partial<T>(result + i, rest, Function::template apply<T>(load_partial(tensor + i, rest)));
}

/// Column stride 0 or 1 as a type, so that the value of a whole row is loaded once.
template <class T>
struct EachElement {
  const T* data;
  MPSGRAPH_INLINE Vec<T> at(std::int64_t i) const { return load(data + i); }
  MPSGRAPH_INLINE Vec<T> at(std::int64_t i, int count) const { return load_partial(data + i, count); }
};
template <class T>
struct WholeRow {
  Vec<T> value;
  explicit MPSGRAPH_INLINE WholeRow(const T* data) : value(broadcast<T>(*data)) {}
  MPSGRAPH_INLINE Vec<T> at(std::int64_t) const { return value; }
  MPSGRAPH_INLINE Vec<T> at(std::int64_t, int) const { return value; }
};

template <class T, class Function, template <class> class Primary, template <class> class Secondary>
MPSGRAPH_INLINE void binary_rows(const ElementwiseBlock<2>& block, const T* primary, const T* secondary, T* result) {
  constexpr int L = lanes<T>;
  for (std::int64_t row = 0; row < block.rows; ++row) {
    const Primary<T> a{primary + row * block.row_strides[0]};
    const Secondary<T> b{secondary + row * block.row_strides[1]};
    T* out = result + row * block.result_stride;
    std::int64_t i = 0;
    for (; i + L <= block.columns; i += L) store<T>(out + i, Function::template apply<T>(a.at(i), b.at(i)));
    const int rest = static_cast<int>(block.columns - i);
    if (rest) store_partial<T>(out + i, rest, Function::template apply<T>(a.at(i, rest), b.at(i, rest)));
  }
}

template <class T, class Function>
void binary(const ElementwiseBlock<2>& block, const T* primary, const T* secondary, T* result) {
  if (block.column_strides[0] == 0)
    binary_rows<T, Function, WholeRow, EachElement>(block, primary, secondary, result);
  else if (block.column_strides[1] == 0)
    binary_rows<T, Function, EachElement, WholeRow>(block, primary, secondary, result);
  else
    binary_rows<T, Function, EachElement, EachElement>(block, primary, secondary, result);
}

template <class T, class Function>
void binary_same_shape(const T* primary, const T* secondary, std::int64_t count, T* result) {
  binary_rows<T, Function, EachElement, EachElement>({1, count, 0, {}, {}}, primary, secondary, result);
}

template <class T>
void gradient_descent(T learning_rate, const T* values, const T* gradient, std::int64_t count, T* result) {
  constexpr int L = lanes<T>;
  const Vec<T> rate = broadcast<T>(-learning_rate);
  std::int64_t i = 0;
  for (; i + L <= count; i += L) store<T>(result + i, multiply_add(rate, load(gradient + i), load(values + i)));
  for (; i < count; ++i) result[i] = values[i] - learning_rate * gradient[i];
}

// Results and operands differ in width below: plain loops, which compilers widen well.

template <ComparisonFunction Function, class T>
MPSGRAPH_INLINE bool compare(T a, T b) {
  switch (Function) {
    case ComparisonFunction::Equal: return a == b;
    case ComparisonFunction::NotEqual: return a != b;
    case ComparisonFunction::LessThan: return a < b;
    case ComparisonFunction::LessThanOrEqualTo: return a <= b;
    case ComparisonFunction::GreaterThan: return a > b;
    case ComparisonFunction::GreaterThanOrEqualTo: return a >= b;
  }
}

template <class T, ComparisonFunction Function, int PrimaryStride, int SecondaryStride>
MPSGRAPH_INLINE void comparison_row(const T* __restrict primary, const T* __restrict secondary, std::int64_t columns,
                                    std::uint8_t* __restrict result) {
  for (std::int64_t i = 0; i < columns; ++i)
    result[i] = compare<Function>(primary[i * PrimaryStride], secondary[i * SecondaryStride]);
}

template <class T, ComparisonFunction Function>
void comparison(const ElementwiseBlock<2>& block, const T* primary, const T* secondary, std::uint8_t* result) {
  for (std::int64_t row = 0; row < block.rows; ++row) {
    if (block.column_strides[0] == 0)
      comparison_row<T, Function, 0, 1>(primary, secondary, block.columns, result);
    else if (block.column_strides[1] == 0)
      comparison_row<T, Function, 1, 0>(primary, secondary, block.columns, result);
    else
      comparison_row<T, Function, 1, 1>(primary, secondary, block.columns, result);
    primary += block.row_strides[0];
    secondary += block.row_strides[1];
    result += block.result_stride;
  }
}

template <class T>
MPSGRAPH_INLINE void select_row(const std::uint8_t* __restrict predicate, const T* __restrict true_value,
                                const T* __restrict false_value, const std::int64_t* strides, std::int64_t columns,
                                T* __restrict result) {
  if (strides[0] == 1 && strides[1] == 1 && strides[2] == 1)
    for (std::int64_t i = 0; i < columns; ++i) result[i] = predicate[i] ? true_value[i] : false_value[i];
  else if (strides[0] == 1 && strides[1] == 1)
    for (std::int64_t i = 0; i < columns; ++i) result[i] = predicate[i] ? true_value[i] : *false_value;
  else if (strides[0] == 1 && strides[2] == 1)
    for (std::int64_t i = 0; i < columns; ++i) result[i] = predicate[i] ? *true_value : false_value[i];
  else if (strides[0] == 1)
    for (std::int64_t i = 0; i < columns; ++i) result[i] = predicate[i] ? *true_value : *false_value;
  else if (strides[*predicate ? 1 : 2] == 1)
    __builtin_memcpy(result, *predicate ? true_value : false_value, static_cast<std::size_t>(columns) * sizeof(T));
  else
    for (std::int64_t i = 0; i < columns; ++i) result[i] = *predicate ? *true_value : *false_value;
}

template <class T>
void select(const ElementwiseBlock<3>& block, const std::uint8_t* predicate, const T* true_value, const T* false_value,
            T* result) {
  for (std::int64_t row = 0; row < block.rows; ++row)
    select_row(predicate + row * block.row_strides[0], true_value + row * block.row_strides[1],
               false_value + row * block.row_strides[2], block.column_strides, block.columns,
               result + row * block.result_stride);
}

}  // namespace

template <class T>
ElementwiseKernels<T> elementwise_kernels() {
  using C = ComparisonFunction;
  ElementwiseKernels<T> kernels{};
  const auto set = [&](UnaryFunction function, typename ElementwiseKernels<T>::Unary kernel) {
    kernels.unary[static_cast<int>(function)] = kernel;
  };
  set(UnaryFunction::Absolute, unary<T, AbsoluteValue>);
  set(UnaryFunction::Negative, unary<T, Negation>);
  set(UnaryFunction::Square, unary<T, SecondPower>);
  if constexpr (floating<T>) {
    set(UnaryFunction::Exponent, unary<T, Exponential>);
    set(UnaryFunction::Logarithm, unary<T, NaturalLogarithm>);
    set(UnaryFunction::Reciprocal, unary<T, Inverse>);
    set(UnaryFunction::SquareRoot, unary<T, Root>);
    set(UnaryFunction::Tanh, unary<T, HyperbolicTangent>);
    kernels.relu = unary<T, Rectifier>;
    kernels.sigmoid = unary<T, Logistic>;
    kernels.relu_gradient = binary_same_shape<T, RectifierGradient>;
    kernels.sigmoid_gradient = binary_same_shape<T, LogisticGradient>;
    kernels.gradient_descent = gradient_descent<T>;
  }
  const auto set_binary = [&](BinaryFunction function, typename ElementwiseKernels<T>::Binary kernel) {
    kernels.binary[static_cast<int>(function)] = kernel;
  };
  set_binary(BinaryFunction::Addition, binary<T, Sum>);
  set_binary(BinaryFunction::Subtraction, binary<T, Difference>);
  set_binary(BinaryFunction::Multiplication, binary<T, Product>);
  set_binary(BinaryFunction::Division, binary<T, Quotient>);
  set_binary(BinaryFunction::Maximum, binary<T, Larger>);
  set_binary(BinaryFunction::Minimum, binary<T, Smaller>);
  const auto set_comparison = [&](C function, typename ElementwiseKernels<T>::Comparison kernel) {
    kernels.comparison[static_cast<int>(function)] = kernel;
  };
  set_comparison(C::Equal, comparison<T, C::Equal>);
  set_comparison(C::NotEqual, comparison<T, C::NotEqual>);
  set_comparison(C::LessThan, comparison<T, C::LessThan>);
  set_comparison(C::LessThanOrEqualTo, comparison<T, C::LessThanOrEqualTo>);
  set_comparison(C::GreaterThan, comparison<T, C::GreaterThan>);
  set_comparison(C::GreaterThanOrEqualTo, comparison<T, C::GreaterThanOrEqualTo>);
  kernels.select = select<T>;
  return kernels;
}
template ElementwiseKernels<float> elementwise_kernels<float>();
template ElementwiseKernels<double> elementwise_kernels<double>();
template ElementwiseKernels<std::int32_t> elementwise_kernels<std::int32_t>();
template ElementwiseKernels<std::int64_t> elementwise_kernels<std::int64_t>();

}  // namespace mpsgraph_native::cpu::MPSGRAPH_ISA
