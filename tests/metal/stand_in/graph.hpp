#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "assertion.hpp"
#include "element.hpp"

namespace stand_in {

/// The value of a tensor during a run.
struct HostTensor {
  bool present = true;  ///< false for an absent optional operand
  std::vector<std::int64_t> shape;
  MPSDataType type = MPSDataTypeFloat32;
  std::vector<Element> values;  ///< row-major
};

/// Shape and type of a result that is yet to be computed.
struct TensorSpec {
  std::vector<std::int64_t> shape;
  MPSDataType type;
};

using Compute = std::function<std::vector<HostTensor>(const std::vector<HostTensor>&)>;

/// Adds one operation to a graph. `inputs` may hold nil. The run rounds each result to its type.
NSArray<MPSGraphTensor*>* add_operation(MPSGraph* graph, const char* name, std::vector<MPSGraphTensor*> inputs,
                                        std::vector<TensorSpec> results, Compute compute);

std::vector<std::int64_t> dims(NSArray<NSNumber*>* shape);
NSArray<NSNumber*>* shape_of(const std::vector<std::int64_t>& dims);

}  // namespace stand_in
