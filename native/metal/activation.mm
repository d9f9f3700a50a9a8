#include "graph/axes.hpp"
#include "metal/lowerings.hpp"

namespace mpsgraph_native::metal {
namespace {

NSInteger axis_of(std::string_view operation, std::int64_t axis, const TensorType& type) {
  return resolve_axis(operation, "axis", axis, type.shape.rank());
}

}  // namespace

Lowered lower(const Relu&, const LoweringSite& site) { return {[site.graph reLUWithTensor:site.inputs[0] name:nil]}; }

Lowered lower(const ReluGradient&, const LoweringSite& site) {
  return {[site.graph reLUGradientWithIncomingGradient:site.inputs[0] sourceTensor:site.inputs[1] name:nil]};
}

Lowered lower(const Sigmoid&, const LoweringSite& site) {
  return {[site.graph sigmoidWithTensor:site.inputs[0] name:nil]};
}

Lowered lower(const SigmoidGradient&, const LoweringSite& site) {
  return {[site.graph sigmoidGradientWithIncomingGradient:site.inputs[0] sourceTensor:site.inputs[1] name:nil]};
}

Lowered lower(const Softmax& attributes, const LoweringSite& site) {
  return {[site.graph softMaxWithTensor:site.inputs[0]
                                   axis:axis_of(attributes.name, attributes.axis, *site.input_types[0])
                                   name:nil]};
}

Lowered lower(const SoftmaxGradient& attributes, const LoweringSite& site) {
  return {[site.graph
      softMaxGradientWithIncomingGradient:site.inputs[0]
                             sourceTensor:site.inputs[1]
                                     axis:axis_of(attributes.name, attributes.axis, *site.input_types[1])
                                     name:nil]};
}

}  // namespace mpsgraph_native::metal
