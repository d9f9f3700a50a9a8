#pragma once

#import <MetalPerformanceShaders/MetalPerformanceShaders.h>

#include <cstddef>

namespace stand_in {

/// An element of any type. It has the 64 bits that the widest integers need.
using Element = long double;

/// Bytes of one element; 0 for a type that the stand-in has not.
std::size_t element_size(MPSDataType type);
Element load_element(const void* address, MPSDataType type);
/// Rounds to nearest even; integers wrap around.
void store_element(void* address, MPSDataType type, Element value);
/// The value after a store and a load.
Element rounded(Element value, MPSDataType type);

}  // namespace stand_in
