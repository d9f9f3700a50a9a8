#include "metal/convolution_descriptor.hpp"
#include "metal/lowerings.hpp"

namespace mpsgraph_native::metal {
namespace {

template <class Attributes>
DepthwiseConvolution2DGeometry geometry_of(const Attributes& attributes, const Shape& source, const Shape& weights) {
  return depthwise_convolution_2d_geometry(attributes.name, attributes.descriptor, source, "source", weights,
                                           "weights");
}

MPSGraphDepthwiseConvolution2DOpDescriptor* depthwise_descriptor(const DepthwiseConvolution2DDescriptor& descriptor,
                                                                 const WindowAxis& y, const WindowAxis& x) {
  return [MPSGraphDepthwiseConvolution2DOpDescriptor descriptorWithStrideInX:static_cast<NSUInteger>(x.stride)
                                                                   strideInY:static_cast<NSUInteger>(y.stride)
                                                             dilationRateInX:static_cast<NSUInteger>(x.dilation)
                                                             dilationRateInY:static_cast<NSUInteger>(y.dilation)
                                                                 paddingLeft:static_cast<NSUInteger>(x.padding_before)
                                                                paddingRight:static_cast<NSUInteger>(x.padding_after)
                                                                  paddingTop:static_cast<NSUInteger>(y.padding_before)
                                                               paddingBottom:static_cast<NSUInteger>(y.padding_after)
                                                                paddingStyle:MPSGraphPaddingStyleExplicit
                                                                  dataLayout:layout_of(descriptor.data_layout)
                                                               weightsLayout:layout_of(descriptor.weights_layout)];
}

// The same convolution with as many groups as channels: of output channel c·multiplier + m the weights are [m, c] in
// the depthwise layout OIHW, [c, m] in HWIO.

Shape grouped_shape(const DepthwiseConvolution2DGeometry& geometry) {
  const std::int64_t outputs = geometry.channels * geometry.multiplier;
  if (geometry.multiplier_last) return {geometry.y.kernel, geometry.x.kernel, 1, outputs};
  return {outputs, 1, geometry.y.kernel, geometry.x.kernel};
}

/// OIHW with the channel before the multiplier.
Shape channels_first(const DepthwiseConvolution2DGeometry& geometry) {
  return {geometry.channels, geometry.multiplier, geometry.y.kernel, geometry.x.kernel};
}

MPSGraphTensor* grouped_weights(MPSGraph* graph, MPSGraphTensor* weights,
                                const DepthwiseConvolution2DGeometry& geometry) {
  if (!geometry.multiplier_last)
    weights = copied(graph, transposed(graph, weights, {1, 0, 2, 3}), channels_first(geometry));
  return reshaped(graph, weights, grouped_shape(geometry));
}

MPSGraphTensor* depthwise_weights(MPSGraph* graph, MPSGraphTensor* weights,
                                  const DepthwiseConvolution2DGeometry& geometry, const Shape& shape) {
  if (geometry.multiplier_last) return reshaped(graph, weights, shape);
  return transposed(graph, reshaped(graph, weights, channels_first(geometry)), {1, 0, 2, 3});
}

MPSGraphTensor* padded_source(MPSGraph* graph, MPSGraphTensor* source, DepthwiseConvolution2DGeometry& geometry) {
  const std::int64_t top = geometry.y.padding_before, bottom = geometry.y.padding_after;
  const std::int64_t left = geometry.x.padding_before, right = geometry.x.padding_after;
  geometry.y.padding_before = geometry.y.padding_after = geometry.x.padding_before = geometry.x.padding_after = 0;
  if (geometry.channels_last) return padded(graph, source, {0, top, left, 0}, {0, bottom, right, 0}, 0);
  return padded(graph, source, {0, 0, top, left}, {0, 0, bottom, right}, 0);
}

}  // namespace

Lowered lower(const DepthwiseConvolution2D& attributes, const LoweringSite& site) {
  const auto geometry = geometry_of(attributes, site.input_types[0]->shape, site.input_types[1]->shape);
  return {[site.graph
      depthwiseConvolution2DWithSourceTensor:site.inputs[0]
                               weightsTensor:weights_of(attributes, site)
                                  descriptor:depthwise_descriptor(attributes.descriptor, geometry.y, geometry.x)
                                        name:nil]};
}

Lowered lower(const DepthwiseConvolution2DDataGradient& attributes, const LoweringSite& site) {
  const auto geometry = geometry_of(attributes, attributes.output_shape, site.input_types[1]->shape);
  NSArray<NSNumber*>* output_shape = shape_array(attributes.output_shape);
  if (concerned(Fault::DepthwiseMultiplier, attributes, site))
    return {[site.graph
        convolution2DDataGradientWithIncomingGradientTensor:site.inputs[0]
                                              weightsTensor:grouped_weights(site.graph, weights_of(attributes, site),
                                                                            geometry)
                                                outputShape:output_shape
                               forwardConvolutionDescriptor:convolution_descriptor(attributes.descriptor,
                                                                                   geometry.channels, geometry.y,
                                                                                   geometry.x)
                                                       name:nil]};
  return {[site.graph
      depthwiseConvolution2DDataGradientWithIncomingGradientTensor:site.inputs[0]
                                                     weightsTensor:weights_of(attributes, site)
                                                       outputShape:output_shape
                                                        descriptor:depthwise_descriptor(attributes.descriptor,
                                                                                        geometry.y, geometry.x)
                                                              name:nil]};
}

Lowered lower(const DepthwiseConvolution2DWeightsGradient& attributes, const LoweringSite& site) {
  auto geometry = geometry_of(attributes, site.input_types[1]->shape, attributes.output_shape);
  const bool grouped = concerned(Fault::DepthwiseMultiplier, attributes, site);
  const bool pads = concerned(Fault::DepthwisePadding, attributes, site);
  return {weights_gradient(attributes, site, [&](MPSGraphTensor* gradient, MPSGraphTensor* source) {
    if (grouped) {
      MPSGraphTensor* weights = [site.graph
          convolution2DWeightsGradientWithIncomingGradientTensor:gradient
                                                    sourceTensor:source
                                                     outputShape:shape_array(grouped_shape(geometry))
                                    forwardConvolutionDescriptor:convolution_descriptor(attributes.descriptor,
                                                                                        geometry.channels, geometry.y,
                                                                                        geometry.x)
                                                            name:nil];
      return depthwise_weights(site.graph, weights, geometry, attributes.output_shape);
    }
    if (pads) source = padded_source(site.graph, source, geometry);
    return [site.graph
        depthwiseConvolution2DWeightsGradientWithIncomingGradientTensor:gradient
                                                           sourceTensor:source
                                                            outputShape:shape_array(attributes.output_shape)
                                                             descriptor:depthwise_descriptor(attributes.descriptor,
                                                                                             geometry.y, geometry.x)
                                                                   name:nil];
  })};
}

}  // namespace mpsgraph_native::metal
