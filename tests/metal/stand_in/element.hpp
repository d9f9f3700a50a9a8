#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <cstddef>

namespace stand_in {

/// Bytes of one element; 0 for a type that the stand-in has not.
std::size_t element_size(MPSDataType type);
double load_element(const void* address, MPSDataType type);
/// Rounds to nearest even; integers wrap around.
void store_element(void* address, MPSDataType type, double value);
/// The value after a store and a load.
double rounded(double value, MPSDataType type);

}  // namespace stand_in
