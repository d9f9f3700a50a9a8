#pragma once

#include <bitset>
#include <string_view>

#include "graph/types.hpp"

namespace mpsgraph_native {

/// The axis counted from the front; a negative one counts from the end. Raises ShapeError naming the argument when it
/// lies outside the rank.
int resolve_axis(std::string_view operation, std::string_view argument, std::int64_t axis, int rank);

using AxisSet = std::bitset<maximum_rank>;

/// The axes that `axes`, or `all_axes`, selects. Raises ShapeError for one outside the rank or named twice.
AxisSet resolve_axes(std::string_view operation, const Shape& axes, bool all_axes, int rank);

}  // namespace mpsgraph_native
