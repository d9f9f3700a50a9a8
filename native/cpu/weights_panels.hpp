#pragma once

#include <cstdint>
#include <vector>

#include "cpu/convolution_geometry.hpp"
#include "cpu/dispatch.hpp"
#include "runtime/threads.hpp"

namespace mpsgraph_native::cpu {

/// How a correlation walks the weights tensor: rows are the result's channels, the depth runs over the input's.
struct WeightsStrides {
  std::int64_t group = 0, row = 0, channel = 0, y = 0, x = 0;
};

/// Offset in the weights tensor of each tap of a correlation, those of the x axis innermost.
std::vector<std::int64_t> kernel_offsets(const WeightsStrides& strides, const CorrelationAxis& y,
                                         const CorrelationAxis& x);

/// Panels of the weights of a correlation, whose depth is (channel, tap), taps innermost.
template <class T>
class WeightsPanels {
 public:
  WeightsPanels(const WeightsStrides& strides, std::int64_t rows, const CorrelationAxis& y, const CorrelationAxis& x);

  const PanelKernels<T>& kernels() const { return panel_; }
  std::int64_t width() const { return panel_.width; }
  std::int64_t count() const { return (rows_ + panel_.width - 1) / panel_.width; }
  /// Rows of a panel that are the weights'; the others are zero.
  std::int64_t rows(std::int64_t panel) const;
  /// Packs some channels of a panel.
  void pack(const T* weights, std::int64_t group, std::int64_t panel, Range channels, T* packed) const;

 private:
  const MatrixKernels<T>& kernels_;
  const PanelKernels<T>& panel_;
  WeightsStrides strides_;
  std::int64_t rows_;
  std::vector<std::int64_t> taps_;  ///< offset of each in the weights tensor
  bool in_order_;                   ///< taps follow each other in the tensor, and channels follow taps
};

}  // namespace mpsgraph_native::cpu
