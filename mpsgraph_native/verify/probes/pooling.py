"""What poolings leave open. Rows of pixels unless a second dimension is needed."""

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify.probes.probe import Probe

NAN = np.nan


def _image(values):
    values = np.asarray(values, np.float32)
    return values.reshape(1, 1, *(values.shape if values.ndim == 2 else (1, -1)))


def _window(width, height=1, **fields):
    return mg.Pooling2DDescriptor(kernel_width=width, kernel_height=height, **fields)


def _maxima(pixels, descriptor):
    return lambda device: mg.max_pooling_2d(_image(pixels), descriptor=descriptor, device=device).ravel()


def _indices(source, mode, width, height=1, **fields):
    descriptor = _window(width, height, return_indices_mode=mode, **fields)

    def measure(device):
        return mg.max_pooling_2d_return_indices(source, descriptor=descriptor, device=device)[1].ravel()

    return measure


def _gradient_of_maximum(pixels, width, height=1):
    """The gradient of one window that covers all pixels."""

    def measure(device):
        source, gradient = _image(pixels), np.ones((1, 1, 1, 1), np.float32)
        descriptor = _window(width, height)
        return mg.max_pooling_2d_gradient(gradient, source=source, descriptor=descriptor, device=device).ravel()

    return measure


def _averages(pixels, descriptor):
    return lambda device: mg.avg_pooling_2d(_image(pixels), descriptor=descriptor, device=device).ravel()


def _norm(pixels):
    descriptor = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 1, len(pixels)))
    return lambda device: mg.l2_norm_pooling_4d(_image(pixels), descriptor=descriptor, device=device).ravel()


def _norm_gradient(pixels):
    descriptor = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 1, len(pixels)))

    def measure(device):
        gradient = np.ones((1, 1, 1, 1), np.float32)
        return mg.l2_norm_pooling_4d_gradient(gradient, _image(pixels), descriptor=descriptor, device=device).ravel()

    return measure


def _gradient_from_strayed_indices(device):
    descriptor = _window(2, stride_in_x=2, return_indices_mode="GlobalFlatten2D")
    return mg.max_pooling_2d_gradient(
        _image([1, 10]), indices=np.int32([[[[3, 0]]]]), output_shape=(1, 1, 1, 4), descriptor=descriptor, device=device
    ).ravel()


def _gradient_from_an_index_beyond(device):
    """The sum of the result; NaN when the call is refused."""
    descriptor = _window(2, stride_in_x=2, return_indices_mode="GlobalFlatten2D")
    try:
        return mg.max_pooling_2d_gradient(
            _image([1, 10]), indices=np.int32([[[[4, 2]]]]), output_shape=(1, 1, 1, 4), descriptor=descriptor,
            device=device,
        ).sum()  # fmt: skip
    except mg.ShapeError:
        return NAN


def _signs_of_zeros(device):
    values = mg.max_pooling_2d(_image([-0.0, 0.0, 0.0, -0.0]), descriptor=_window(2, stride_in_x=2), device=device)
    return np.signbit(values).ravel()


def _size(pixels, **fields):
    """The size of the result along the pixels."""
    return lambda device: mg.max_pooling_2d(_image(pixels), descriptor=_window(**fields), device=device).shape[-1]


_TIES = [[0, 1], [1, 1]]
_NAN_SECOND = [5, NAN, 7, NAN]
_BEYOND = {"stride_in_x": 2, "ceil_mode": True}  # with one tap on four pixels: the third window lies outside
_ODD = np.float32([[[[0, 1], [2, 3]], [[4, 5], [9, 7]]]])  # NHWC, the largest element at (1, 1, 0)

