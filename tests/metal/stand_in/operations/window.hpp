#pragma once

#include "support.hpp"

namespace stand_in {

/// One axis of a sliding window: tap j of output o reads position o·stride − before + j·dilation.
struct WindowAxis {
  std::int64_t input = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  std::int64_t output = 1;

  std::int64_t extent() const { return (kernel - 1) * dilation + 1; }
  std::int64_t position(std::int64_t out, std::int64_t tap) const { return out * stride - before + tap * dilation; }
  bool inside(std::int64_t position) const { return position >= 0 && position < input; }
};

/// Resolves the padding style and the output size; asserts on what cannot be.
WindowAxis resolved(const Site& site, WindowAxis axis, MPSGraphPaddingStyle style, bool ceil_mode = false);

}  // namespace stand_in
