"""Window geometry of one axis, and layouts.

Size n, kernel k, stride s, dilation d; effective kernel K = (k - 1) d + 1. Tap j of output o reads position o s - before + j d.

    Explicit          out = floor((n + before + after - K) / s) + 1; with ceil_mode the quotient is rounded up instead
    TF_VALID          out = ceil((n - K + 1) / s), no padding
    TF_SAME           out = ceil(n / s); total = max((out - 1) s + K - n, 0); before = floor(total / 2), after = the rest
    ONNX_SAME_LOWER   the same total; before = ceil(total / 2), after = the rest
"""

from typing import NamedTuple

import numpy as np


class Axis(NamedTuple):
    size: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int
    out: int

    def taps(self, output):
        """(tap, position) of the taps of this output that lie inside the source."""
        positions = ((tap, output * self.stride - self.before + tap * self.dilation) for tap in range(self.kernel))
        return [(tap, position) for tap, position in positions if 0 <= position < self.size]


def name_of(value):
    """The name of an enumeration member, or the string that stands for it."""
    return getattr(value, "name", value)


def axis(size, kernel, stride=1, dilation=1, before=0, after=0, style="Explicit", ceil_mode=False):
    """The geometry of one axis; paddings are read for the Explicit style only."""
    style = name_of(style)
    extent = (kernel - 1) * dilation + 1
    if style == "Explicit":
        rounding = stride - 1 if ceil_mode else 0
        out = (size + before + after - extent + rounding) // stride + 1
    elif style == "TF_VALID":
        before = after = 0
        out = -((extent - 1 - size) // stride)
    elif style in ("TF_SAME", "ONNX_SAME_LOWER"):
        out = -(-size // stride)
        total = max((out - 1) * stride + extent - size, 0)
        smaller, larger = total // 2, total - total // 2
        before, after = (smaller, larger) if style == "TF_SAME" else (larger, smaller)
    else:
        raise AssertionError(f"no geometry for padding style {style}")
    return Axis(size, kernel, stride, dilation, before, after, out)


def image_axes(image, kernel, descriptor):
    """The Y and X axes of a 2D descriptor."""
    d = descriptor
    ceil_mode = getattr(d, "ceil_mode", False)
    return (
        axis(
            image[0],
            kernel[0],
            d.stride_in_y,
            d.dilation_rate_in_y,
            d.padding_top,
            d.padding_bottom,
            d.padding_style,
            ceil_mode,
        ),
        axis(
            image[1],
            kernel[1],
            d.stride_in_x,
            d.dilation_rate_in_x,
            d.padding_left,
            d.padding_right,
            d.padding_style,
            ceil_mode,
        ),
    )


# Which axis of NCHW (or OIHW) stands at each place of the layout.
_ORDER = {"NCHW": (0, 1, 2, 3), "NHWC": (0, 2, 3, 1), "OIHW": (0, 1, 2, 3), "HWIO": (2, 3, 1, 0)}


def arranged(array, layout):
    """From NCHW or OIHW to the layout, as a C-contiguous copy."""
    return np.ascontiguousarray(np.transpose(array, _ORDER[name_of(layout)]))


def canonical(array, layout):
    """From the layout to NCHW or OIHW, in float64."""
    return np.transpose(np.asarray(array).astype(np.float64), np.argsort(_ORDER[name_of(layout)]))


def arranged_shape(shape, layout):
    return tuple(shape[place] for place in _ORDER[name_of(layout)])


def canonical_shape(shape, layout):
    return tuple(shape[place] for place in np.argsort(_ORDER[name_of(layout)]))
