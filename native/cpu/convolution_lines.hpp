#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/convolution_geometry.hpp"

namespace mpsgraph_native::cpu {

/// Lays results of correlations along x out in a row of a plane: lengths[p] outputs of axis p, from output `first` on.
template <class T>
void write_line(const CorrelationAxis* axes, std::size_t count, std::int64_t first, const T* const* from,
                const std::int64_t* lengths, T* row) {
  const std::int64_t step = axes[0].result_step;
  if (step == 1) {
    std::copy_n(from[0], lengths[0], row + axes[0].result_begin + first);
    return;
  }
  std::int64_t done = 0;
  if (count == 2 && step == 2) {
    // Both in one pass, which the compiler turns into vectors.
    const std::size_t even = axes[0].result_begin < axes[1].result_begin ? 0 : 1;
    const T* a = from[even];
    const T* b = from[1 - even];
    T* to = row + axes[even].result_begin + first * 2;
    done = std::min(lengths[0], lengths[1]);
    for (std::int64_t i = 0; i < done; ++i) {
      to[2 * i] = a[i];
      to[2 * i + 1] = b[i];
    }
  }
  for (std::size_t p = 0; p < count; ++p) {
    T* to = row + axes[p].result_begin + first * step;
    for (std::int64_t i = done; i < lengths[p]; ++i) to[i * step] = from[p][i];
  }
}

}  // namespace mpsgraph_native::cpu
