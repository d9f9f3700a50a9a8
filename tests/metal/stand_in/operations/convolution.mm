#include "layout.hpp"

using namespace stand_in;

/// Values that no documentation gives a default for start out invalid, so that an engine that leaves one unset asserts.
@implementation MPSGraphConvolution2DOpDescriptor
- (instancetype)init {
  if ((self = [super init])) {
    self.strideInX = self.strideInY = 1;
    self.dilationRateInX = self.dilationRateInY = 1;
    self.groups = 0;
    self.paddingStyle = MPSGraphPaddingStyleExplicitOffset;
    self.dataLayout = MPSGraphTensorNamedDataLayoutHW;
    self.weightsLayout = MPSGraphTensorNamedDataLayoutHW;
  }
  return self;
}
+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                                 groups:(NSUInteger)groups
                            paddingLeft:(NSUInteger)paddingLeft
                           paddingRight:(NSUInteger)paddingRight
                             paddingTop:(NSUInteger)paddingTop
                          paddingBottom:(NSUInteger)paddingBottom
                           paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphConvolution2DOpDescriptor* descriptor = [self descriptorWithStrideInX:strideInX
                                                                      strideInY:strideInY
                                                                dilationRateInX:dilationRateInX
                                                                dilationRateInY:dilationRateInY
                                                                         groups:groups
                                                                   paddingStyle:paddingStyle
                                                                     dataLayout:dataLayout
                                                                  weightsLayout:weightsLayout];
  [descriptor setExplicitPaddingWithPaddingLeft:paddingLeft
                                   paddingRight:paddingRight
                                     paddingTop:paddingTop
                                  paddingBottom:paddingBottom];
  return descriptor;
}
+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                                 groups:(NSUInteger)groups
                           paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphConvolution2DOpDescriptor* descriptor = [[self alloc] init];
  descriptor.strideInX = strideInX;
  descriptor.strideInY = strideInY;
  descriptor.dilationRateInX = dilationRateInX;
  descriptor.dilationRateInY = dilationRateInY;
  descriptor.groups = groups;
  descriptor.paddingStyle = paddingStyle;
  descriptor.dataLayout = dataLayout;
  descriptor.weightsLayout = weightsLayout;
  return descriptor;
}
- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom {
  self.paddingLeft = paddingLeft;
  self.paddingRight = paddingRight;
  self.paddingTop = paddingTop;
  self.paddingBottom = paddingBottom;
}
- (id)copyWithZone:(NSZone*)zone {
  return [[self class] descriptorWithStrideInX:self.strideInX
                                     strideInY:self.strideInY
                               dilationRateInX:self.dilationRateInX
                               dilationRateInY:self.dilationRateInY
                                        groups:self.groups
                                   paddingLeft:self.paddingLeft
                                  paddingRight:self.paddingRight
                                    paddingTop:self.paddingTop
                                 paddingBottom:self.paddingBottom
                                  paddingStyle:self.paddingStyle
                                    dataLayout:self.dataLayout
                                 weightsLayout:self.weightsLayout];
}
@end

namespace {

Correlation correlation_of(const Site& site, MPSGraphConvolution2DOpDescriptor* descriptor, const Dims& source,
                           const Dims& weights) {
  site.require(descriptor != nil, "the descriptor is nil");
  site.require(source.size() == 4, "the source is not of rank 4");
  site.require(weights.size() == 4, "the weights are not of rank 4");
  const DataAxes data = data_axes(site, descriptor.dataLayout);
  const WeightsAxes kernel = weights_axes(site, descriptor.weightsLayout);
  const std::int64_t groups = static_cast<std::int64_t>(descriptor.groups);
  site.require(groups > 0, "groups is not set");
  const std::int64_t input_channels = source[data.channel], output_channels = weights[kernel.output];
  site.require(input_channels % groups == 0, "groups does not divide the channels of the source");
  site.require(output_channels % groups == 0, "groups does not divide the output channels");
  site.require(weights[kernel.input] == input_channels / groups, "the weights have other input channels");

  Correlation c;
  c.batch = source[data.batch];
  c.groups = groups;
  c.inputs = input_channels / groups;
  c.outputs = output_channels / groups;
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
  c.result_shape = data_shape(data, c.batch, output_channels, c.axes[1].output, c.axes[2].output);
  c.source = image_strides(data, source);
  c.result = image_strides(data, c.result_shape);
  const Dims strides = strides_of(weights);
  c.weights = {c.outputs * strides[kernel.output],
               strides[kernel.output],
               strides[kernel.input],
               {0, strides[kernel.y], strides[kernel.x]}};
  return c;
}

}  // namespace

@implementation MPSGraph (MPSGraphConvolutionOps)
- (MPSGraphTensor*)convolution2DWithSourceTensor:(MPSGraphTensor*)source
                                   weightsTensor:(MPSGraphTensor*)weights
                                      descriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                            name:(NSString*)name {
  const Site site{self, "convolution2D"};
  Correlation c = correlation_of(site, descriptor, site.shape(source), site.shape(weights));
  c.weights_are_view = is_view(weights);
  return site.add_one({source, weights}, {c.result_shape, site.floating_type({source, weights})},
                      [c](const Operands& in) { return c.forward(in[0].values, in[1].values); });
}
- (MPSGraphTensor*)convolution2DDataGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                         weightsTensor:(MPSGraphTensor*)weights
                                                           outputShape:(MPSShape*)outputShape
                                          forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                  name:(NSString*)name {
  const Site site{self, "convolution2DDataGradient"};
  const Dims source = site.sizes(outputShape, 4, 1, "outputShape does not have 4 sizes");
  Correlation c = correlation_of(site, descriptor, source, site.shape(weights));
  c.weights_are_view = is_view(weights);
  site.require(site.shape(gradient) == c.result_shape,
               "the incoming gradient does not have the forward result's shape");
  return site.add_one({gradient, weights}, {source, site.floating_type({gradient, weights})},
                      [c](const Operands& in) { return c.data_gradient(in[0].values, in[1].values); });
}
- (MPSGraphTensor*)convolution2DWeightsGradientWithIncomingGradientTensor:(MPSGraphTensor*)gradient
                                                             sourceTensor:(MPSGraphTensor*)source
                                                              outputShape:(MPSShape*)outputShape
                                             forwardConvolutionDescriptor:(MPSGraphConvolution2DOpDescriptor*)descriptor
                                                                     name:(NSString*)name {
  const Site site{self, "convolution2DWeightsGradient"};
  const Dims weights = site.sizes(outputShape, 4, 1, "outputShape does not have 4 sizes");
  const Correlation c = correlation_of(site, descriptor, site.shape(source), weights);
  site.require(site.shape(gradient) == c.result_shape,
               "the incoming gradient does not have the forward result's shape");
  return site.add_one({gradient, source}, {weights, site.floating_type({gradient, source})},
                      [c](const Operands& in) { return c.weights_gradient(in[0].values, in[1].values, in[0].type); });
}
@end
