"""Pooling over the last four axes, its indices and its gradients; a 2D descriptor is the 4D one with kernel 1 over batch and channels.

    max   y = the first maximum of the taps inside the source in row-major window order; the first NaN beats every number;
          -inf and index -1 for a window with no tap inside
    avg   y = sum / D, D = the whole window with include_zero_pad_to_average, else the taps inside; 0 for a window with no tap inside
    l2    y = sqrt(sum of squares), not divided by the window

    GlobalFlattenND   sum over the N innermost axes of p_i times the product of the source's sizes inside of i
    LocalFlattenND    the same with the tap j_i and the kernel's sizes

The max gradient adds each window's gradient at its maximum; avg adds g / D at every tap inside; l2 adds g x / y, nothing where y = 0.
"""

import functools
import itertools
import math
from typing import NamedTuple

import numpy as np

from mpsgraph_native.verify.reference import Expected
from mpsgraph_native.verify.reference.geometry import axis, name_of


class Fields(NamedTuple):
    """The fields of a 4D descriptor that decide the result."""

    kernel_sizes: tuple[int, ...]
    strides: tuple[int, ...]
    dilation_rates: tuple[int, ...]
    padding_values: tuple[int, ...]
    padding_style: str
    ceil_mode: bool
    include_zero_pad_to_average: bool
    return_indices_mode: str


def fields(descriptor):
    """Read a 4D descriptor, or a 2D one as its 4D equal."""
    d = descriptor
    flags = (name_of(d.padding_style), d.ceil_mode, d.include_zero_pad_to_average, name_of(d.return_indices_mode))
    if hasattr(d, "kernel_sizes"):
        return Fields(tuple(d.kernel_sizes), tuple(d.strides), tuple(d.dilation_rates), tuple(d.padding_values), *flags)
    first_image_axis = {"NCHW": 2, "NHWC": 1}[name_of(d.data_layout)]

    def spread(rest, y, x):
        values = [rest] * 4
        values[first_image_axis : first_image_axis + 2] = y, x
        return values

    paddings = spread((0, 0), (d.padding_top, d.padding_bottom), (d.padding_left, d.padding_right))
    return Fields(
        tuple(spread(1, d.kernel_height, d.kernel_width)),
        tuple(spread(1, d.stride_in_y, d.stride_in_x)),
        tuple(spread(1, d.dilation_rate_in_y, d.dilation_rate_in_x)),
        tuple(itertools.chain(*paddings)),
        *flags,
    )


def axes_of(shape, f):
    """The geometry of the last four axes."""
    return [
        axis(
            size,
            kernel,
            stride,
            dilation,
            f.padding_values[2 * i],
            f.padding_values[2 * i + 1],
            f.padding_style,
            f.ceil_mode,
        )
        for i, (size, kernel, stride, dilation) in enumerate(
            zip(shape[-4:], f.kernel_sizes, f.strides, f.dilation_rates, strict=True)
        )
    ]


def output_shape(source_shape, descriptor):
    return tuple(source_shape[:-4]) + tuple(a.out for a in axes_of(source_shape, fields(descriptor)))


def _windows(shape, f):
    """(output position, [(tap, source position), ...]) of every window, taps outside the source left out, in row-major order."""
    return _contacts(tuple(shape[:-4]), tuple(axes_of(shape, f)))


@functools.lru_cache(maxsize=4)
def _contacts(leading, axes):
    """Cached, since most of a sweep asks for the windows of the call before."""
    result = []
    inside = [[a.taps(output) for output in range(a.out)] for a in axes]
    for output in np.ndindex(*(a.out for a in axes)):
        taps = [
            tuple(zip(*combination, strict=True))
            for combination in itertools.product(*(inside[i][o] for i, o in enumerate(output)))
        ]
        for lead in np.ndindex(*leading):
            result.append((lead + output, [(tap, lead + position) for tap, position in taps]))
    return result


def _flat(position, sizes, count):
    """Row-major index over the `count` innermost axes."""
    return int(np.ravel_multi_index(position[-count:], sizes[-count:]))


def _flattening(mode):
    """("Global" or "Local", number of axes)."""
    kind, count = mode.removesuffix("D").split("Flatten")
    return kind, int(count)


def _winner(x, taps):
    """The (tap, position) that a maximum picks, None where no tap is inside."""
    best = None
    for tap, position in taps:
        value = x[position]
        if best is None or value > x[best[1]] or (math.isnan(value) and not math.isnan(x[best[1]])):
            best = tap, position
    return best


