#pragma once

#include <cstdint>
#include <string_view>

#include "graph/enumerations.hpp"

namespace mpsgraph_native {

/// One axis of a sliding window: tap j of output o reads source position o·stride − padding_before + j·dilation.
struct WindowAxis {
  std::int64_t input = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t padding_before = 0;
  std::int64_t padding_after = 0;
  std::int64_t output = 1;

  std::int64_t effective_kernel() const { return (kernel - 1) * dilation + 1; }
};

/// How a descriptor spells the fields of one axis, for messages.
struct WindowAxisNames {
  std::string_view input;  ///< the tensor argument
  std::string_view kernel, stride, dilation, padding_before, padding_after;
};

/// Checks the descriptor's fields of one axis, resolves the padding style and computes the output size.
/// `ceil_mode` rounds the size up as MPSGraph does (unclipped) and counts under the Explicit style alone.
/// Raises ShapeError naming the field: kernel, stride or dilation below 1, paddings below 0, anything past int32,
/// a kernel that exceeds the padded input, the ExplicitOffset style (which only a stencil defines).
WindowAxis resolve_window_axis(std::string_view operation, const WindowAxisNames& names, WindowAxis axis,
                               PaddingStyle style, bool ceil_mode = false);

}  // namespace mpsgraph_native
