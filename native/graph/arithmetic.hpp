#pragma once

#include "graph/attributes.hpp"
#include "graph/elementwise_functions.hpp"
#include "graph/operands.hpp"

namespace mpsgraph_native {

// Elementwise operations without attributes share one template per arity; the function is its parameter.

constexpr std::string_view operation_name(UnaryFunction function) {
  switch (function) {
    case UnaryFunction::Absolute: return "absolute";
    case UnaryFunction::Exponent: return "exponent";
    case UnaryFunction::Identity: return "identity";
    case UnaryFunction::Logarithm: return "logarithm";
    case UnaryFunction::Negative: return "negative";
    case UnaryFunction::Reciprocal: return "reciprocal";
    case UnaryFunction::Square: return "square";
    case UnaryFunction::SquareRoot: return "square_root";
    case UnaryFunction::Tanh: return "tanh";
  }
  return {};
}

constexpr std::string_view operation_name(BinaryFunction function) {
  switch (function) {
    case BinaryFunction::Addition: return "addition";
    case BinaryFunction::Subtraction: return "subtraction";
    case BinaryFunction::Multiplication: return "multiplication";
    case BinaryFunction::Division: return "division";
    case BinaryFunction::Maximum: return "maximum";
    case BinaryFunction::Minimum: return "minimum";
  }
  return {};
}

constexpr std::string_view operation_name(ComparisonFunction function) {
  switch (function) {
    case ComparisonFunction::Equal: return "equal";
    case ComparisonFunction::NotEqual: return "not_equal";
    case ComparisonFunction::LessThan: return "less_than";
    case ComparisonFunction::LessThanOrEqualTo: return "less_than_or_equal_to";
    case ComparisonFunction::GreaterThan: return "greater_than";
    case ComparisonFunction::GreaterThanOrEqualTo: return "greater_than_or_equal_to";
  }
  return {};
}

/// result[i] = function(tensor[i]).
template <UnaryFunction Function>
struct ElementwiseUnary {
  static constexpr std::string_view name = operation_name(Function);
  static constexpr std::array<Argument, 1> arguments{{{"tensor"}}};

  friend bool operator==(const ElementwiseUnary&, const ElementwiseUnary&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

/// result = function(primary, secondary), with NumPy's broadcasting.
template <BinaryFunction Function>
struct ElementwiseBinary {
  static constexpr std::string_view name = operation_name(Function);
  static constexpr std::array<Argument, 2> arguments{{{"primary"}, {"secondary"}}};

  friend bool operator==(const ElementwiseBinary&, const ElementwiseBinary&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

/// Boolean result = function(primary, secondary), with NumPy's broadcasting.
template <ComparisonFunction Function>
struct ElementwiseComparison {
  static constexpr std::string_view name = operation_name(Function);
  static constexpr std::array<Argument, 2> arguments{{{"primary"}, {"secondary"}}};

  friend bool operator==(const ElementwiseComparison&, const ElementwiseComparison&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

/// true_value where predicate holds, else false_value, with NumPy's broadcasting.
struct Select {
  static constexpr std::string_view name = "select";
  static constexpr std::array<Argument, 3> arguments{{{"predicate"}, {"true_value"}, {"false_value"}}};

  friend bool operator==(const Select&, const Select&) = default;
  template <class Self, class Visitor>
  static void fields(Self&, Visitor&&) {}
};

using Absolute = ElementwiseUnary<UnaryFunction::Absolute>;
using Exponent = ElementwiseUnary<UnaryFunction::Exponent>;
using Identity = ElementwiseUnary<UnaryFunction::Identity>;
using Logarithm = ElementwiseUnary<UnaryFunction::Logarithm>;
using Negative = ElementwiseUnary<UnaryFunction::Negative>;
using Reciprocal = ElementwiseUnary<UnaryFunction::Reciprocal>;
using Square = ElementwiseUnary<UnaryFunction::Square>;
using SquareRoot = ElementwiseUnary<UnaryFunction::SquareRoot>;
using Tanh = ElementwiseUnary<UnaryFunction::Tanh>;
using Addition = ElementwiseBinary<BinaryFunction::Addition>;
using Subtraction = ElementwiseBinary<BinaryFunction::Subtraction>;
using Multiplication = ElementwiseBinary<BinaryFunction::Multiplication>;
using Division = ElementwiseBinary<BinaryFunction::Division>;
using Maximum = ElementwiseBinary<BinaryFunction::Maximum>;
using Minimum = ElementwiseBinary<BinaryFunction::Minimum>;
using Equal = ElementwiseComparison<ComparisonFunction::Equal>;
using NotEqual = ElementwiseComparison<ComparisonFunction::NotEqual>;
using LessThan = ElementwiseComparison<ComparisonFunction::LessThan>;
using LessThanOrEqualTo = ElementwiseComparison<ComparisonFunction::LessThanOrEqualTo>;
using GreaterThan = ElementwiseComparison<ComparisonFunction::GreaterThan>;
using GreaterThanOrEqualTo = ElementwiseComparison<ComparisonFunction::GreaterThanOrEqualTo>;

ResultTypes infer_unary(UnaryFunction function, const Operands& operands);
ResultTypes infer_binary(const Operands& operands);
ResultTypes infer_comparison(const Operands& operands);

template <UnaryFunction Function>
ResultTypes infer(const ElementwiseUnary<Function>&, const Operands& operands) {
  return infer_unary(Function, operands);
}
template <BinaryFunction Function>
ResultTypes infer(const ElementwiseBinary<Function>&, const Operands& operands) {
  return infer_binary(operands);
}
template <ComparisonFunction Function>
ResultTypes infer(const ElementwiseComparison<Function>&, const Operands& operands) {
  return infer_comparison(operands);
}
ResultTypes infer(const Select& attributes, const Operands& operands);

}  // namespace mpsgraph_native
