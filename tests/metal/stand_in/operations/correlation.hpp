#pragma once

#include <array>

#include "window.hpp"

namespace stand_in {

/// A grouped cross-correlation over up to three spatial axes, free of layouts: its sizes, and the strides of each
/// coordinate in the source, the weights and the result. Convolutions and depthwise convolutions alike are one.
struct Correlation {
  std::int64_t batch = 1, groups = 1, inputs = 1, outputs = 1;  ///< channels per group
  std::array<WindowAxis, 3> axes;

  struct Image {
    std::int64_t batch = 0, channel = 0;
    std::array<std::int64_t, 3> spatial{};
  };
  struct Kernels {
    std::int64_t group = 0, output = 0, input = 0;
    std::array<std::int64_t, 3> spatial{};
  };
  Image source, result;
  Kernels weights;
  Dims source_shape, weights_shape, result_shape;
  bool weights_are_view = false;  ///< which Apple's framework reads wrongly, as users report

  Values forward(const Values& x, const Values& w) const;
  Values data_gradient(const Values& gradient, const Values& w) const;
  /// Half types accumulate in half, as users report of Apple's framework.
  Values weights_gradient(const Values& gradient, const Values& x, MPSDataType type) const;
};

}  // namespace stand_in
