#pragma once

#include "metal/tensors.hpp"

namespace mpsgraph_native::metal {

constexpr MPSGraphTensorNamedDataLayout layout_of(TensorNamedDataLayout layout) {
  return static_cast<MPSGraphTensorNamedDataLayout>(layout);
}

/// The descriptor with its padding style resolved: Apple publishes no formula for the styles, explicit padding means
/// the same everywhere.
template <class Descriptor>
MPSGraphConvolution2DOpDescriptor* convolution_descriptor(const Descriptor& descriptor, std::int64_t groups,
                                                          const WindowAxis& y, const WindowAxis& x) {
  return [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:static_cast<NSUInteger>(x.stride)
                                                          strideInY:static_cast<NSUInteger>(y.stride)
                                                    dilationRateInX:static_cast<NSUInteger>(x.dilation)
                                                    dilationRateInY:static_cast<NSUInteger>(y.dilation)
                                                             groups:static_cast<NSUInteger>(groups)
                                                        paddingLeft:static_cast<NSUInteger>(x.padding_before)
                                                       paddingRight:static_cast<NSUInteger>(x.padding_after)
                                                         paddingTop:static_cast<NSUInteger>(y.padding_before)
                                                      paddingBottom:static_cast<NSUInteger>(y.padding_after)
                                                       paddingStyle:MPSGraphPaddingStyleExplicit
                                                         dataLayout:layout_of(descriptor.data_layout)
                                                      weightsLayout:layout_of(descriptor.weights_layout)];
}

/// Weights as a convolution needs them: in an array of their own where a view would be misread.
template <class Attributes>
MPSGraphTensor* weights_of(const Attributes& attributes, const LoweringSite& site) {
  if (!concerned(Fault::StridedWeights, attributes, site)) return site.inputs[1];
  return copied(site.graph, site.inputs[1], site.input_types[1]->shape);
}

/// A weights gradient that is accumulated in float32 whatever the operands are. `add` takes gradient and source.
template <class Attributes, class Add>
MPSGraphTensor* weights_gradient(const Attributes& attributes, const LoweringSite& site, Add&& add) {
  if (!concerned(Fault::HalfWeightsGradient, attributes, site)) return add(site.inputs[0], site.inputs[1]);
  MPSGraphTensor* result = add(converted(site.graph, site.inputs[0], DataType::Float32),
                               converted(site.graph, site.inputs[1], DataType::Float32));
  return converted(site.graph, result, site.output_types[0].dtype);
}

}  // namespace mpsgraph_native::metal
