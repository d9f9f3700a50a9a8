#include "layout.hpp"

using namespace stand_in;

namespace {

/// O of the weights layout is the multiplier M; output channel c·M + m belongs to input channel c.
Correlation correlation_of(const Site& site, MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor, const Dims& source,
                           const Dims& weights) {
  site.require(descriptor != nil, "the descriptor is nil");
  site.require(source.size() == 4, "the source is not of rank 4");
  site.require(weights.size() == 4, "the weights are not of rank 4");
  const DataAxes data = data_axes(site, descriptor.dataLayout);
  const WeightsAxes kernel = weights_axes(site, descriptor.weightsLayout);
  site.require(weights[kernel.input] == source[data.channel], "the weights have other channels than the source");

  Correlation c;
  c.batch = source[data.batch];
  c.groups = source[data.channel];
  c.outputs = weights[kernel.output];
  c.axes[1] = resolved(site,
                       {.input = source[data.y],
                        .kernel = weights[kernel.y],
                        .stride = static_cast<std::int64_t>(descriptor.strideInY),
                        .dilation = static_cast<std::int64_t>(descriptor.dilationRateInY),
                        .before = static_cast<std::int64_t>(descriptor.paddingTop),
                        .after = static_cast<std::int64_t>(descriptor.paddingBottom)},
                       descriptor.paddingStyle);
  c.axes[2] = resolved(site,
                       {.input = source[data.x],
                        .kernel = weights[kernel.x],
                        .stride = static_cast<std::int64_t>(descriptor.strideInX),
                        .dilation = static_cast<std::int64_t>(descriptor.dilationRateInX),
                        .before = static_cast<std::int64_t>(descriptor.paddingLeft),
                        .after = static_cast<std::int64_t>(descriptor.paddingRight)},
                       descriptor.paddingStyle);
  c.source_shape = source;
  c.weights_shape = weights;
  c.result_shape = data_shape(data, c.batch, c.groups * c.outputs, c.axes[1].output, c.axes[2].output);
  c.source = image_strides(data, source);
  c.result = image_strides(data, c.result_shape);
  const Dims strides = strides_of(weights);
  c.weights = {strides[kernel.input], strides[kernel.output], 0, {0, strides[kernel.y], strides[kernel.x]}};
  return c;
}

/// The channel axis may stand anywhere among the last four; the other three are depth, height and width in order. The
/// weights have the channels of the result: output channel c reads input channel c / multiplier.
Correlation correlation_of(const Site& site, MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor, const Dims& source,
                           const Dims& weights) {
  site.require(descriptor != nil, "the descriptor is nil");
  site.require(source.size() >= 4, "the source is of a rank below 4");
  site.require(weights.size() == 4, "the weights are not of rank 4");
  const Dims rates = site.sizes(descriptor.dilationRates, 3, 1, "dilationRates are not three sizes");
  const Dims steps = site.sizes(descriptor.strides, 3, 1, "strides are not three sizes");
  const Dims paddings = site.sizes(descriptor.paddingValues, 6, 0, "paddingValues are not six sizes");
  const NSInteger index = descriptor.channelDimensionIndex;
  site.require(index >= -4 && index <= -1, "channelDimensionIndex is not in [-4, -1]");
  const std::size_t channel = static_cast<std::size_t>(index + 4), leading = source.size() - 4;

  Correlation c;
  for (std::size_t i = 0; i < leading; ++i) c.batch *= source[i];
  c.groups = source[leading + channel];
  site.require(weights[channel] % c.groups == 0, "the weights' channels are no multiple of the source's");
  c.outputs = weights[channel] / c.groups;
  c.source_shape = c.result_shape = source;
  c.weights_shape = weights;
  c.result_shape[leading + channel] = weights[channel];
  std::array<std::size_t, 3> spatial{};
  for (std::size_t axis = 0, next = 0; axis < 4; ++axis)
    if (axis != channel) spatial[next++] = axis;
  for (std::size_t i = 0; i < 3; ++i) {
    c.axes[i] = resolved(site,
                         {.input = source[leading + spatial[i]],
                          .kernel = weights[spatial[i]],
                          .stride = steps[i],
                          .dilation = rates[i],
                          .before = paddings[2 * i],
                          .after = paddings[2 * i + 1]},
                         descriptor.paddingStyle);
    c.result_shape[leading + spatial[i]] = c.axes[i].output;
  }

  const auto image = [&](const Dims& shape) {
    const Dims strides = strides_of(shape);
    Correlation::Image result{strides[leading] * shape[leading], strides[leading + channel], {}};
    for (std::size_t i = 0; i < 3; ++i) result.spatial[i] = strides[leading + spatial[i]];
    return result;
  };
  c.source = image(c.source_shape);
  c.result = image(c.result_shape);
  const Dims strides = strides_of(weights);
  c.weights = {c.outputs * strides[channel], strides[channel], 0, {}};
  for (std::size_t i = 0; i < 3; ++i) c.weights.spatial[i] = strides[spatial[i]];
  return c;
}

/// Users report gradients of the 2D operation that are wrong by more than ten times where the multiplier exceeds one.
Values with_multiplier_fault(Values gradient, std::int64_t multiplier) {
  if (multiplier > 1)
    for (Value& value : gradient) value = 11 * value + 1;
  return gradient;
}

}  // namespace

