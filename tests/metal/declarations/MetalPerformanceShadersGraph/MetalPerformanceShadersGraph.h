// Declarations of the MPSGraph names in use. descriptors.h and operations.h are generated from ../operations.tsv.
#pragma once
#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#import <MetalPerformanceShadersGraph/enumerations.h>
#import <MetalPerformanceShadersGraph/core.h>
#import <MetalPerformanceShadersGraph/descriptors.h>
#import <MetalPerformanceShadersGraph/execution.h>
#import <MetalPerformanceShadersGraph/operations.h>
