#include "graph.hpp"

using stand_in::repeated;
using stand_in::require;

@implementation MPSGraphPooling2DOpDescriptor
+ (instancetype)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                             kernelHeight:(NSUInteger)kernelHeight
                                strideInX:(NSUInteger)strideInX
                                strideInY:(NSUInteger)strideInY
                          dilationRateInX:(NSUInteger)dilationRateInX
                          dilationRateInY:(NSUInteger)dilationRateInY
                              paddingLeft:(NSUInteger)left
                             paddingRight:(NSUInteger)right
                               paddingTop:(NSUInteger)top
                            paddingBottom:(NSUInteger)bottom
                             paddingStyle:(MPSGraphPaddingStyle)style
                               dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout {
  const char* method = "MPSGraphPooling2DOpDescriptor";
  require(kernelWidth > 0 && kernelHeight > 0, method, "the kernel must not be empty");
  require(strideInX > 0 && strideInY > 0, method, "strides must be positive");
  require(dilationRateInX > 0 && dilationRateInY > 0, method, "dilation rates must be positive");
  MPSGraphPooling2DOpDescriptor* descriptor = [[self alloc] init];
  descriptor.kernelWidth = kernelWidth;
  descriptor.kernelHeight = kernelHeight;
  descriptor.strideInX = strideInX;
  descriptor.strideInY = strideInY;
  descriptor.dilationRateInX = dilationRateInX;
  descriptor.dilationRateInY = dilationRateInY;
  [descriptor setExplicitPaddingWithPaddingLeft:left paddingRight:right paddingTop:top paddingBottom:bottom];
  descriptor.paddingStyle = style;
  descriptor.dataLayout = dataLayout;
  descriptor.returnIndicesDataType = MPSDataTypeInt32;
  return descriptor;
}
+ (instancetype)descriptorWithKernelWidth:(NSUInteger)kernelWidth
                             kernelHeight:(NSUInteger)kernelHeight
                                strideInX:(NSUInteger)strideInX
                                strideInY:(NSUInteger)strideInY
                             paddingStyle:(MPSGraphPaddingStyle)style
                               dataLayout:(MPSGraphTensorNamedDataLayout)dataLayout {
  return [self descriptorWithKernelWidth:kernelWidth
                            kernelHeight:kernelHeight
                               strideInX:strideInX
                               strideInY:strideInY
                         dilationRateInX:1
                         dilationRateInY:1
                             paddingLeft:0
                            paddingRight:0
                              paddingTop:0
                           paddingBottom:0
                            paddingStyle:style
                              dataLayout:dataLayout];
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
  MPSGraphPooling2DOpDescriptor* copied = [MPSGraphPooling2DOpDescriptor descriptorWithKernelWidth:self.kernelWidth
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
  copied.returnIndicesMode = self.returnIndicesMode;
  copied.returnIndicesDataType = self.returnIndicesDataType;
  copied.ceilMode = self.ceilMode;
  copied.includeZeroPadToAverage = self.includeZeroPadToAverage;
  return copied;
}
@end

@implementation MPSGraphPooling4DOpDescriptor
+ (instancetype)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes
                                  strides:(NSArray<NSNumber*>*)strides
                            dilationRates:(NSArray<NSNumber*>*)dilationRates
                            paddingValues:(NSArray<NSNumber*>*)paddingValues
                             paddingStyle:(MPSGraphPaddingStyle)style {
  const char* method = "MPSGraphPooling4DOpDescriptor";
  require(strides.count == 4 && dilationRates.count == 4, method, "strides and dilation rates must have 4 elements");
  require(paddingValues.count == 8, method, "padding values must have 8 elements");
  MPSGraphPooling4DOpDescriptor* descriptor = [self descriptorWithKernelSizes:kernelSizes paddingStyle:style];
  descriptor.strides = strides;
  descriptor.dilationRates = dilationRates;
  descriptor.paddingValues = paddingValues;
  return descriptor;
}
+ (instancetype)descriptorWithKernelSizes:(NSArray<NSNumber*>*)kernelSizes paddingStyle:(MPSGraphPaddingStyle)style {
  require(kernelSizes.count == 4, "MPSGraphPooling4DOpDescriptor", "kernel sizes must have 4 elements");
  MPSGraphPooling4DOpDescriptor* descriptor = [[self alloc] init];
  descriptor.kernelSizes = kernelSizes;
  descriptor.strides = repeated(@1, 4);
  descriptor.dilationRates = repeated(@1, 4);
  descriptor.paddingValues = repeated(@0, 8);
  descriptor.paddingStyle = style;
  descriptor.returnIndicesDataType = MPSDataTypeInt32;
  return descriptor;
}
- (id)copyWithZone:(NSZone*)zone {
  MPSGraphPooling4DOpDescriptor* copied = [MPSGraphPooling4DOpDescriptor descriptorWithKernelSizes:self.kernelSizes
                                                                                           strides:self.strides
                                                                                     dilationRates:self.dilationRates
                                                                                     paddingValues:self.paddingValues
                                                                                      paddingStyle:self.paddingStyle];
  copied.ceilMode = self.ceilMode;
  copied.includeZeroPadToAverage = self.includeZeroPadToAverage;
  copied.returnIndicesMode = self.returnIndicesMode;
  copied.returnIndicesDataType = self.returnIndicesDataType;
  return copied;
}
@end
