#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <span>
#include <vector>

#include "graph/operation.hpp"

namespace mpsgraph_native::metal {

/// One operation on its way into an MPSGraph. Its operands and results were validated and typed before.
struct LoweringSite {
  MPSGraph* graph;
  std::vector<MPSGraphTensor*> inputs;             ///< nil: absent
  std::span<const TensorType* const> input_types;  ///< null: absent
  std::span<const TensorType> output_types;
  std::span<const Operation* const> producers;  ///< what made each input; null: it was fed, or is absent
};

/// The results of one operation, in the order of the node's outputs.
using Lowered = std::vector<MPSGraphTensor*>;

/// The MPSShape of a shape, slowest dimension first. Rank 0 becomes [1]: see Fault::ScalarTensor.
NSArray<NSNumber*>* shape_array(const Shape& shape);
/// The MPSDataType of a dtype. Raises DTypeError for those that Metal lacks (float64).
MPSDataType data_type(DataType dtype);

}  // namespace mpsgraph_native::metal
