#pragma once

#include <array>
#include <vector>

#include "cpu/isa/pooling.hpp"
#include "cpu/kernel.hpp"
#include "graph/pooling.hpp"

namespace mpsgraph_native::cpu {

/// What an index counts.
enum class IndexMap {
  None,
  Mode,   ///< what the descriptor's mode says
  Slice,  ///< the position within the source slice, which the gradient scatters by
};

/// A pooling operation as independent slices: `outer` slices, each the four window axes over `inner` contiguous
/// elements. Leading axes that are not pooled belong to `outer`, trailing ones to `inner`.
///
/// The index of the maximum is linear in the output position and the tap in every mode:
/// origin + sum(output_step · o) + sum(tap_step · j) + inner_step · i + (slice mod named_outer) · source_slice.
struct PoolingPlan {
  std::int64_t outer = 1, inner = 1;
  std::array<WindowAxis, 4> axes;
  std::array<std::int64_t, 4> source_steps;  ///< in elements
  std::int64_t source_slice = 1, result_slice = 1;
  /// Taps of each output that are inside, per axis.
  std::array<std::vector<std::int32_t>, 4> first_taps, tap_counts;
  bool has_empty_windows = false;
  bool include_zero_pad_to_average = false;

  std::int64_t index_origin = 0;
  std::array<std::int64_t, 4> index_output_steps{}, index_tap_steps{};
  std::int64_t index_inner_step = 0, named_outer = 1;

  std::int64_t outputs(std::size_t axis) const { return axes[axis].output; }
  /// Output rows along the last axis in one slice.
  std::int64_t rows() const { return outputs(0) * outputs(1) * outputs(2); }
  /// The most taps that a window has inside.
  std::int64_t maximum_taps() const;
  /// The index contribution of a slice as a whole.
  std::int64_t slice_index(std::int64_t slice) const {
    return named_outer == 1 ? 0 : slice % named_outer * source_slice;  // a small slice costs less than a division
  }
};

/// `group` slices interleaved as [position][inner][slice of the group] count as one slice of `group` times as many
/// inner elements; indices then leave out what depends on the inner position or the slice.
PoolingPlan make_pooling_plan(const PoolingGeometry& geometry, IndexMap index_map, std::int64_t group = 1);

/// How a kernel lays its vectors.
enum class PoolingVectors {
  Row,     ///< along the last axis of the window
  Pixel,   ///< along `inner`
  Grouped  ///< along `inner` of slices interleaved in the scratch: `inner` alone would leave most lanes idle
};
PoolingVectors choose_vectors(const PoolingPlan& plan, std::int64_t lanes, bool has_row_kernel);
/// Slices to interleave so that the lanes are used.
std::int64_t slice_group(const PoolingPlan& plan, std::int64_t lanes);

/// Position of one window among those of a slice, row by row.
class WindowPosition {
 public:
  explicit WindowPosition(const PoolingPlan& plan) : plan_(plan) {}
  /// Moves to an output row: the last coordinate becomes 0.
  void set_row(std::int64_t row);
  void set_column(std::int64_t column) { at_[3] = column; }

  std::int64_t operator[](std::size_t axis) const { return at_[axis]; }
  std::int64_t index() const;
  bool empty() const;
  /// Divisor of the average over the first `axes` axes, at least 1.
  double divisor(std::size_t axes) const;

 private:
  const PoolingPlan& plan_;
  std::array<std::int64_t, 4> at_{};
};

/// The taps of a window over its first `axes` axes which are inside, as offsets from the slice and index codes.
/// Windows at the same distance from the borders share them, so they are written only when that changes.
class WindowTaps {
 public:
  WindowTaps(const PoolingPlan& plan, std::size_t axes, std::int64_t* offsets, std::int32_t* codes)
      : plan_(plan), axes_(axes), offsets_(offsets), codes_(codes) {}
  void update(const WindowPosition& position);
  std::int64_t count() const { return count_; }
  const std::int64_t* offsets() const { return offsets_; }
  const std::int32_t* codes() const { return codes_; }

 private:
  const PoolingPlan& plan_;
  std::size_t axes_;
  std::int64_t* offsets_;
  std::int32_t* codes_;
  std::int64_t count_ = -1, origin_ = 0;
  std::array<std::int32_t, 4> first_{}, taps_{};
};

}  // namespace mpsgraph_native::cpu
