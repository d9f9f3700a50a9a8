#include "metal/convolution_descriptor.hpp"
#include "metal/lowerings.hpp"

namespace mpsgraph_native::metal {
namespace {

template <class Attributes>
MPSGraphConvolution2DOpDescriptor* resolved_descriptor(const Attributes& attributes, const Shape& source,
                                                       const Shape& weights) {
  const Convolution2DGeometry geometry =
      convolution_2d_geometry(attributes.name, attributes.descriptor, source, "source", weights, "weights");
  return convolution_descriptor(attributes.descriptor, geometry.groups, geometry.y, geometry.x);
}

}  // namespace

Lowered lower(const Convolution2D& attributes, const LoweringSite& site) {
  return {[site.graph convolution2DWithSourceTensor:site.inputs[0]
                                      weightsTensor:weights_of(attributes, site)
                                         descriptor:resolved_descriptor(attributes, site.input_types[0]->shape,
                                                                        site.input_types[1]->shape)
                                               name:nil]};
}

Lowered lower(const Convolution2DDataGradient& attributes, const LoweringSite& site) {
  return {[site.graph
      convolution2DDataGradientWithIncomingGradientTensor:site.inputs[0]
                                            weightsTensor:weights_of(attributes, site)
                                              outputShape:shape_array(attributes.output_shape)
                             forwardConvolutionDescriptor:resolved_descriptor(attributes, attributes.output_shape,
                                                                              site.input_types[1]->shape)
                                                     name:nil]};
}

Lowered lower(const Convolution2DWeightsGradient& attributes, const LoweringSite& site) {
  MPSGraphConvolution2DOpDescriptor* descriptor =
      resolved_descriptor(attributes, site.input_types[1]->shape, attributes.output_shape);
  return {weights_gradient(attributes, site, [&](MPSGraphTensor* gradient, MPSGraphTensor* source) {
    return [site.graph convolution2DWeightsGradientWithIncomingGradientTensor:gradient
                                                                 sourceTensor:source
                                                                  outputShape:shape_array(attributes.output_shape)
                                                 forwardConvolutionDescriptor:descriptor
                                                                         name:nil];
  })};
}

}  // namespace mpsgraph_native::metal
