#include "cpu/pooling_plan.hpp"

#include <algorithm>

namespace mpsgraph_native::cpu {
namespace {

/// Taps j with 0 <= start + j·dilation < size.
void count_taps(const WindowAxis& axis, std::vector<std::int32_t>& first_taps, std::vector<std::int32_t>& counts,
                bool& has_empty_windows) {
  first_taps.resize(static_cast<std::size_t>(axis.output));
  counts.resize(first_taps.size());
  for (std::int64_t o = 0; o < axis.output; ++o) {
    const std::int64_t start = o * axis.stride - axis.padding_before;
    const std::int64_t first = start >= 0 ? 0 : (-start + axis.dilation - 1) / axis.dilation;
    const std::int64_t end =
        start >= axis.input ? 0 : std::min(axis.kernel, (axis.input - start + axis.dilation - 1) / axis.dilation);
    const bool empty = first >= end;
    has_empty_windows = has_empty_windows || empty;
    first_taps[static_cast<std::size_t>(o)] = empty ? -1 : static_cast<std::int32_t>(first);
    counts[static_cast<std::size_t>(o)] = empty ? 0 : static_cast<std::int32_t>(end - first);
  }
}

}  // namespace

std::int64_t PoolingPlan::maximum_taps() const {
  std::int64_t taps = 1;
  for (const std::vector<std::int32_t>& counts : tap_counts)
    taps *= counts.empty() ? 1 : std::max(1, *std::max_element(counts.begin(), counts.end()));
  return taps;
}

PoolingPlan make_pooling_plan(const PoolingGeometry& geometry, IndexMap index_map, std::int64_t group) {
  const PoolingReturnIndicesMode mode =
      index_map == IndexMap::Mode ? geometry.return_indices_mode : PoolingReturnIndicesMode::None;
  const int named = index_map == IndexMap::Mode ? flattened_dimensions(mode) : 4;
  const bool local = is_local(mode);

  // Inner axes are merged up to the flattening's border, so that an index is linear in the inner position.
  const int border = 4 - named;
  int begin = 0, end = 4;
  const auto axis = [&](int i) -> const WindowAxis& { return geometry.axes[static_cast<std::size_t>(i)]; };
  PoolingPlan plan;
  plan.inner = group;
  while (end > 0 && !is_pooled(axis(end - 1)) && end != border) plan.inner *= axis(--end).input;
  while (begin < end && !is_pooled(axis(begin))) plan.outer *= axis(begin++).input;
  for (int d = 0; d < geometry.source.rank() - 4; ++d) plan.outer *= geometry.source[d];
  if (index_map == IndexMap::Mode && !local)
    for (int i = border; i < begin; ++i) plan.named_outer *= axis(i).input;
  plan.include_zero_pad_to_average = geometry.include_zero_pad_to_average;

  const int shift = 4 - end;
  for (int i = begin; i < end; ++i) plan.axes[static_cast<std::size_t>(i + shift)] = axis(i);

  std::int64_t step = plan.inner, kernel_step = 1;
  plan.result_slice = plan.inner;
  for (int i = 3; i >= 0; --i) {
    const std::size_t k = static_cast<std::size_t>(i);
    const WindowAxis& window = plan.axes[k];
    plan.source_steps[k] = step;
    const int original = i - shift;
    if (original >= border && original < end) {
      const std::int64_t index_step = step / group;
      plan.index_output_steps[k] = local ? 0 : index_step * window.stride;
      plan.index_tap_steps[k] = local ? kernel_step : index_step * window.dilation;
      if (!local) plan.index_origin -= index_step * window.padding_before;
    }
    step *= window.input;
    if (local && original >= border) kernel_step *= window.kernel;
    plan.result_slice *= window.output;
    count_taps(window, plan.first_taps[k], plan.tap_counts[k], plan.has_empty_windows);
  }
  plan.source_slice = step;
  plan.index_inner_step = local || group > 1 ? 0 : 1;
  return plan;
}

PoolingVectors choose_vectors(const PoolingPlan& plan, std::int64_t lanes, bool has_row_kernel) {
  const WindowAxis& last = plan.axes[3];
  const bool groupable = plan.inner * 2 <= lanes && plan.outer > 1;
  // The row kernel visits every tap; of a kernel wider than the row most lie outside.
  if (plan.inner == 1 && has_row_kernel && last.kernel <= last.input) {
    // A short row leaves lanes idle, and other strides load lane by lane.
    const bool efficient = last.stride <= 2 && last.output * 2 >= lanes;
    return efficient || !groupable || plan.outer * 2 < lanes ? PoolingVectors::Row : PoolingVectors::Grouped;
  }
  return groupable ? PoolingVectors::Grouped : PoolingVectors::Pixel;
}

std::int64_t slice_group(const PoolingPlan& plan, std::int64_t lanes) {
  return std::max<std::int64_t>(1, std::min(plan.outer, lanes / plan.inner));
}

void WindowPosition::set_row(std::int64_t row) {
  at_[3] = 0;
  for (std::size_t axis = 3; axis-- > 0;) {
    const std::int64_t size = plan_.outputs(axis);
    at_[axis] = size == 1 ? 0 : row % size;
    if (size > 1) row /= size;
  }
}

std::int64_t WindowPosition::index() const {
  std::int64_t index = plan_.index_origin;
  for (std::size_t axis = 0; axis < 4; ++axis) index += at_[axis] * plan_.index_output_steps[axis];
  return index;
}

bool WindowPosition::empty() const {
  for (std::size_t axis = 0; axis < 4; ++axis)
    if (plan_.tap_counts[axis][static_cast<std::size_t>(at_[axis])] == 0) return true;
  return false;
}

double WindowPosition::divisor(std::size_t axes) const {
  double divisor = 1;
  for (std::size_t axis = 0; axis < axes; ++axis)
    divisor *= static_cast<double>(plan_.include_zero_pad_to_average
                                       ? plan_.axes[axis].kernel
                                       : plan_.tap_counts[axis][static_cast<std::size_t>(at_[axis])]);
  return std::max(divisor, 1.0);
}

void WindowTaps::update(const WindowPosition& position) {
  bool same = count_ >= 0;
  for (std::size_t axis = 0; axis < axes_; ++axis) {
    const std::size_t o = static_cast<std::size_t>(position[axis]);
    const std::int32_t first = plan_.first_taps[axis][o], taps = plan_.tap_counts[axis][o];
    same = same && first == first_[axis] && taps == taps_[axis];
    first_[axis] = first;
    taps_[axis] = taps;
  }
  std::int64_t origin = 0;
  for (std::size_t axis = 0; axis < axes_; ++axis)
    origin += (position[axis] * plan_.axes[axis].stride - plan_.axes[axis].padding_before) * plan_.source_steps[axis];
  if (same) {
    const std::int64_t moved = origin - origin_;
    origin_ = origin;
    for (std::int64_t t = 0; t < count_ && moved != 0; ++t) offsets_[t] += moved;
    return;
  }
  origin_ = origin;
  // Axes beyond `axes_` are left out: they take one tap at distance 0.
  std::array<std::int32_t, 4> first = first_, taps = taps_;
  for (std::size_t axis = axes_; axis < 4; ++axis) {
    first[axis] = 0;
    taps[axis] = 1;
  }
  count_ = 0;
  for (std::int32_t a = first[0]; a < first[0] + taps[0]; ++a) {
    for (std::int32_t b = first[1]; b < first[1] + taps[1]; ++b) {
      for (std::int32_t c = first[2]; c < first[2] + taps[2]; ++c) {
        for (std::int32_t d = first[3]; d < first[3] + taps[3]; ++d) {
          const std::array<std::int64_t, 4> tap{a, b, c, d};
          std::int64_t offset = origin, code = 0;
          for (std::size_t axis = 0; axis < 4; ++axis) {
            offset += tap[axis] * plan_.axes[axis].dilation * plan_.source_steps[axis];
            code += tap[axis] * plan_.index_tap_steps[axis];
          }
          offsets_[count_] = offset;
          codes_[count_] = static_cast<std::int32_t>(code);
          ++count_;
        }
      }
    }
  }
}

}  // namespace mpsgraph_native::cpu
