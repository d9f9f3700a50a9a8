#include "cpu/pooling_planes.hpp"

namespace mpsgraph_native::cpu {
namespace {

constexpr std::int64_t most_rows = 4096;

}  // namespace

bool PoolingPlanes::fits(const PoolingPlan& plan) {
  const WindowAxis& last = plan.axes[3];
  return plan.inner == 1 && (last.kernel == 2 || last.kernel == 3) && last.stride == 2 && last.dilation == 1 &&
         plan.axes[0].kernel == 1 && plan.axes[1].kernel == 1 && !plan.has_empty_windows && plan.rows() <= most_rows;
}

PoolingPlanes::PoolingPlanes(const PoolingPlan& plan)
    : plane_{plan.axes[3].input,
             plan.axes[3].output,
             plan.axes[3].kernel,
             plan.axes[3].padding_before,
             plan.axes[2].dilation * plan.source_steps[2],
             plan.index_tap_steps[2],
             plan.index_tap_steps[3],
             plan.index_output_steps[3]} {
  WindowPosition position(plan);
  for (std::int64_t r = 0; r < plan.rows(); ++r) {
    position.set_row(r);
    PoolingPlane::Row row{0, 1, position.index()};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const WindowAxis& window = plan.axes[axis];
      const std::size_t output = static_cast<std::size_t>(position[axis]);
      const std::int64_t first = plan.first_taps[axis][output];
      row.source +=
          (position[axis] * window.stride - window.padding_before + first * window.dilation) * plan.source_steps[axis];
      row.rows *= plan.tap_counts[axis][output];
      row.index += first * plan.index_tap_steps[axis];
    }
    rows_.push_back(row);
  }
}

}  // namespace mpsgraph_native::cpu
