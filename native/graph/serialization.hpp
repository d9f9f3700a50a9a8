#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace mpsgraph_native {

// A program as bytes, the same on every machine: operations and attributes by their names, numbers little-endian,
// shapes and dtypes of every result, constants with their elements.

MPSGRAPH_API std::string serialize(const Program& program);

/// A program that was read: a graph of its operations, and the tensors that are fed and asked for, in order.
struct ReadProgram {
  Graph graph;
  std::vector<TensorRef> feeds;
  std::vector<TensorRef> targets;
};

/// The bytes may be anything: every operation is validated as a new one is, its results must come out as they were
/// written, and no count allocates more than the bytes that follow it can fill. Raises an Error that says what is
/// wrong.
MPSGRAPH_API ReadProgram deserialize(std::string_view bytes);

}  // namespace mpsgraph_native
