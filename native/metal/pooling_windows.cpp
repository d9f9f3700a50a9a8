#include "metal/pooling_windows.hpp"

#include <algorithm>

#include "metal/known_faults.hpp"

namespace mpsgraph_native::metal {
namespace {

std::int64_t first_position(const WindowAxis& axis, std::int64_t output) {
  return output * axis.stride - axis.padding_before;
}

}  // namespace

PoolingWindows pooling_windows(const PoolingGeometry& geometry) {
  PoolingWindows windows{geometry.axes, geometry.result, geometry.result, {}};
  for (std::size_t i = 0; i < 4; ++i) {
    WindowAxis& axis = windows.axes[i];
    while (first_position(axis, axis.output - 1) >= axis.input) --axis.output;
    const std::int64_t reach = first_position(axis, axis.output - 1) + axis.effective_kernel();
    axis.padding_after = std::max(axis.padding_after, reach - axis.input);
    windows.computed[geometry.result.rank() - 4 + static_cast<int>(i)] = axis.output;
    for (std::int64_t output = 0; output < axis.output; ++output) {
      if (has_tap(axis, output)) continue;
      windows.taps[i].resize(static_cast<std::size_t>(axis.output), true);
      windows.taps[i][static_cast<std::size_t>(output)] = false;
    }
  }
  return windows;
}

}  // namespace mpsgraph_native::metal
