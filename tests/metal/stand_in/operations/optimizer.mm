#include "support.hpp"

using namespace stand_in;

@implementation MPSGraph (MPSGraphOptimizerOps)
- (MPSGraphTensor*)stochasticGradientDescentWithLearningRateTensor:(MPSGraphTensor*)learningRate
                                                      valuesTensor:(MPSGraphTensor*)values
                                                    gradientTensor:(MPSGraphTensor*)gradient
                                                              name:(NSString*)name {
  const Site site{self, "stochasticGradientDescent"};
  const Dims shape = site.shape(values);
  site.require(site.shape(gradient) == shape, "the gradient does not have the shape of the values");
  Dims joined;
  site.require(broadcast(site.shape(learningRate), shape, joined) && joined == shape,
               "the learning rate does not broadcast to the values");
  return site.add_one({learningRate, values, gradient}, {shape, site.floating_type({learningRate, values, gradient})},
                      [shape](const Operands& in) {
                        const Values rate = expanded(in[0], shape);
                        Values result = in[1].values;
                        for (std::size_t i = 0; i < result.size(); ++i) result[i] -= rate[i] * in[2].values[i];
                        return result;
                      });
}
@end