def max_pooling(source, descriptor):
    """(values, indices); indices are None for mode None."""
    f = fields(descriptor)
    x = np.asarray(source).astype(np.float64)
    values = np.full(output_shape(x.shape, descriptor), -np.inf)
    indices = np.full(values.shape, -1, dtype=np.int64)
    if f.return_indices_mode == "None":
        indices = None
    else:
        kind, count = _flattening(f.return_indices_mode)
    for output, taps in _windows(x.shape, f):
        best = _winner(x, taps)
        if best is None:
            continue
        values[output] = x[best[1]]
        if indices is not None:
            indices[output] = (
                _flat(best[1], x.shape, count) if kind == "Global" else _flat(best[0], f.kernel_sizes, count)
            )
    return values, indices


def max_gradient_from_source(gradient, source, descriptor):
    x = np.asarray(source).astype(np.float64)
    g = np.asarray(gradient).astype(np.float64)
    dx = np.zeros(x.shape)
    for output, taps in _windows(x.shape, fields(descriptor)):
        best = _winner(x, taps)
        if best is not None:
            dx[best[1]] += g[output]
    return dx


def max_gradient_from_indices(gradient, indices, source_shape, descriptor):
    """The axes outside the flattening are at output * stride - padding."""
    f = fields(descriptor)
    kind, count = _flattening(f.return_indices_mode)
    axes = axes_of(source_shape, f)
    g = np.asarray(gradient).astype(np.float64)
    dx = np.zeros(source_shape)
    for output in np.ndindex(*g.shape):
        index = int(indices[output])
        if index == -1:
            continue
        origin = [o * a.stride - a.before for o, a in zip(output[-4:], axes, strict=True)]
        if kind == "Global":
            origin[4 - count :] = np.unravel_index(index, source_shape[-count:])
        else:
            taps = np.unravel_index(index, f.kernel_sizes[-count:])
            for i, tap in zip(range(4 - count, 4), taps, strict=True):
                origin[i] += tap * axes[i].dilation
        assert all(0 <= p < a.size for p, a in zip(origin, axes, strict=True)), f"index {index} at {output}"
        dx[output[:-4] + tuple(map(int, origin))] += g[output]
    return dx


def _divisor(taps, f):
    return math.prod(f.kernel_sizes) if f.include_zero_pad_to_average else len(taps)


def avg_pooling(source, descriptor):
    f = fields(descriptor)
    x = np.asarray(source).astype(np.float64)
    y = np.zeros(output_shape(x.shape, descriptor))
    for output, taps in _windows(x.shape, f):
        if taps:
            y[output] = sum(x[position] for _, position in taps) / _divisor(taps, f)
    return y


def avg_gradient(gradient, source, descriptor):
    f = fields(descriptor)
    g = np.asarray(gradient).astype(np.float64)
    dx = np.zeros(np.shape(source))
    for output, taps in _windows(dx.shape, f):
        for _, position in taps:
            dx[position] += g[output] / _divisor(taps, f)
    return dx


def l2_norm_pooling(source, descriptor):
    x = np.asarray(source).astype(np.float64)
    y = np.zeros(output_shape(x.shape, descriptor))
    for output, taps in _windows(x.shape, fields(descriptor)):
        y[output] = math.sqrt(sum(x[position] ** 2 for _, position in taps))
    return y


def l2_norm_gradient(gradient, source, descriptor):
    x = np.asarray(source).astype(np.float64)
    g = np.asarray(gradient).astype(np.float64)
    y = l2_norm_pooling(source, descriptor)
    dx = np.zeros(x.shape)
    for output, taps in _windows(x.shape, fields(descriptor)):
        for _, position in taps:
            if y[output] != 0:
                dx[position] += g[output] * x[position] / y[output]
    return dx


_FORWARD = {"avg": avg_pooling, "l2_norm": l2_norm_pooling}
_GRADIENT = {"max": max_gradient_from_source, "avg": avg_gradient, "l2_norm": l2_norm_gradient}


def judge(kind, source, descriptor):
    """`Expected` of avg or l2_norm pooling. The norm's own terms are all positive: it is its own magnitude."""
    run = _FORWARD[kind]
    return Expected(
        run(source, descriptor), run(np.abs(source), descriptor), math.prod(fields(descriptor).kernel_sizes)
    )


def judge_gradient(kind, gradient, source, descriptor):
    """`Expected` of the gradient from source. No more windows cover an element than the kernel has taps."""
    run = _GRADIENT[kind]
    magnitude_source = source if kind == "max" else np.abs(source)
    window = math.prod(fields(descriptor).kernel_sizes)
    return Expected(run(gradient, source, descriptor), run(np.abs(gradient), magnitude_source, descriptor), 2 * window)