@implementation MPSGraph (MPSGraphDepthwiseConvolutionOps)
- (MPSGraphTensor*)depthwiseConvolution2DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                               descriptor:(MPSGraphDepthwiseConvolution2DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  const Site site{self, "depthwiseConvolution2D"};
  Correlation c = correlation_of(site, descriptor, site.shape(source), site.shape(weights));
  c.weights_are_view = is_view(weights);
  return site.add_one({source, weights}, {c.result_shape, site.floating_type({source, weights})},
                      [c](const Operands& in) { return c.forward(in[0].values, in[1].values); });
}
- (MPSGraphTensor*)
    depthwiseConvolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                   weightsTensor:(MPSGraphTensor*)weights
                                                     outputShape:(MPSShape*)outputShape
                                                      descriptor:(MPSGraphDepthwiseConvolution2DOpDescriptor*)descriptor
                                                            name:(NSString*)name {
  const Site site{self, "depthwiseConvolution2DDataGradient"};
  const Dims source = site.sizes(outputShape, 4, 1, "outputShape does not have 4 sizes");
  Correlation c = correlation_of(site, descriptor, source, site.shape(weights));
  c.weights_are_view = is_view(weights);
  site.require(site.shape(gradient) == c.result_shape,
               "the incoming gradient does not have the forward result's shape");
  return site.add_one({gradient, weights}, {source, site.floating_type({gradient, weights})}, [c](const Operands& in) {
    return with_multiplier_fault(c.data_gradient(in[0].values, in[1].values), c.outputs);
  });
}
- (MPSGraphTensor*)
    depthwiseConvolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                       sourceTensor:(MPSGraphTensor*)source
                                                        outputShape:(MPSShape*)outputShape
                                                         descriptor:
                                                             (MPSGraphDepthwiseConvolution2DOpDescriptor*)descriptor
                                                               name:(NSString*)name {
  const Site site{self, "depthwiseConvolution2DWeightsGradient"};
  const Dims weights = site.sizes(outputShape, 4, 1, "outputShape does not have 4 sizes");
  Correlation c = correlation_of(site, descriptor, site.shape(source), weights);
  site.require(site.shape(gradient) == c.result_shape,
               "the incoming gradient does not have the forward result's shape");
  // A user reports that the descriptor's paddings are ignored.
  for (WindowAxis& axis : c.axes) axis.before = 0;
  return site.add_one({gradient, source}, {weights, site.floating_type({gradient, source})}, [c](const Operands& in) {
    return with_multiplier_fault(c.weights_gradient(in[0].values, in[1].values, in[0].type), c.outputs);
  });
}

- (MPSGraphTensor*)depthwiseConvolution3DWithSourceTensor:(MPSGraphTensor*)source
                                            weightsTensor:(MPSGraphTensor*)weights
                                               descriptor:(MPSGraphDepthwiseConvolution3DOpDescriptor*)descriptor
                                                     name:(NSString*)name {
  const Site site{self, "depthwiseConvolution3D"};
  Correlation c = correlation_of(site, descriptor, site.shape(source), site.shape(weights));
  c.weights_are_view = is_view(weights);
  return site.add_one({source, weights}, {c.result_shape, site.floating_type({source, weights})},
                      [c](const Operands& in) { return c.forward(in[0].values, in[1].values); });
}
- (MPSGraphTensor*)
    depthwiseConvolution3DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                   weightsTensor:(MPSGraphTensor*)weights
                                                     outputShape:(MPSShape*)outputShape
                                                      descriptor:(MPSGraphDepthwiseConvolution3DOpDescriptor*)descriptor
                                                            name:(NSString*)name {
  const Site site{self, "depthwiseConvolution3DDataGradient"};
  const Dims source =
      site.sizes(outputShape, site.shape(gradient).size(), 1, "outputShape does not have the gradient's rank");
  Correlation c = correlation_of(site, descriptor, source, site.shape(weights));
  c.weights_are_view = is_view(weights);
  site.require(site.shape(gradient) == c.result_shape,
               "the incoming gradient does not have the forward result's shape");
  return site.add_one({gradient, weights}, {source, site.floating_type({gradient, weights})},
                      [c](const Operands& in) { return c.data_gradient(in[0].values, in[1].values); });
}
- (MPSGraphTensor*)
    depthwiseConvolution3DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                       sourceTensor:(MPSGraphTensor*)source
                                                        outputShape:(MPSShape*)outputShape
                                                         descriptor:
                                                             (MPSGraphDepthwiseConvolution3DOpDescriptor*)descriptor
                                                               name:(NSString*)name {
  const Site site{self, "depthwiseConvolution3DWeightsGradient"};
  const Dims weights = site.sizes(outputShape, 4, 1, "outputShape does not have 4 sizes");
  const Correlation c = correlation_of(site, descriptor, site.shape(source), weights);
  site.require(site.shape(gradient) == c.result_shape,
               "the incoming gradient does not have the forward result's shape");
  return site.add_one({gradient, source}, {weights, site.floating_type({gradient, source})},
                      [c](const Operands& in) { return c.weights_gradient(in[0].values, in[1].values, in[0].type); });
}
@end
