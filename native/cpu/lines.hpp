#pragma once

#include "cpu/isa/softmax.hpp"
#include "cpu/partition.hpp"
#include "graph/axes.hpp"

namespace mpsgraph_native::cpu {

/// A C-contiguous array seen from one of its axes.
struct AxisView {
  std::int64_t outer, length, inner;

  std::int64_t lines() const { return outer * inner; }
  std::int64_t elements() const { return lines() * length; }
};

/// `axis` may count from the end; inference has checked it.
inline AxisView view_axis(const Shape& shape, std::int64_t axis) {
  const int resolved = resolve_axis({}, "axis", axis, shape.rank());
  AxisView view{1, shape[resolved], 1};
  for (int i = 0; i < shape.rank(); ++i)
    if (i != resolved) (i < resolved ? view.outer : view.inner) *= shape[i];
  return view;
}

/// body(lines, offset of their first element, index of the first line), over all lines of the axis.
template <class Body>
void for_each_lines(const Invocation& invocation, const AxisView& view, std::int64_t grain, Body body) {
  const std::int64_t chunks = chunk_count(invocation, view.elements(), grain);
  if (view.inner == 1) {
    for_each_grid_part(chunks, view.outer, 1, [&](std::int64_t first, std::int64_t count, std::int64_t, std::int64_t) {
      body(Lines{view.length, 1, count}, first * view.length, first);
    });
    return;
  }
  for_each_grid_part(chunks, view.outer, view.inner,
                     [&](std::int64_t first, std::int64_t count, std::int64_t column, std::int64_t columns) {
                       for (std::int64_t o = first; o < first + count; ++o)
                         body(Lines{view.length, view.inner, columns}, o * view.length * view.inner + column,
                              o * view.inner + column);
                     });
}

}  // namespace mpsgraph_native::cpu
