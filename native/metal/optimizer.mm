#include "metal/lowerings.hpp"
#include "metal/tensors.hpp"

namespace mpsgraph_native::metal {

Lowered lower(const StochasticGradientDescent&, const LoweringSite& site) {
  // One element of a higher rank than the values would raise the result's rank.
  MPSGraphTensor* learning_rate = reshaped(site.graph, site.inputs[0], {});
  return {[site.graph stochasticGradientDescentWithLearningRateTensor:learning_rate
                                                         valuesTensor:site.inputs[1]
                                                       gradientTensor:site.inputs[2]
                                                                 name:nil]};
}

}  // namespace mpsgraph_native::metal
