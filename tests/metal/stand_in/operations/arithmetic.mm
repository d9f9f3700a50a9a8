#include "elementwise.hpp"

#include <cmath>

using namespace stand_in;

@implementation MPSGraph (MPSGraphArithmeticOps)
- (MPSGraphTensor*)identityWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  const Site site{self, "identity"};
  const Dims shape = site.shape(tensor);
  return site.add_one({tensor}, {shape, tensor.dataType}, [](const Operands& in) { return in[0].values; });
}
- (MPSGraphTensor*)absoluteWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary(
      {self, "absolute"}, tensor, [](Value x) { return std::fabs(x); }, [](__int128 x) { return x < 0 ? -x : x; });
}
- (MPSGraphTensor*)negativeWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary({self, "negative"}, tensor, [](Value x) { return -x; }, [](__int128 x) { return -x; });
}
- (MPSGraphTensor*)squareWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary({self, "square"}, tensor, [](Value x) { return x * x; }, [](__int128 x) { return x * x; });
}
- (MPSGraphTensor*)exponentWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary({self, "exponent"}, tensor, [](Value x) { return std::exp(x); });
}
- (MPSGraphTensor*)logarithmWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary({self, "logarithm"}, tensor, [](Value x) { return std::log(x); });
}
- (MPSGraphTensor*)reciprocalWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary({self, "reciprocal"}, tensor, [](Value x) { return 1 / x; });
}
- (MPSGraphTensor*)squareRootWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary({self, "squareRoot"}, tensor, [](Value x) { return std::sqrt(x); });
}
- (MPSGraphTensor*)tanhWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary({self, "tanh"}, tensor, [](Value x) { return std::tanh(x); });
}
- (MPSGraphTensor*)signWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary(
      {self, "sign"}, tensor, [](Value x) { return x > 0   ? 1
                                                   : x < 0 ? -1
                                                           : x; },
      [](__int128 x) { return x > 0   ? 1
                              : x < 0 ? -1
                                      : 0; });
}

- (MPSGraphTensor*)additionWithPrimaryTensor:(MPSGraphTensor*)primary
                             secondaryTensor:(MPSGraphTensor*)secondary
                                        name:(NSString*)name {
  return add_binary(
      {self, "addition"}, primary, secondary, [](Value a, Value b) { return a + b; },
      [](__int128 a, __int128 b) { return a + b; });
}
- (MPSGraphTensor*)subtractionWithPrimaryTensor:(MPSGraphTensor*)primary
                                secondaryTensor:(MPSGraphTensor*)secondary
                                           name:(NSString*)name {
  return add_binary(
      {self, "subtraction"}, primary, secondary, [](Value a, Value b) { return a - b; },
      [](__int128 a, __int128 b) { return a - b; });
}
- (MPSGraphTensor*)multiplicationWithPrimaryTensor:(MPSGraphTensor*)primary
                                   secondaryTensor:(MPSGraphTensor*)secondary
                                              name:(NSString*)name {
  return add_binary(
      {self, "multiplication"}, primary, secondary, [](Value a, Value b) { return a * b; },
      [](__int128 a, __int128 b) { return a * b; });
}
- (MPSGraphTensor*)divisionWithPrimaryTensor:(MPSGraphTensor*)primary
                             secondaryTensor:(MPSGraphTensor*)secondary
                                        name:(NSString*)name {
  return add_binary(
      {self, "division"}, primary, secondary, [](Value a, Value b) { return a / b; },
      [](__int128 a, __int128 b) { return b == 0 ? 0 : a / b; });
}
- (MPSGraphTensor*)maximumWithPrimaryTensor:(MPSGraphTensor*)primary
                            secondaryTensor:(MPSGraphTensor*)secondary
                                       name:(NSString*)name {
  return add_binary(
      {self, "maximum"}, primary, secondary, [](Value a, Value b) { return std::fmax(a, b); },
      [](__int128 a, __int128 b) { return a < b ? b : a; });
}
- (MPSGraphTensor*)minimumWithPrimaryTensor:(MPSGraphTensor*)primary
                            secondaryTensor:(MPSGraphTensor*)secondary
                                       name:(NSString*)name {
  return add_binary(
      {self, "minimum"}, primary, secondary, [](Value a, Value b) { return std::fmin(a, b); },
      [](__int128 a, __int128 b) { return b < a ? b : a; });
}
- (MPSGraphTensor*)maximumWithNaNPropagationWithPrimaryTensor:(MPSGraphTensor*)primary
                                              secondaryTensor:(MPSGraphTensor*)secondary
                                                         name:(NSString*)name {
  return add_binary(
      {self, "maximumWithNaNPropagation"}, primary, secondary,
      [](Value a, Value b) { return std::isnan(a) || a > b ? a : b; },
      [](__int128 a, __int128 b) { return a < b ? b : a; });
}
- (MPSGraphTensor*)minimumWithNaNPropagationWithPrimaryTensor:(MPSGraphTensor*)primary
                                              secondaryTensor:(MPSGraphTensor*)secondary
                                                         name:(NSString*)name {
  return add_binary(
      {self, "minimumWithNaNPropagation"}, primary, secondary,
      [](Value a, Value b) { return std::isnan(a) || a < b ? a : b; },
      [](__int128 a, __int128 b) { return b < a ? b : a; });
}

