#pragma once

#include <vector>

#include "cpu/pooling_slice.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {

/// Max pooling of the rows of planes by the kernels that know their windows when compiled.
class PoolingPlanes {
 public:
  static bool fits(const PoolingPlan& plan);

  explicit PoolingPlanes(const PoolingPlan& plan);

  std::int64_t rows() const { return static_cast<std::int64_t>(rows_.size()); }  ///< of outputs, of one slice

  /// Rows [range.begin, range.end) of a slice, whose index is added to all; indices may be null. All begin at the
  /// slice.
  template <class T>
  void maximum(const T* source, Range range, std::int64_t index, T* values, std::int32_t* indices) const {
    const std::int64_t first = range.begin * plane_.outputs;
    kernels<T>().pooling.planes.maximum(plane_, source, rows_.data() + range.begin, range.end - range.begin, index,
                                        values + first, indices ? indices + first : nullptr);
  }

 private:
  PoolingPlane plane_;
  std::vector<PoolingPlane::Row> rows_;
};

}  // namespace mpsgraph_native::cpu
