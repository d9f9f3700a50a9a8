#include "elementwise.hpp"
#include "lines.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace stand_in;

namespace stand_in {

Values log_softmax(const Values& x, const Dims& shape, std::size_t axis) {
  Values result(x.size());
  each_line(shape, axis, [&](std::size_t first, std::size_t step, std::size_t length) {
    Value largest = -std::numeric_limits<Value>::infinity(), sum = 0;
    for (std::size_t k = 0; k < length; ++k) largest = std::max(largest, x[first + k * step]);
    for (std::size_t k = 0; k < length; ++k) sum += std::exp(x[first + k * step] - largest);
    for (std::size_t k = 0; k < length; ++k) result[first + k * step] = x[first + k * step] - largest - std::log(sum);
  });
  return result;
}

Values softmax(const Values& x, const Dims& shape, std::size_t axis) {
  Values result = log_softmax(x, shape, axis);
  for (Value& value : result) value = std::exp(value);
  return result;
}

}  // namespace stand_in

namespace {

Value sigmoid(Value x) { return 1 / (1 + std::exp(-x)); }

/// result[i] = function(gradient[i], source[i]).
MPSGraphTensor* add_gradient(const Site& site, MPSGraphTensor* gradient, MPSGraphTensor* source,
                             Value (*function)(Value, Value)) {
  const Dims shape = site.shape(source);
  site.require(site.shape(gradient) == shape, "the incoming gradient does not have the shape of the source");
  return site.add_one({gradient, source}, {shape, site.floating_type({gradient, source})},
                      [function](const Operands& in) {
                        Values result = in[0].values;
                        for (std::size_t i = 0; i < result.size(); ++i)
                          result[i] = function(result[i], in[1].values[i]);
                        return result;
                      });
}

}  // namespace

@implementation MPSGraph (MPSGraphActivationOps)
- (MPSGraphTensor*)reLUWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary({self, "reLU"}, tensor, [](Value x) { return x > 0 || std::isnan(x) ? x : 0; });
}
- (MPSGraphTensor*)reLUGradientWithIncomingGradient:(MPSGraphTensor*)gradient
                                       sourceTensor:(MPSGraphTensor*)source
                                               name:(NSString*)name {
  return add_gradient({self, "reLUGradient"}, gradient, source, [](Value g, Value x) {
    return x > 0 ? g : std::isnan(x) ? x : g * 0;
  });
}
- (MPSGraphTensor*)sigmoidWithTensor:(MPSGraphTensor*)tensor name:(NSString*)name {
  return add_unary({self, "sigmoid"}, tensor, sigmoid);
}
- (MPSGraphTensor*)sigmoidGradientWithIncomingGradient:(MPSGraphTensor*)gradient
                                          sourceTensor:(MPSGraphTensor*)source
                                                  name:(NSString*)name {
  return add_gradient({self, "sigmoidGradient"}, gradient, source,
                      [](Value g, Value x) { return g * sigmoid(x) * sigmoid(-x); });
}
- (MPSGraphTensor*)softMaxWithTensor:(MPSGraphTensor*)tensor axis:(NSInteger)axis name:(NSString*)name {
  const Site site{self, "softMax"};
  const Dims shape = site.shape(tensor);
  const std::size_t along = site.axis(axis, shape.size());
  return site.add_one({tensor}, {shape, site.floating_type({tensor})},
                      [shape, along](const Operands& in) { return softmax(in[0].values, shape, along); });
}
- (MPSGraphTensor*)softMaxGradientWithIncomingGradient:(MPSGraphTensor*)gradient
                                          sourceTensor:(MPSGraphTensor*)source
                                                  axis:(NSInteger)axis
                                                  name:(NSString*)name {
  const Site site{self, "softMaxGradient"};
  const Dims shape = site.shape(source);
  site.require(site.shape(gradient) == shape, "the incoming gradient does not have the shape of the source");
  const std::size_t along = site.axis(axis, shape.size());
  return site.add_one({gradient, source}, {shape, site.floating_type({gradient, source})},
                      [shape, along](const Operands& in) {
                        Values result = softmax(in[1].values, shape, along);
                        each_line(shape, along, [&](std::size_t first, std::size_t step, std::size_t length) {
                          Value sum = 0;
                          for (std::size_t k = 0; k < length; ++k)
                            sum += in[0].values[first + k * step] * result[first + k * step];
                          for (std::size_t k = 0; k < length; ++k)
                            result[first + k * step] *= in[0].values[first + k * step] - sum;
                        });
                        return result;
                      });
}
@end
