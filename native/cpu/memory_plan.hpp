#pragma once

#include "graph/graph.hpp"

namespace mpsgraph_native::cpu {

/// Where a tensor lies during a run.
struct Place {
  enum class Kind { Absent, Feed, Target, Constant, Arena };
  Kind kind = Kind::Absent;
  std::size_t index = 0;  ///< of the feed, target or constant; byte offset in the arena
};

/// Results that are targets are written straight to the caller's memory; other results share one arena, in which a
/// tensor's bytes are reused as soon as its last reader has run.
struct MemoryPlan {
  std::vector<std::vector<Place>> places;  ///< by node, by output
  std::size_t arena_bytes = 0;

  const Place& place(TensorRef tensor) const {
    return places[static_cast<std::size_t>(tensor.node)][static_cast<std::size_t>(tensor.output)];
  }
};

MemoryPlan plan_memory(const Program& program);

}  // namespace mpsgraph_native::cpu
