#include "support.hpp"

using namespace stand_in;

/// Kernel sizes and the layout have no documented default: they start out invalid. On an older macOS the properties of
/// indices have no methods.
@implementation MPSGraphPooling2DOpDescriptor
- (instancetype)init {
  if ((self = [super init])) {
    self.strideInX = self.strideInY = 1;
    self.dilationRateInX = self.dilationRateInY = 1;
    self.paddingStyle = MPSGraphPaddingStyleExplicit;
    self.dataLayout = MPSGraphTensorNamedDataLayoutHW;
    _returnIndicesDataType = MPSDataTypeInt32;
  }
  return self;
}
+ (instancetype)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                             kernelHeight:(NSUInteger)kernelHeight
                                strideInX:(NSUInteger)strideInX
                                strideInY:(NSUInteger)strideInY
                          dilationRateInX:(NSUInteger)dilationRateInX
                          dilationRateInY:(NSUInteger)dilationRateInY
                              paddingLeft:(NSUInteger)paddingLeft
                             paddingRight:(NSUInteger)paddingRight
                               paddingTop:(NSUInteger)paddingTop
                            paddingBottom:(NSUInteger)paddingBottom
                             paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                               dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout {
  MPSGraphPooling2DOpDescriptor* descriptor = [self descriptorWithKernelWidth:kernelWidth
                                                                 kernelHeight:kernelHeight
                                                                    strideInX:strideInX
                                                                    strideInY:strideInY
                                                                 paddingStyle:paddingStyle
                                                                   dataLayout:dataLayout];
  descriptor.dilationRateInX = dilationRateInX;
  descriptor.dilationRateInY = dilationRateInY;
  [descriptor setExplicitPaddingWithPaddingLeft:paddingLeft
                                   paddingRight:paddingRight
                                     paddingTop:paddingTop
                                  paddingBottom:paddingBottom];
  descriptor.paddingStyle = paddingStyle;
  return descriptor;
}
+ (instancetype)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                             kernelHeight:(NSUInteger)kernelHeight
                                strideInX:(NSUInteger)strideInX
                                strideInY:(NSUInteger)strideInY
                             paddingStyle:(MPSGraphPaddingStyle)paddingStyle
                               dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout {
  MPSGraphPooling2DOpDescriptor* descriptor = [[self alloc] init];
  descriptor.kernelWidth = kernelWidth;
  descriptor.kernelHeight = kernelHeight;
  descriptor.strideInX = strideInX;
  descriptor.strideInY = strideInY;
  descriptor.paddingStyle = paddingStyle;
  descriptor.dataLayout = dataLayout;
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
  MPSGraphPooling2DOpDescriptor* copy = [[self class] descriptorWithKernelWidth:self.kernelWidth
                                                                   kernelHeight:self.kernelHeight
                                                                      strideInX:self.strideInX
                                                                      strideInY:self.strideInY
                                                                dilationRateInX:self.dilationRateInX
                                                                dilationRateInY:self.dilationRateInY
                                                                    paddingLeft:self.paddingLeft
                                                                   paddingRight:self.paddingRight
                                                                     paddingTop:self.paddingTop
                                                                  paddingBottom:self.paddingBottom
                                                                   paddingStyle:self.paddingStyle
                                                                     dataLayout:self.dataLayout];
  copy.ceilMode = self.ceilMode;
  copy.includeZeroPadToAverage = self.includeZeroPadToAverage;
  copy->_returnIndicesMode = _returnIndicesMode;
  copy->_returnIndicesDataType = _returnIndicesDataType;
  return copy;
}
@end

@implementation MPSGraphPooling4DOpDescriptor
- (instancetype)init {
  if ((self = [super init])) {
    self.strides = self.dilationRates = @[ @1, @1, @1, @1 ];
    self.paddingValues = @[ @0, @0, @0, @0, @0, @0, @0, @0 ];
    _returnIndicesDataType = MPSDataTypeInt32;
  }
  return self;
}
+ (instancetype)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes
                                  strides:(NSArray<NSNumber*>*)strides
                            dilationRates:(NSArray<NSNumber*>*)dilationRates
                            paddingValues:(NSArray<NSNumber*>*)paddingValues
                             paddingStyle:(MPSGraphPaddingStyle)paddingStyle {
  MPSGraphPooling4DOpDescriptor* descriptor = [self descriptorWithKernelSizes:kernelSizes paddingStyle:paddingStyle];
  descriptor.strides = strides;
  descriptor.dilationRates = dilationRates;
  descriptor.paddingValues = paddingValues;
  return descriptor;
}
+ (instancetype)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes
                             paddingStyle:(MPSGraphPaddingStyle)paddingStyle {
  MPSGraphPooling4DOpDescriptor* descriptor = [[self alloc] init];
  descriptor.kernelSizes = kernelSizes;
  descriptor.paddingStyle = paddingStyle;
  return descriptor;
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphPooling4DOpDescriptor* copy = [[self class] descriptorWithKernelSizes:self.kernelSizes
                                                                        strides:self.strides
                                                                  dilationRates:self.dilationRates
                                                                  paddingValues:self.paddingValues
                                                                   paddingStyle:self.paddingStyle];
  copy.ceilMode = self.ceilMode;
  copy.includeZeroPadToAverage = self.includeZeroPadToAverage;
  copy->_returnIndicesMode = _returnIndicesMode;
  copy->_returnIndicesDataType = _returnIndicesDataType;
  return copy;
}
@end
