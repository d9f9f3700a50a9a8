#include "metal/lowerings.hpp"

namespace mpsgraph_native::metal {

Lowered lower_unary(UnaryFunction function, const LoweringSite& site) {
  MPSGraph* graph = site.graph;
  MPSGraphTensor* tensor = site.inputs[0];
  switch (function) {
    case UnaryFunction::Absolute: return {[graph absoluteWithTensor:tensor name:nil]};
    case UnaryFunction::Exponent: return {[graph exponentWithTensor:tensor name:nil]};
    case UnaryFunction::Identity: return {[graph identityWithTensor:tensor name:nil]};
    case UnaryFunction::Logarithm: return {[graph logarithmWithTensor:tensor name:nil]};
    case UnaryFunction::Negative: return {[graph negativeWithTensor:tensor name:nil]};
    case UnaryFunction::Reciprocal: return {[graph reciprocalWithTensor:tensor name:nil]};
    case UnaryFunction::Square: return {[graph squareWithTensor:tensor name:nil]};
    case UnaryFunction::SquareRoot: return {[graph squareRootWithTensor:tensor name:nil]};
    case UnaryFunction::Tanh: return {[graph tanhWithTensor:tensor name:nil]};
  }
  return {};
}

Lowered lower_binary(BinaryFunction function, const LoweringSite& site) {
  MPSGraph* graph = site.graph;
  MPSGraphTensor* primary = site.inputs[0];
  MPSGraphTensor* secondary = site.inputs[1];
  switch (function) {
    case BinaryFunction::Addition:
      return {[graph additionWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case BinaryFunction::Subtraction:
      return {[graph subtractionWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case BinaryFunction::Multiplication:
      return {[graph multiplicationWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case BinaryFunction::Division:
      return {[graph divisionWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case BinaryFunction::Maximum: return {[graph maximumWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case BinaryFunction::Minimum: return {[graph minimumWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
  }
  return {};
}

Lowered lower_comparison(ComparisonFunction function, const LoweringSite& site) {
  MPSGraph* graph = site.graph;
  MPSGraphTensor* primary = site.inputs[0];
  MPSGraphTensor* secondary = site.inputs[1];
  switch (function) {
    case ComparisonFunction::Equal: return {[graph equalWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case ComparisonFunction::NotEqual:
      return {[graph notEqualWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case ComparisonFunction::LessThan:
      return {[graph lessThanWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case ComparisonFunction::LessThanOrEqualTo:
      return {[graph lessThanOrEqualToWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case ComparisonFunction::GreaterThan:
      return {[graph greaterThanWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
    case ComparisonFunction::GreaterThanOrEqualTo:
      return {[graph greaterThanOrEqualToWithPrimaryTensor:primary secondaryTensor:secondary name:nil]};
  }
  return {};
}

Lowered lower(const Select&, const LoweringSite& site) {
  return {[site.graph selectWithPredicateTensor:site.inputs[0]
                            truePredicateTensor:site.inputs[1]
                           falsePredicateTensor:site.inputs[2]
                                           name:nil]};
}

}  // namespace mpsgraph_native::metal
