#include "graph.hpp"

using stand_in::repeated;
using stand_in::require;

@implementation MPSGraphConvolution2DOpDescriptor
- (instancetype)init {
  if ((self = [super init])) {
    self.strideInX = self.strideInY = self.dilationRateInX = self.dilationRateInY = self.groups = 1;
    self.weightsLayout = MPSGraphTensorNamedDataLayoutOIHW;
  }
  return self;
}
+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                                 groups:(NSUInteger)groups
                            paddingLeft:(NSUInteger)left
                           paddingRight:(NSUInteger)right
                             paddingTop:(NSUInteger)top
                          paddingBottom:(NSUInteger)bottom
                           paddingStyle:(MPSGraphPaddingStyle)style
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  const char* method = "MPSGraphConvolution2DOpDescriptor";
  require(strideInX > 0 && strideInY > 0, method, "strides must be positive");
  require(dilationRateInX > 0 && dilationRateInY > 0, method, "dilation rates must be positive");
  require(groups > 0, method, "groups must be positive");
  MPSGraphConvolution2DOpDescriptor* descriptor = [[self alloc] init];
  descriptor.strideInX = strideInX;
  descriptor.strideInY = strideInY;
  descriptor.dilationRateInX = dilationRateInX;
  descriptor.dilationRateInY = dilationRateInY;
  descriptor.groups = groups;
  [descriptor setExplicitPaddingWithPaddingLeft:left paddingRight:right paddingTop:top paddingBottom:bottom];
  descriptor.paddingStyle = style;
  descriptor.dataLayout = dataLayout;
  descriptor.weightsLayout = weightsLayout;
  return descriptor;
}
+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                                 groups:(NSUInteger)groups
                           paddingStyle:(MPSGraphPaddingStyle)style
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  return [self descriptorWithStrideInX:strideInX
                             strideInY:strideInY
                       dilationRateInX:dilationRateInX
                       dilationRateInY:dilationRateInY
                                groups:groups
                           paddingLeft:0
                          paddingRight:0
                            paddingTop:0
                         paddingBottom:0
                          paddingStyle:style
                            dataLayout:dataLayout
                         weightsLayout:weightsLayout];
}
- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)left
                             paddingRight:(NSUInteger)right
                               paddingTop:(NSUInteger)top
                            paddingBottom:(NSUInteger)bottom {
  self.paddingLeft = left;
  self.paddingRight = right;
  self.paddingTop = top;
  self.paddingBottom = bottom;
  self.paddingStyle = MPSGraphPaddingStyleExplicit;
}
- (id)copyWithZone:(NSZone*)zone {
  return [MPSGraphConvolution2DOpDescriptor descriptorWithStrideInX:self.strideInX
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

@implementation MPSGraphDepthwiseConvolution2DOpDescriptor
- (instancetype)init {
  if ((self = [super init])) {
    self.strideInX = self.strideInY = self.dilationRateInX = self.dilationRateInY = 1;
    self.weightsLayout = MPSGraphTensorNamedDataLayoutOIHW;
  }
  return self;
}
+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                            paddingLeft:(NSUInteger)left
                           paddingRight:(NSUInteger)right
                             paddingTop:(NSUInteger)top
                          paddingBottom:(NSUInteger)bottom
                           paddingStyle:(MPSGraphPaddingStyle)style
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  const char* method = "MPSGraphDepthwiseConvolution2DOpDescriptor";
  require(strideInX > 0 && strideInY > 0, method, "strides must be positive");
  require(dilationRateInX > 0 && dilationRateInY > 0, method, "dilation rates must be positive");
  MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor = [self descriptorWithDataLayout:dataLayout
                                                                            weightsLayout:weightsLayout];
  descriptor.strideInX = strideInX;
  descriptor.strideInY = strideInY;
  descriptor.dilationRateInX = dilationRateInX;
  descriptor.dilationRateInY = dilationRateInY;
  [descriptor setExplicitPaddingWithPaddingLeft:left paddingRight:right paddingTop:top paddingBottom:bottom];
  descriptor.paddingStyle = style;
  return descriptor;
}
+ (instancetype)descriptorWithDataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                           weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor = [[self alloc] init];
  descriptor.dataLayout = dataLayout;
  descriptor.weightsLayout = weightsLayout;
  return descriptor;
}
- (void)setExplicitPaddingWithPaddingLeft:(NSUInteger)left
                             paddingRight:(NSUInteger)right
                               paddingTop:(NSUInteger)top
                            paddingBottom:(NSUInteger)bottom {
  self.paddingLeft = left;
  self.paddingRight = right;
  self.paddingTop = top;
  self.paddingBottom = bottom;
  self.paddingStyle = MPSGraphPaddingStyleExplicit;
}
- (id)copyWithZone:(NSZone*)zone {
  return [MPSGraphDepthwiseConvolution2DOpDescriptor descriptorWithStrideInX:self.strideInX
                                                                   strideInY:self.strideInY
                                                             dilationRateInX:self.dilationRateInX
                                                             dilationRateInY:self.dilationRateInY
                                                                 paddingLeft:self.paddingLeft
                                                                paddingRight:self.paddingRight
                                                                  paddingTop:self.paddingTop
                                                               paddingBottom:self.paddingBottom
                                                                paddingStyle:self.paddingStyle
                                                                  dataLayout:self.dataLayout
                                                               weightsLayout:self.weightsLayout];
}
@end

@implementation MPSGraphDepthwiseConvolution3DOpDescriptor
+ (instancetype)descriptorWithStrides:(NSArray<NSNumber*>*)strides
                        dilationRates:(NSArray<NSNumber*>*)dilationRates
                        paddingValues:(NSArray<NSNumber*>*)paddingValues
                         paddingStyle:(MPSGraphPaddingStyle)style {
  const char* method = "MPSGraphDepthwiseConvolution3DOpDescriptor";
  require(strides.count == 3 && dilationRates.count == 3, method, "strides and dilation rates must have 3 elements");
  require(paddingValues.count == 6, method, "padding values must have 6 elements");
  MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor = [self descriptorWithPaddingStyle:style];
  descriptor.strides = strides;
  descriptor.dilationRates = dilationRates;
  descriptor.paddingValues = paddingValues;
  return descriptor;
}
+ (instancetype)descriptorWithPaddingStyle:(MPSGraphPaddingStyle)style {
  MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor = [[self alloc] init];
  descriptor.strides = repeated(@1, 3);
  descriptor.dilationRates = repeated(@1, 3);
  descriptor.paddingValues = repeated(@0, 6);
  descriptor.paddingStyle = style;
  descriptor.channelDimensionIndex = -4;
  return descriptor;
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphDepthwiseConvolution3DOpDescriptor* copied =
      [MPSGraphDepthwiseConvolution3DOpDescriptor descriptorWithStrides:self.strides
                                                          dilationRates:self.dilationRates
                                                          paddingValues:self.paddingValues
                                                           paddingStyle:self.paddingStyle];
  copied.channelDimensionIndex = self.channelDimensionIndex;
  return copied;
}
@end
