#pragma once

#include "graph/graph.hpp"

namespace mpsgraph_native {

/// Adds to `graph` the operations that compute d sum(primary) / d tensor for each of `tensors`, and gives their
/// results. The new operations are called `name` and a number. Raises ShapeError when a tensor is not floating,
/// CompileError naming an operation on the way that has no gradient. When it raises, the graph may hold operations that
/// nothing uses.
MPSGRAPH_API std::vector<TensorRef> add_gradients(Graph& graph, TensorRef primary,
                                                  const std::vector<TensorRef>& tensors,
                                                  const std::string& name = "gradient");

}  // namespace mpsgraph_native
