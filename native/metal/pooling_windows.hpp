#pragma once

#include "graph/pooling.hpp"

namespace mpsgraph_native::metal {

/// A pooling operation as MPSGraph is asked for it: explicit padding that gives the size which the descriptor means,
/// without ceilMode, and without the windows at the end of an axis that lie outside the source.
struct PoolingWindows {
  std::array<WindowAxis, 4> axes;  ///< their outputs are those that MPSGraph computes
  Shape result;                    ///< of the operation
  Shape computed;                  ///< of what MPSGraph computes
  /// For each axis, whether the windows of each output have a tap; empty where all have. Dilated taps can step over the
  /// whole source.
  std::array<std::vector<bool>, 4> taps;

  bool trimmed() const { return !(result == computed); }
};

PoolingWindows pooling_windows(const PoolingGeometry& geometry);

}  // namespace mpsgraph_native::metal
