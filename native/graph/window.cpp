#include "graph/window.hpp"

#include <algorithm>

#include "graph/division.hpp"
#include "graph/types.hpp"

namespace mpsgraph_native {
namespace {

void check_range(std::string_view operation, std::string_view name, std::int64_t value, std::int64_t minimum) {
  if (value < minimum) fail<ShapeError>(operation, name, "must be at least ", minimum, ", got ", value);
  if (value > maximum_elements) fail<ShapeError>(operation, name, "must be at most 2**31 - 1, got ", value);
}

}  // namespace

WindowAxis resolve_window_axis(std::string_view operation, const WindowAxisNames& names, WindowAxis axis,
                               PaddingStyle style, bool ceil_mode) {
  check_range(operation, names.kernel, axis.kernel, 1);
  check_range(operation, names.stride, axis.stride, 1);
  check_range(operation, names.dilation, axis.dilation, 1);
  check_range(operation, names.padding_before, axis.padding_before, 0);
  check_range(operation, names.padding_after, axis.padding_after, 0);
  if (axis.input < 1)
    fail<ShapeError>(operation, names.input, "must have no spatial dimension of size 0, got size ", axis.input);
  // All factors are below 2**31, so the product cannot wrap in int64.
  const std::int64_t extent = axis.effective_kernel();
  if (extent > maximum_elements)
    fail<ShapeError>(operation, names.dilation, "must keep the dilated kernel below 2**31, got ", axis.dilation,
                     " for a kernel of ", axis.kernel);

  switch (style) {
    case PaddingStyle::Explicit: {
      const std::int64_t padded = axis.input + axis.padding_before + axis.padding_after;
      if (padded > maximum_elements) {
        const bool before = axis.padding_before >= axis.padding_after;
        fail<ShapeError>(operation, before ? names.padding_before : names.padding_after,
                         "must keep the padded input below 2**31, got ",
                         before ? axis.padding_before : axis.padding_after);
      }
      const std::int64_t room = padded - extent;
      if (room < 0) {
        if (axis.dilation > 1 && axis.kernel <= padded)
          fail<ShapeError>(operation, names.dilation, "must keep the dilated kernel within the padded ", names.input,
                           " of size ", padded, ", got ", axis.dilation, " for a kernel of ", axis.kernel);
        fail<ShapeError>(operation, names.input, "must be at least as large as the kernel: padded size ", padded,
                         " is below the kernel's extent ", extent, " (", names.kernel, ")");
      }
      axis.output = (ceil_mode ? ceil_divide(room, axis.stride) : room / axis.stride) + 1;
      return axis;
    }
    case PaddingStyle::TF_VALID:
      axis.padding_before = axis.padding_after = 0;
      if (axis.input < extent)
        fail<ShapeError>(operation, names.input, "must be at least as large as the kernel: size ", axis.input,
                         " is below the kernel's extent ", extent, " (", names.kernel, ")");
      axis.output = ceil_divide(axis.input - extent + 1, axis.stride);
      return axis;
    case PaddingStyle::TF_SAME:
    case PaddingStyle::ONNX_SAME_LOWER: {
      axis.output = ceil_divide(axis.input, axis.stride);
      const std::int64_t total = std::max<std::int64_t>((axis.output - 1) * axis.stride + extent - axis.input, 0);
      const std::int64_t smaller = total / 2;
      const bool extra_at_end = style == PaddingStyle::TF_SAME;
      axis.padding_before = extra_at_end ? smaller : total - smaller;
      axis.padding_after = total - axis.padding_before;
      return axis;
    }
    case PaddingStyle::ExplicitOffset: break;
  }
  fail<ShapeError>(operation, "padding_style", "must be Explicit, TF_VALID, TF_SAME or ONNX_SAME_LOWER, got ",
                   name_of(style));
}

}  // namespace mpsgraph_native
