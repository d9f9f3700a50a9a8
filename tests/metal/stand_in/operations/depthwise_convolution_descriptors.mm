#include "support.hpp"

using namespace stand_in;

/// The layouts have no documented default: they start out invalid, so that an engine that leaves one unset asserts.
@implementation MPSGraphDepthwiseConvolution2DOpDescriptor
- (instancetype)init {
  if ((self = [super init])) {
    self.strideInX = self.strideInY = 1;
    self.dilationRateInX = self.dilationRateInY = 1;
    self.paddingStyle = MPSGraphPaddingStyleExplicit;
    self.dataLayout = MPSGraphTensorNamedDataLayoutHW;
    self.weightsLayout = MPSGraphTensorNamedDataLayoutHW;
  }
  return self;
}
+ (instancetype)descriptorWithStrideInX:(NSUInteger)strideInX
                              strideInY:(NSUInteger)strideInY
                        dilationRateInX:(NSUInteger)dilationRateInX
                        dilationRateInY:(NSUInteger)dilationRateInY
                            paddingLeft:(NSUInteger)paddingLeft
                           paddingRight:(NSUInteger)paddingRight
                             paddingTop:(NSUInteger)paddingTop
                          paddingBottom:(NSUInteger)paddingBottom
                           paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                             dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                          weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor = [self descriptorWithDataLayout:dataLayout
                                                                            weightsLayout:weightsLayout];
  descriptor.strideInX = strideInX;
  descriptor.strideInY = strideInY;
  descriptor.dilationRateInX = dilationRateInX;
  descriptor.dilationRateInY = dilationRateInY;
  [descriptor setExplicitPaddingWithPaddingLeft:paddingLeft
                                   paddingRight:paddingRight
                                     paddingTop:paddingTop
                                  paddingBottom:paddingBottom];
  descriptor.paddingStyle = paddingStyle;
  return descriptor;
}
+ (instancetype)descriptorWithDataLayout:(MPSGraphTensorNamedDataLayout)dataLayout
                           weightsLayout:(MPSGraphTensorNamedDataLayout)weightsLayout {
  MPSGraphDepthwiseConvolution2DOpDescriptor* descriptor = [[self alloc] init];
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
  self.paddingStyle = MPSGraphPaddingStyleExplicit;
}
- (id)copyWithZone:(NSZone*)zone {
  return [[self class] descriptorWithStrideInX:self.strideInX
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
                         paddingStyle:(MPSGraphPaddingStyle)paddingStyle {
  MPSGraphDepthwiseConvolution3DOpDescriptor* descriptor = [[self alloc] init];
  descriptor.strides = strides;
  descriptor.dilationRates = dilationRates;
  descriptor.paddingValues = paddingValues;
  descriptor.paddingStyle = paddingStyle;
  descriptor.channelDimensionIndex = -4;
  return descriptor;
}
+ (instancetype)descriptorWithPaddingStyle:(MPSGraphPaddingStyle)paddingStyle {
  return [self descriptorWithStrides:@[ @1, @1, @1 ]
                       dilationRates:@[ @1, @1, @1 ]
                       paddingValues:@[ @0, @0, @0, @0, @0, @0 ]
                        paddingStyle:paddingStyle];
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphDepthwiseConvolution3DOpDescriptor* copy = [[self class] descriptorWithStrides:self.strides
                                                                           dilationRates:self.dilationRates
                                                                           paddingValues:self.paddingValues
                                                                            paddingStyle:self.paddingStyle];
  copy.channelDimensionIndex = self.channelDimensionIndex;
  return copy;
}
@end
