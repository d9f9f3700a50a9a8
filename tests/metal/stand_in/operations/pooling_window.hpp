#pragma once

#include <array>

#include "window.hpp"

namespace stand_in {

/// A pooling window over the last four dimensions of a source; dimensions before them are batch.
struct PoolingWindow {
  using Position = std::array<std::int64_t, 4>;

  std::array<WindowAxis, 4> axes;
  std::int64_t batch = 1;
  Dims source, result;
  bool include_padding = false;  ///< in the divisor of an average
  MPSGraphPoolingReturnIndicesMode mode = MPSGraphPoolingReturnIndicesNone;
  bool rounds_up_padded = false;  ///< ceilMode with an explicit padding

  bool local() const { return mode >= MPSGraphPoolingReturnIndicesLocalFlatten1D; }
  std::size_t flattened() const { return local() ? mode - 4 : mode; }

  /// Calls visit(number of the output, its position) in row-major order of the results.
  template <class Visit>
  void each_output(Visit visit) const {
    std::size_t number = 0;
    for (std::int64_t n = 0; n < batch; ++n) {
      Position o;
      for (o[0] = 0; o[0] < axes[0].output; ++o[0])
        for (o[1] = 0; o[1] < axes[1].output; ++o[1])
          for (o[2] = 0; o[2] < axes[2].output; ++o[2])
            for (o[3] = 0; o[3] < axes[3].output; ++o[3]) visit(number++, n, o);
    }
  }

  /// Calls visit(element of the source, position there, tap) for the taps inside the source, in row-major order.
  template <class Visit>
  void each_tap(std::int64_t n, const Position& o, Visit visit) const {
    Position j, p;
    for (j[0] = 0; j[0] < axes[0].kernel; ++j[0]) {
      if (!axes[0].inside(p[0] = axes[0].position(o[0], j[0]))) continue;
      for (j[1] = 0; j[1] < axes[1].kernel; ++j[1]) {
        if (!axes[1].inside(p[1] = axes[1].position(o[1], j[1]))) continue;
        for (j[2] = 0; j[2] < axes[2].kernel; ++j[2]) {
          if (!axes[2].inside(p[2] = axes[2].position(o[2], j[2]))) continue;
          for (j[3] = 0; j[3] < axes[3].kernel; ++j[3])
            if (axes[3].inside(p[3] = axes[3].position(o[3], j[3]))) visit(element(n, p), p, j);
        }
      }
    }
  }

  std::size_t element(std::int64_t n, const Position& p) const;

  /// The index that the mode gives to the maximum at position p, tap j.
  std::int64_t index(const Position& p, const Position& j) const;
  /// The element of the source that an index of output o points to.
  std::size_t decoded(const Site& site, std::int64_t index, std::int64_t n, const Position& o) const;
};

PoolingWindow pooling_window(const Site& site, MPSGraphPooling2DOpDescriptor* descriptor, const Dims& source);
PoolingWindow pooling_window(const Site& site, MPSGraphPooling4DOpDescriptor* descriptor, const Dims& source);

}  // namespace stand_in