PROBES = (
    Probe(
        "max_pooling_ties",
        "Which of several equal maxima does an index name? 2x2 window [[0, 1], [1, 1]].",
        _indices(_image(_TIES), "GlobalFlatten2D", 2, 2),
        {"the first in row-major order": [1], "the first in column-major order": [2], "the last": [3]},
    ),
    Probe(
        "max_pooling_gradient_ties",
        "Where does the gradient from the source go among equal maxima? 2x2 window [[0, 1], [1, 1]].",
        _gradient_of_maximum(_TIES, 2, 2),
        {
            "to the first in row-major order": [0, 1, 0, 0],
            "to the first in column-major order": [0, 0, 1, 0],
            "to the last": [0, 0, 0, 1],
            "to all of them": [0, 1, 1, 1],
            "shared equally": [0, 1 / 3, 1 / 3, 1 / 3],
        },
    ),
    Probe(
        "max_pooling_nan",
        "What is the maximum of NaN and numbers? Windows [NaN, 1, 2], [1, NaN, 2], [1, 2, NaN].",
        _maxima([NAN, 1, 2, 1, NAN, 2, 1, 2, NAN], _window(3, stride_in_x=3)),
        {
            "NaN": [NAN, NAN, NAN],
            "the largest number": [2, 2, 2],
            "NaN if it comes first": [NAN, 2, 2],
            "NaN if it comes last": [2, 2, NAN],
        },
    ),
    Probe(
        "max_pooling_nan_index",
        "Which element does the index name? Window [5, NaN, 7, NaN].",
        _indices(_image(_NAN_SECOND), "GlobalFlatten2D", 4),
        {"the first NaN": [1], "the last NaN": [3], "the largest number": [2], "none (-1)": [-1], "the first tap": [0]},
    ),
    Probe(
        "max_pooling_gradient_nan",
        "Where does the gradient from the source go? Window [5, NaN, 7, NaN].",
        _gradient_of_maximum(_NAN_SECOND, 4),
        {
            "to the first NaN": [0, 1, 0, 0],
            "to the last NaN": [0, 0, 0, 1],
            "to the largest number": [0, 0, 1, 0],
            "to every NaN": [0, 1, 0, 1],
            "nowhere": [0, 0, 0, 0],
        },
    ),
    Probe(
        "max_pooling_signed_zeros",
        "Which zero is the maximum? Sign bits of the maxima of [-0, +0] and [+0, -0].",
        _signs_of_zeros,
        {"the first": [1, 0], "+0": [0, 0], "the last": [0, 1], "-0": [1, 1]},
    ),
    Probe(
        "max_pooling_padding",
        "Can padding win? 3 taps, padding 1 before, pixels [-5, -6].",
        _maxima([-5, -6], _window(3, padding_left=1)),
        {"no": [-5], "yes, as zero": [0]},
    ),
    Probe(
        "max_pooling_empty_window",
        "What is the maximum of a window outside the source? ceil_mode, pixels [-1, -2, -3, -4].",
        _maxima([-1, -2, -3, -4], _window(1, **_BEYOND)),
        {
            "-inf": [-1, -3, -np.inf],
            "0": [-1, -3, 0],
            "the lowest float": [-1, -3, float(np.finfo(np.float32).min)],
            "NaN": [-1, -3, NAN],
            "the last pixel": [-1, -3, -4],
            "there is no such window": [-1, -3],
        },
    ),
    Probe(
        "max_pooling_empty_window_index",
        "What is the index of a window outside the source? ceil_mode, four pixels.",
        _indices(_image([1, 2, 3, 4]), "GlobalFlatten2D", 1, **_BEYOND),
        {"-1": [0, 2, -1], "0": [0, 2, 0], "its position": [0, 2, 4], "there is no such window": [0, 2]},
    ),
    Probe(
        "max_pooling_indices_outside_their_window",
        "Where does the gradient 1 go whose index 3 lies in another window? Windows of 2 pixels, gradient [1, 10], "
        "indices [3, 0].",
        _gradient_from_strayed_indices,
        {"where the index points": [10, 0, 0, 1], "nowhere": [0, 0, 0, 0], "into its own window": [0, 1, 10, 0]},
    ),
    Probe(
        "max_pooling_indices_outside_the_source",
        "Where does the gradient 1 go whose index 4 is past 4 pixels? Sum of the result, gradient [1, 10].",
        _gradient_from_an_index_beyond,
        {"the call is refused": NAN, "nowhere": 10, "to another pixel": 11},
    ),
    Probe(
        "local_indices_under_dilation",
        "Is a local index the number of the tap or its offset? 2 taps, dilation 2, pixels [1, 0, 2].",
        _indices(_image([1, 0, 2]), "LocalFlatten4D", 2, dilation_rate_in_x=2),
        {"the tap": [1], "the offset": [2]},
    ),
    Probe(
        "local_indices_with_padding",
        "Do taps on padding count in a local index? 3 taps, padding 1 before, pixels [7, 1].",
        _indices(_image([7, 1]), "LocalFlatten4D", 3, padding_left=1),
        {"yes": [1], "no": [0]},
    ),
    Probe(
        "global_flatten_2d_in_nhwc",
        "What does GlobalFlatten2D flatten in NHWC? Maximum at h = 1, w = 1, c = 0 of 2x2x2.",
        lambda device: _indices(_ODD, "GlobalFlatten2D", 2, 2, data_layout="NHWC")(device)[0],
        {"W and C": 2, "H and W": 3, "H, W and C": 6},
    ),
    Probe(
        "global_flatten_1d_of_a_2d_window",
        "What does GlobalFlatten1D give for a window over H and W? Maximum at h = 1, w = 1 of 2x2.",
        _indices(_image([[0, 1], [2, 3]]), "GlobalFlatten1D", 2, 2),
        {"w": [1], "h·W + w": [3]},
    ),
    Probe(
        "ceil_mode_size",
        "Does ceil_mode keep a last window that begins outside the source? 1 tap, stride 2, 4 pixels.",
        _size([1, 2, 3, 4], width=1, **_BEYOND),
        {"yes (3 windows)": 3, "no (2 windows)": 2},
    ),
    Probe(
        "ceil_mode_with_tf_valid",
        "Does ceil_mode change TF_VALID? 3 taps, stride 2, 6 pixels.",
        _size([1, 2, 3, 4, 5, 6], width=3, padding_style="TF_VALID", **_BEYOND),
        {"no (2 windows)": 2, "yes (3 windows)": 3},
    ),
    Probe(
        "ceil_mode_with_tf_same",
        "Does ceil_mode change TF_SAME? 1 tap, stride 2, 4 pixels.",
        _size([1, 2, 3, 4], width=1, padding_style="TF_SAME", **_BEYOND),
        {"no (2 windows)": 2, "yes (3 windows)": 3},
    ),
    Probe(
        "avg_pooling_divisor",
        "What divides a sum at the border without include_zero_pad_to_average? 3 taps, padding 1 before, pixels [6, 6].",
        _averages([6, 6], _window(3, padding_left=1)),
        {"the taps inside": [6], "all taps": [4]},
    ),
    Probe(
        "avg_pooling_divisor_beyond_ceil",
        "Does include_zero_pad_to_average count what ceil_mode hangs over? 3 taps, stride 2, 4 pixels of 6.",
        _averages([6, 6, 6, 6], _window(3, include_zero_pad_to_average=True, **_BEYOND)),
        {"yes": [6, 4], "no": [6, 6]},
    ),
    Probe(
        "avg_pooling_empty_window",
        "What is the average of a window outside the source? ceil_mode, pixels [1, 2, 3, 4].",
        _averages([1, 2, 3, 4], _window(1, **_BEYOND)),
        {"0": [1, 3, 0], "NaN": [1, 3, NAN], "there is no such window": [1, 3]},
    ),
    Probe(
        "l2_norm_pooling_count",
        "Is the L2 norm divided by the size of the window? Window [3, 4].",
        _norm([3, 4]),
        {"no": [5], "under the root (root mean square)": [np.sqrt(12.5)], "outside the root": [2.5]},
    ),
    Probe(
        "l2_norm_pooling_gradient_at_zero",
        "What is the gradient of the norm of zeros? Window [0, 0].",
        _norm_gradient([0, 0]),
        {"0": [0, 0], "NaN": [NAN, NAN], "infinite": [np.inf, np.inf]},
    ),
)
