// MPSGraph's enumerations.
#pragma once
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

typedef NS_ENUM(uint64_t, MPSGraphOptions) {
  MPSGraphOptionsNone = 0,
  MPSGraphOptionsSynchronizeResults = 1L,
  MPSGraphOptionsVerbose = 2L,
  MPSGraphOptionsDefault = MPSGraphOptionsSynchronizeResults,
};
typedef NS_ENUM(uint64_t, MPSGraphOptimization) {
  MPSGraphOptimizationLevel0 MG_MACOS(12.3) = 0L,
  MPSGraphOptimizationLevel1 MG_MACOS(12.3) = 1L,
};
typedef NS_ENUM(uint64_t, MPSGraphOptimizationProfile) {
  MPSGraphOptimizationProfilePerformance MG_MACOS(12.3) = 0L,
  MPSGraphOptimizationProfilePowerEfficiency MG_MACOS(12.3) = 1L,
};
typedef NS_ENUM(uint64_t, MPSGraphExecutionStage) { MPSGraphExecutionStageCompleted MG_MACOS(13.0) = 0L };
typedef NS_ENUM(uint64_t, MPSGraphDeploymentPlatform) {
  MPSGraphDeploymentPlatformMacOS MG_MACOS(13.0) = 0L,
  MPSGraphDeploymentPlatformIOS MG_MACOS(13.0) = 1L,
  MPSGraphDeploymentPlatformTvOS MG_MACOS(13.0) = 2L,
  MPSGraphDeploymentPlatformVisionOS MG_MACOS(13.0) = 3L,
};
typedef NS_ENUM(uint32_t, MPSGraphDeviceType) { MPSGraphDeviceTypeMetal = 0L };
typedef NS_ENUM(NSUInteger, MPSGraphTensorNamedDataLayout) {
  MPSGraphTensorNamedDataLayoutNCHW = 0L,
  MPSGraphTensorNamedDataLayoutNHWC = 1L,
  MPSGraphTensorNamedDataLayoutOIHW = 2L,
  MPSGraphTensorNamedDataLayoutHWIO = 3L,
  MPSGraphTensorNamedDataLayoutCHW = 4L,
  MPSGraphTensorNamedDataLayoutHWC = 5L,
  MPSGraphTensorNamedDataLayoutHW = 6L,
  MPSGraphTensorNamedDataLayoutNCDHW MG_MACOS(13.2) = 7L,
  MPSGraphTensorNamedDataLayoutNDHWC MG_MACOS(13.2) = 8L,
  MPSGraphTensorNamedDataLayoutOIDHW MG_MACOS(13.2) = 9L,
  MPSGraphTensorNamedDataLayoutDHWIO MG_MACOS(13.2) = 10L,
};
typedef NS_ENUM(NSUInteger, MPSGraphPaddingStyle) {
  MPSGraphPaddingStyleExplicit = 0L,
  MPSGraphPaddingStyleTF_VALID = 1L,
  MPSGraphPaddingStyleTF_SAME = 2L,
  MPSGraphPaddingStyleExplicitOffset MG_MACOS(12.0) = 3L,
  MPSGraphPaddingStyleONNX_SAME_LOWER MG_MACOS(13.0) = 4L,
};
typedef NS_ENUM(NSInteger, MPSGraphPaddingMode) {
  MPSGraphPaddingModeConstant = 0L,
  MPSGraphPaddingModeReflect = 1L,
  MPSGraphPaddingModeSymmetric = 2L,
  MPSGraphPaddingModeClampToEdge = 3L,
  MPSGraphPaddingModeZero = 4L,
  MPSGraphPaddingModePeriodic = 5L,
  MPSGraphPaddingModeAntiPeriodic = 6L,
};
typedef NS_ENUM(NSUInteger, MPSGraphPoolingReturnIndicesMode) {
  MPSGraphPoolingReturnIndicesNone = 0L,
  MPSGraphPoolingReturnIndicesGlobalFlatten1D = 1L,
  MPSGraphPoolingReturnIndicesGlobalFlatten2D = 2L,
  MPSGraphPoolingReturnIndicesGlobalFlatten3D = 3L,
  MPSGraphPoolingReturnIndicesGlobalFlatten4D = 4L,
  MPSGraphPoolingReturnIndicesLocalFlatten1D = 5L,
  MPSGraphPoolingReturnIndicesLocalFlatten2D = 6L,
  MPSGraphPoolingReturnIndicesLocalFlatten3D = 7L,
  MPSGraphPoolingReturnIndicesLocalFlatten4D = 8L,
};
typedef NS_ENUM(NSUInteger, MPSGraphRNNActivation) {
  MPSGraphRNNActivationNone = 0L,
  MPSGraphRNNActivationRelu = 1L,
  MPSGraphRNNActivationTanh = 2L,
  MPSGraphRNNActivationSigmoid = 3L,
  MPSGraphRNNActivationHardSigmoid = 4L,
};
typedef NS_ENUM(uint64_t, MPSGraphLossReductionType) {
  MPSGraphLossReductionTypeNone = 0L,
  MPSGraphLossReductionTypeAxis = MPSGraphLossReductionTypeNone,
  MPSGraphLossReductionTypeSum = 1L,
  MPSGraphLossReductionTypeMean = 2L,
};
typedef NS_ENUM(NSUInteger, MPSGraphResizeMode) { MPSGraphResizeNearest = 0L, MPSGraphResizeBilinear = 1L };
typedef NS_ENUM(NSUInteger, MPSGraphResizeNearestRoundingMode) {
  MPSGraphResizeNearestRoundingModeRoundPreferCeil = 0L,
  MPSGraphResizeNearestRoundingModeRoundPreferFloor = 1L,
  MPSGraphResizeNearestRoundingModeCeil = 2L,
  MPSGraphResizeNearestRoundingModeFloor = 3L,
  MPSGraphResizeNearestRoundingModeRoundToEven = 4L,
  MPSGraphResizeNearestRoundingModeRoundToOdd = 5L,
};
typedef NS_ENUM(NSInteger, MPSGraphScatterMode) {
  MPSGraphScatterModeAdd = 0L,
  MPSGraphScatterModeSub = 1L,
  MPSGraphScatterModeMul = 2L,
  MPSGraphScatterModeDiv = 3L,
  MPSGraphScatterModeMin = 4L,
  MPSGraphScatterModeMax = 5L,
  MPSGraphScatterModeSet = 6L,
};
typedef NS_ENUM(NSUInteger, MPSGraphReductionMode) {
  MPSGraphReductionModeMin = 0L,
  MPSGraphReductionModeMax = 1L,
  MPSGraphReductionModeSum = 2L,
  MPSGraphReductionModeProduct = 3L,
  MPSGraphReductionModeArgumentMin = 4L,
  MPSGraphReductionModeArgumentMax = 5L,
};
