#pragma once

#include <array>
#include <span>
#include <vector>

#include "graph/types.hpp"

namespace mpsgraph_native::cpu {

/// One of the nested loops over several strided arrays.
template <int Arrays>
struct LoopAxis {
  std::int64_t size;
  std::array<std::int64_t, Arrays> strides;
};

/// Outermost axis first.
template <int Arrays>
using LoopNest = std::vector<LoopAxis<Arrays>>;

/// The strides of a C-contiguous array.
inline Shape contiguous_strides(const Shape& shape) {
  Shape strides = shape;
  std::int64_t stride = 1;
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= shape[axis];
  }
  return strides;
}

/// The same iterations in the same order with as few axes as possible, one at least.
template <int Arrays>
LoopNest<Arrays> merge_axes(const LoopNest<Arrays>& nest) {
  LoopNest<Arrays> merged;
  for (const LoopAxis<Arrays>& axis : nest) {
    if (axis.size == 1) continue;
    bool continues = !merged.empty();
    for (std::size_t k = 0; continues && k < Arrays; ++k)
      continues = merged.back().strides[k] == axis.strides[k] * axis.size;
    if (continues)
      merged.back() = {merged.back().size * axis.size, axis.strides};
    else
      merged.push_back(axis);
  }
  if (merged.empty()) {
    merged.push_back({1, {}});
    merged.back().strides.fill(1);
  }
  return merged;
}

template <int Arrays>
std::int64_t iterations(std::span<const LoopAxis<Arrays>> axes) {
  std::int64_t product = 1;
  for (const LoopAxis<Arrays>& axis : axes) product *= axis.size;
  return product;
}

/// body(iteration, offsets) for the iterations [begin, end) over `axes`, counting up without divisions.
template <int Arrays, class Body>
void for_each_iteration(std::span<const LoopAxis<Arrays>> axes, std::int64_t begin, std::int64_t end, Body body) {
  if (begin >= end) return;
  std::array<std::int64_t, maximum_rank> position{};
  std::array<std::int64_t, Arrays> offsets{};
  std::int64_t rest = begin;
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    position[axis] = rest % axes[axis].size;
    rest /= axes[axis].size;
    for (std::size_t k = 0; k < Arrays; ++k) offsets[k] += position[axis] * axes[axis].strides[k];
  }
  for (std::int64_t iteration = begin;;) {
    body(iteration, offsets);
    if (++iteration == end) return;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      const bool wraps = ++position[axis] == axes[axis].size;
      const std::int64_t steps = wraps ? 1 - axes[axis].size : 1;
      for (std::size_t k = 0; k < Arrays; ++k) offsets[k] += steps * axes[axis].strides[k];
      if (!wraps) break;
      position[axis] = 0;
    }
  }
}

}  // namespace mpsgraph_native::cpu
