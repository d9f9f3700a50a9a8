// MPSGraph, its executables and their descriptors, written by hand.
#pragma once
#import <MetalPerformanceShadersGraph/core.h>
NS_ASSUME_NONNULL_BEGIN

@class MPSGraphExecutable;

typedef NSDictionary<MPSGraphTensor*, MPSGraphTensorData*> MPSGraphTensorDataDictionary;
typedef NSDictionary<MPSGraphTensor*, MPSGraphShapedType*> MPSGraphTensorShapedTypeDictionary;
typedef void (^MPSGraphExecutableCompletionHandler)(NSArray<MPSGraphTensorData*>* results, NSError* _Nullable error);
typedef void (^MPSGraphExecutableScheduledHandler)(NSArray<MPSGraphTensorData*>* results, NSError* _Nullable error);
typedef void (^MPSGraphCompilationCompletionHandler)(MPSGraphExecutable* executable, NSError* _Nullable error);

MG_MACOS(12.0)
@interface MPSGraphCompilationDescriptor : NSObject <NSCopying>
- (void)disableTypeInference;
@property(readwrite, nonatomic) MPSGraphOptimization optimizationLevel MG_MACOS(12.3);
@property(readwrite, nonatomic) BOOL waitForCompilationCompletion MG_MACOS(13.0);
@property(readwrite, nonatomic) MPSGraphCompilationCompletionHandler compilationCompletionHandler MG_MACOS(13.0);
@end

MG_MACOS(12.0)
@interface MPSGraphExecutableExecutionDescriptor : NSObject <NSCopying>
@property(readwrite, atomic) MPSGraphExecutableScheduledHandler scheduledHandler;
@property(readwrite, atomic) MPSGraphExecutableCompletionHandler completionHandler;
@property(readwrite, atomic) BOOL waitUntilCompleted;
@end

MG_MACOS(14.0)
@interface MPSGraphExecutableSerializationDescriptor : NSObject
@property(readwrite, nonatomic) BOOL append;
@property(readwrite, nonatomic) MPSGraphDeploymentPlatform deploymentPlatform;
@property(readwrite, atomic, copy) NSString* minimumDeploymentTarget;
@end

MG_MACOS(12.0)
@interface MPSGraphExecutable : NSObject
@property(readwrite, atomic) MPSGraphOptions options;
@property(readonly, atomic, nullable) NSArray<MPSGraphTensor*>* feedTensors;
@property(readonly, atomic, nullable) NSArray<MPSGraphTensor*>* targetTensors;
- (void)specializeWithDevice:(MPSGraphDevice* _Nullable)device
                  inputTypes:(NSArray<MPSGraphType*>*)inputTypes
       compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor;
- (NSArray<MPSGraphShapedType*>* _Nullable)
    getOutputTypesWithDevice:(MPSGraphDevice* _Nullable)device
                  inputTypes:(NSArray<MPSGraphType*>*)inputTypes
       compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor MG_MACOS(13.2);
- (NSArray<MPSGraphTensorData*>*)
    runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
               inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
              resultsArray:(NSArray<MPSGraphTensorData*>* _Nullable)resultsArray
       executionDescriptor:(MPSGraphExecutableExecutionDescriptor* _Nullable)executionDescriptor;
- (NSArray<MPSGraphTensorData*>*)
    runAsyncWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                    inputsArray:(NSArray<MPSGraphTensorData*>*)inputsArray
                   resultsArray:(NSArray<MPSGraphTensorData*>* _Nullable)resultsArray
            executionDescriptor:(MPSGraphExecutableExecutionDescriptor* _Nullable)executionDescriptor;
- (void)serializeToMPSGraphPackageAtURL:(NSURL*)url
                             descriptor:(MPSGraphExecutableSerializationDescriptor* _Nullable)descriptor
    MG_MACOS(14.0);
- (instancetype)initWithMPSGraphPackageAtURL:(NSURL*)mpsgraphPackageURL
                       compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor
    MG_MACOS(14.0);
@end

MG_MACOS(11.0)
@interface MPSGraph : NSObject
@property(readwrite, atomic) MPSGraphOptions options;
@property(readonly, nonnull, nonatomic) NSArray<MPSGraphTensor*>* placeholderTensors;
+ (instancetype)new;
- (instancetype)init;
- (MPSGraphExecutable*)compileWithDevice:(MPSGraphDevice* _Nullable)device
                                   feeds:(MPSGraphTensorShapedTypeDictionary*)feeds
                           targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                        targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations
                   compilationDescriptor:(MPSGraphCompilationDescriptor* _Nullable)compilationDescriptor MG_MACOS(12.0);
- (MPSGraphTensorDataDictionary*)runWithMTLCommandQueue:(id<MTLCommandQueue>)commandQueue
                                                  feeds:(MPSGraphTensorDataDictionary*)feeds
                                          targetTensors:(NSArray<MPSGraphTensor*>*)targetTensors
                                       targetOperations:(NSArray<MPSGraphOperation*>* _Nullable)targetOperations;
@end

NS_ASSUME_NONNULL_END
