// MPSGraph's tensors, types, devices and data, written by hand.
#pragma once
#import <MetalPerformanceShadersGraph/enumerations.h>
NS_ASSUME_NONNULL_BEGIN

@class MPSGraph, MPSGraphTensor;

MG_MACOS(12.0)
@interface MPSGraphType : NSObject <NSCopying>
@end

MG_MACOS(11.0)
@interface MPSGraphShapedType : MPSGraphType
@property(readwrite, nullable, copy, atomic) MPSShape* shape;
@property(readwrite, atomic) MPSDataType dataType;
- (instancetype)initWithShape:(MPSShape* _Nullable)shape dataType:(MPSDataType)dataType;
- (BOOL)isEqualTo:(MPSGraphShapedType* _Nullable)object;
@end

MG_MACOS(11.0)
@interface MPSGraphDevice : NSObject
@property(readonly, nonatomic) MPSGraphDeviceType type;
@property(readonly, nonatomic, nullable) id<MTLDevice> metalDevice;
+ (instancetype)deviceWithMTLDevice:(id<MTLDevice>)metalDevice;
@end

MG_MACOS(11.0)
@interface MPSGraphOperation : NSObject <NSCopying>
@property(readonly, nonnull, nonatomic) NSArray<MPSGraphTensor*>* inputTensors;
@property(readonly, nonnull, nonatomic) NSArray<MPSGraphTensor*>* outputTensors;
@property(readonly, nonnull, nonatomic) NSArray<MPSGraphOperation*>* controlDependencies;
@property(readonly, nonnull, nonatomic) MPSGraph* graph;
@property(readonly, nonnull, nonatomic, copy) NSString* name;
- (instancetype)init NS_UNAVAILABLE;
@end

MG_MACOS(11.0)
@interface MPSGraphTensor : NSObject <NSCopying>
@property(nullable, readonly, copy, nonatomic) MPSShape* shape;
@property(readonly, nonatomic) MPSDataType dataType;
@property(readonly, nonnull, nonatomic) MPSGraphOperation* operation;
- (instancetype)init NS_UNAVAILABLE;
@end

MG_MACOS(11.0)
@interface MPSGraphTensorData : NSObject
@property(readonly, copy, nonatomic) MPSShape* shape;
@property(readonly, nonatomic) MPSDataType dataType;
@property(readonly, nonatomic) MPSGraphDevice* device;
- (instancetype)initWithDevice:(MPSGraphDevice*)device
                          data:(NSData*)data
                         shape:(MPSShape*)shape
                      dataType:(MPSDataType)dataType;
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer shape:(MPSShape*)shape dataType:(MPSDataType)dataType;
- (instancetype)initWithMTLBuffer:(id<MTLBuffer>)buffer
                            shape:(MPSShape*)shape
                         dataType:(MPSDataType)dataType
                         rowBytes:(NSUInteger)rowBytes MG_MACOS(12.3);
- (instancetype)initWithMPSNDArray:(MPSNDArray*)ndarray;
- (MPSNDArray*)mpsndarray;
@end

NS_ASSUME_NONNULL_END
