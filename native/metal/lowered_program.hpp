#pragma once

#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "graph/graph.hpp"

namespace mpsgraph_native::metal {

using Bytes = std::shared_ptr<const std::vector<std::byte>>;

/// Where the contents of a target come from.
struct TargetSource {
  enum class Kind { NoElements, Feed, Known, Result };
  Kind kind = Kind::NoElements;
  std::size_t index = 0;  ///< of the feed or of the result
  Bytes bytes;            ///< Known
};

/// Fed indices of a max pooling gradient, which MPSGraph would follow wherever they lead.
struct FedIndices {
  Operation operation;
  TensorType type;
  std::size_t feed;
};

/// A program as an MPSGraph that holds no more than its targets need.
struct LoweredProgram {
  MPSGraph* graph = nil;
  std::vector<MPSGraphTensor*> placeholders;  ///< one per feed; nil where the results do not depend on it
  std::vector<MPSGraphTensor*> results;       ///< what MPSGraph computes; empty where the targets need nothing of it
  std::vector<TensorType> result_types;
  std::vector<TargetSource> targets;
  std::vector<FedIndices> fed_indices;  ///< to be checked before each run
};

/// To be called inside guarded(), for a program that has passed check_program. Raises ShapeError for a constant that
/// holds wrong indices, and CompileError where MPSGraph does not make what was asked of it.
LoweredProgram lower_program(const Program& program);

}  // namespace mpsgraph_native::metal