- (MPSGraphTensor*)equalWithPrimaryTensor:(MPSGraphTensor*)primary
                          secondaryTensor:(MPSGraphTensor*)secondary
                                     name:(NSString*)name {
  return add_comparison({self, "equal"}, primary, secondary, [](Value a, Value b) { return a == b; });
}
- (MPSGraphTensor*)notEqualWithPrimaryTensor:(MPSGraphTensor*)primary
                             secondaryTensor:(MPSGraphTensor*)secondary
                                        name:(NSString*)name {
  return add_comparison({self, "notEqual"}, primary, secondary, [](Value a, Value b) { return a != b; });
}
- (MPSGraphTensor*)lessThanWithPrimaryTensor:(MPSGraphTensor*)primary
                             secondaryTensor:(MPSGraphTensor*)secondary
                                        name:(NSString*)name {
  return add_comparison({self, "lessThan"}, primary, secondary, [](Value a, Value b) { return a < b; });
}
- (MPSGraphTensor*)lessThanOrEqualToWithPrimaryTensor:(MPSGraphTensor*)primary
                                      secondaryTensor:(MPSGraphTensor*)secondary
                                                 name:(NSString*)name {
  return add_comparison({self, "lessThanOrEqualTo"}, primary, secondary, [](Value a, Value b) { return a <= b; });
}
- (MPSGraphTensor*)greaterThanWithPrimaryTensor:(MPSGraphTensor*)primary
                                secondaryTensor:(MPSGraphTensor*)secondary
                                           name:(NSString*)name {
  return add_comparison({self, "greaterThan"}, primary, secondary, [](Value a, Value b) { return a > b; });
}
- (MPSGraphTensor*)greaterThanOrEqualToWithPrimaryTensor:(MPSGraphTensor*)primary
                                         secondaryTensor:(MPSGraphTensor*)secondary
                                                    name:(NSString*)name {
  return add_comparison({self, "greaterThanOrEqualTo"}, primary, secondary, [](Value a, Value b) { return a >= b; });
}

- (MPSGraphTensor*)selectWithPredicateTensor:(MPSGraphTensor*)predicate
                         truePredicateTensor:(MPSGraphTensor*)trueValue
                        falsePredicateTensor:(MPSGraphTensor*)falseValue
                                        name:(NSString*)name {
  const Site site{self, "select"};
  Dims shape;
  site.require(broadcast(site.shape(trueValue), site.shape(falseValue), shape), "the shapes do not broadcast");
  site.require(broadcast(shape, site.shape(predicate), shape), "the shapes do not broadcast");
  site.require(predicate.dataType == MPSDataTypeBool, "the predicate is not of type Bool");
  site.require(trueValue.dataType == falseValue.dataType, "the tensors differ in type");
  return site.add_one({predicate, trueValue, falseValue}, {shape, trueValue.dataType}, [shape](const Operands& in) {
    const Values chosen = expanded(in[0], shape), whole = expanded(in[1], shape);
    Values result = expanded(in[2], shape);
    for (std::size_t i = 0; i < result.size(); ++i)
      if (chosen[i] != 0) result[i] = whole[i];
    return result;
  });
}
@end
