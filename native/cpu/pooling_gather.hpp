#pragma once

#include <optional>

#include "cpu/pooling_slice.hpp"

namespace mpsgraph_native::cpu {

/// The gradient of max pooling from int32 indices that all lie inside their own windows, as those of the forward
/// operation do: vectors compare them with the few positions of the window, and nothing is scattered.
class PoolingGather {
 public:
  /// For a plan by IndexMap::Mode; nothing where its windows or the vectors do not suit. `by_window`: indices are no
  /// positions of the slice.
  static std::optional<PoolingGather> make(const PoolingPlan& plan, bool by_window, ScratchLayout& thread_scratch);

  /// Whether every index of the slice lies inside its window.
  bool holds(const Invocation& invocation, std::int64_t chunk, const std::int32_t* indices, std::int64_t slice) const;
  /// Adds in the order of the windows. All arrays begin at slice 0.
  void run(const Invocation& invocation, std::int64_t chunk, const std::int32_t* indices, const float* gradient,
           std::int64_t slice, float* result) const;

 private:
  explicit PoolingGather(const PoolingPlan& plan) : plan_(plan) {}

  /// body(pixel, element) for every row of a slice's result, until it returns false: windows that tile it are alike.
  template <class Body>
  bool for_each_row(const Invocation& invocation, std::int64_t chunk, std::int64_t slice, Body&& body) const;

  PoolingPlan plan_;
  std::optional<PoolingPlaneWindows>
      windows_;  ///< of planes; nothing: along the inner elements, of windows that tile the slice
  TapScratch taps_{};
};

}  // namespace mpsgraph_native::cpu
