#include "graph/axes.hpp"

namespace mpsgraph_native {

int resolve_axis(std::string_view operation, std::string_view argument, std::int64_t axis, int rank) {
  if (rank == 0) fail<ShapeError>(operation, argument, "must not name an axis of a tensor of rank 0, got ", axis);
  if (axis < -rank || axis >= rank)
    fail<ShapeError>(operation, argument, "must lie in [", -rank, ", ", rank - 1, "] for a tensor of rank ", rank,
                     ", got ", axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

AxisSet resolve_axes(std::string_view operation, const Shape& axes, bool all_axes, int rank) {
  AxisSet selected;
  if (all_axes) {
    for (int axis = 0; axis < rank; ++axis) selected.set(static_cast<std::size_t>(axis));
    return selected;
  }
  for (const std::int64_t axis : axes) {
    const auto resolved = static_cast<std::size_t>(resolve_axis(operation, "axes", axis, rank));
    if (selected[resolved]) fail<ShapeError>(operation, "axes", "must name every axis once, got ", axes);
    selected.set(resolved);
  }
  return selected;
}

}  // namespace mpsgraph_native
