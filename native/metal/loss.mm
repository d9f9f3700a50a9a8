#include "graph/axes.hpp"
#include "metal/lowerings.hpp"
#include "metal/tensors.hpp"

namespace mpsgraph_native::metal {
namespace {

MPSGraphLossReductionType reduction_type(LossReductionType type) {
  return static_cast<MPSGraphLossReductionType>(type);
}

}  // namespace

Lowered lower(const SoftmaxCrossEntropy& attributes, const LoweringSite& site) {
  MPSGraphTensor* loss =
      [site.graph softMaxCrossEntropyWithSourceTensor:site.inputs[0]
                                         labelsTensor:site.inputs[1]
                                                 axis:resolve_axis(attributes.name, "axis", attributes.axis,
                                                                   site.input_types[0]->shape.rank())
                                        reductionType:reduction_type(attributes.reduction_type)
                                                 name:nil];
  // Whether the axis stays with size 1 is not documented.
  return {reshaped(site.graph, loss, site.output_types[0].shape)};
}

Lowered lower(const SoftmaxCrossEntropyGradient& attributes, const LoweringSite& site) {
  return {[site.graph
      softMaxCrossEntropyGradientWithIncomingGradientTensor:site.inputs[0]
                                               sourceTensor:site.inputs[1]
                                               labelsTensor:site.inputs[2]
                                                       axis:resolve_axis(attributes.name, "axis", attributes.axis,
                                                                         site.input_types[1]->shape.rank())
                                              reductionType:reduction_type(attributes.reduction_type)
                                                       name:nil]};
}

}  // namespace mpsgraph_native::metal
