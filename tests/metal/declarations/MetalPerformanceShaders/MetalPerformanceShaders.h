// Declarations of the MetalPerformanceShaders names in use, written by hand.
#pragma once
#import <Metal/Metal.h>
NS_ASSUME_NONNULL_BEGIN

/// Slowest dimension first.
typedef NSArray<NSNumber*> MPSShape;

typedef NS_ENUM(uint32_t, MPSDataType) {
  MPSDataTypeInvalid = 0,
  MPSDataTypeFloatBit = 0x10000000,
  MPSDataTypeFloat32 = MPSDataTypeFloatBit | 32,
  MPSDataTypeFloat16 = MPSDataTypeFloatBit | 16,
  MPSDataTypeComplexBit MG_MACOS(13.1) = 0x01000000,
  MPSDataTypeComplexFloat32 MG_MACOS(13.1) = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 64,
  MPSDataTypeComplexFloat16 MG_MACOS(13.1) = MPSDataTypeFloatBit | MPSDataTypeComplexBit | 32,
  MPSDataTypeSignedBit = 0x20000000,
  MPSDataTypeInt8 = MPSDataTypeSignedBit | 8,
  MPSDataTypeInt16 = MPSDataTypeSignedBit | 16,
  MPSDataTypeInt32 = MPSDataTypeSignedBit | 32,
  MPSDataTypeInt64 MG_MACOS(11.0) = MPSDataTypeSignedBit | 64,
  MPSDataTypeUInt8 = 8,
  MPSDataTypeUInt16 = 16,
  MPSDataTypeUInt32 = 32,
  MPSDataTypeUInt64 MG_MACOS(11.0) = 64,
  MPSDataTypeAlternateEncodingBit MG_MACOS(11.0) = 0x80000000,
  MPSDataTypeBool MG_MACOS(12.0) = MPSDataTypeAlternateEncodingBit | 8,
  MPSDataTypeBFloat16 MG_MACOS(14.0) = MPSDataTypeAlternateEncodingBit | MPSDataTypeFloat16,
};

MG_MACOS(10.15)
@interface MPSNDArrayDescriptor : NSObject
@property(readwrite, nonatomic) MPSDataType dataType;
@property(readwrite, nonatomic) NSUInteger numberOfDimensions;
@property(readwrite, nonatomic) BOOL preferPackedRows MG_MACOS(15.0);
- (NSUInteger)lengthOfDimension:(NSUInteger)dimensionIndex;
- (MPSShape*)getShape MG_MACOS(15.0);
+ (instancetype)descriptorWithDataType:(MPSDataType)dataType shape:(MPSShape*)shape;
+ (instancetype)descriptorWithDataType:(MPSDataType)dataType
                        dimensionCount:(NSUInteger)numberOfDimensions
                        dimensionSizes:(NSUInteger*)dimensionSizes;
- (instancetype)init NS_UNAVAILABLE;
@end

/// Dimensions are counted from the fastest; shapes are written slowest first.
MG_MACOS(10.15)
@interface MPSNDArray : NSObject
@property(readwrite, copy, atomic, nullable) NSString* label;
@property(readonly, nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) size_t dataTypeSize;
@property(readonly, nonatomic) NSUInteger numberOfDimensions;
@property(readonly, retain, nonatomic) id<MTLDevice> device;
- (NSUInteger)lengthOfDimension:(NSUInteger)dimensionIndex;
- (MPSNDArrayDescriptor*)descriptor;
- (instancetype)init NS_UNAVAILABLE;
- (instancetype)initWithDevice:(id<MTLDevice>)device descriptor:(MPSNDArrayDescriptor*)descriptor;
- (instancetype)initWithBuffer:(id<MTLBuffer>)buffer
                        offset:(NSUInteger)offset
                    descriptor:(MPSNDArrayDescriptor*)descriptor MG_MACOS(15.0);
- (nullable id<MTLBuffer>)userBuffer MG_MACOS(15.0);
- (nullable MPSNDArray*)arrayViewWithShape:(MPSShape* _Nullable)shape strides:(MPSShape*)strides MG_MACOS(15.0);
- (NSUInteger)resourceSize;
- (void)readBytes:(void*)buffer strideBytes:(NSInteger* _Nullable)strideBytesPerDimension;
- (void)writeBytes:(void*)buffer strideBytes:(NSInteger* _Nullable)strideBytesPerDimension;
- (void)synchronizeOnCommandBuffer:(id<MTLCommandBuffer>)commandBuffer;
@end

NS_ASSUME_NONNULL_END
