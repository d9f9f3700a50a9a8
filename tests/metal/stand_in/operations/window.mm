#include "window.hpp"

#include <algorithm>

namespace stand_in {

WindowAxis resolved(const Site& site, WindowAxis axis, MPSGraphPaddingStyle style, bool ceil_mode) {
  site.require(axis.kernel > 0, "a kernel size is 0");
  site.require(axis.stride > 0, "a stride is 0");
  site.require(axis.dilation > 0, "a dilation rate is 0");
  site.require(axis.before >= 0 && axis.after >= 0, "a padding is negative");
  const auto rounded_up = [&](std::int64_t size) { return (size + axis.stride - 1) / axis.stride; };

  switch (style) {
    case MPSGraphPaddingStyleExplicit: {
      const std::int64_t room = axis.input + axis.before + axis.after - axis.extent();
      site.require(room >= 0, "the kernel is larger than the padded source");
      axis.output = (ceil_mode ? rounded_up(room) : room / axis.stride) + 1;
      return axis;
    }
    case MPSGraphPaddingStyleTF_VALID:
      axis.before = axis.after = 0;
      site.require(axis.input >= axis.extent(), "the kernel is larger than the source");
      axis.output = rounded_up(axis.input - axis.extent() + 1);
      return axis;
    case MPSGraphPaddingStyleTF_SAME:
    case MPSGraphPaddingStyleONNX_SAME_LOWER: {
      axis.output = rounded_up(axis.input);
      const std::int64_t total =
          std::max<std::int64_t>((axis.output - 1) * axis.stride + axis.extent() - axis.input, 0);
      axis.before = style == MPSGraphPaddingStyleTF_SAME ? total / 2 : total - total / 2;
      axis.after = total - axis.before;
      return axis;
    }
    default: assertion_failure(site.operation, "the padding style is not one of windows");
  }
}

}  // namespace stand_in
