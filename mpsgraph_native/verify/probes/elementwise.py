"""What activations, losses, reductions and conversions leave open."""

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify.probes.probe import Probe
from mpsgraph_native.verify.reference.elementwise import sigmoid
from mpsgraph_native.verify.reference.softmax import softmax

NAN = np.nan


def _call(operation, *operands, dtype="float32", **attributes):
    """The flat result of an operation on lists of numbers."""

    def measure(device):
        arrays = [np.asarray(operand, dtype) for operand in operands]
        return getattr(mg, operation)(*arrays, **attributes, device=device).ravel()

    return measure


def _shape(reduction_type):
    """The shape of the losses of three lines."""

    def measure(device):
        source = np.zeros((3, 2), np.float32)
        return mg.softmax_cross_entropy(source, source, axis=1, reduction_type=reduction_type, device=device).shape

    return measure


def _signs_of_relu_gradient(device):
    return np.signbit(mg.relu_gradient(np.float32([-2, 2]), np.float32([-1, -1]), device=device))


_SOURCE, _INCOMING = np.float64([0.5, 1.5]), np.float64([1.0, 0.0])


def _softmax_gradient_of(y):
    return y * (_INCOMING - (_INCOMING * y).sum())


def _mean_gradient(device):
    """Of three lines with two classes each, labels zero but for the first class."""
    labels = np.float32([[1, 0]] * 3)
    return mg.softmax_cross_entropy_gradient(
        np.float32(12), 0 * labels, labels, axis=1, reduction_type="Mean", device=device
    )[0]


PROBES = (
    Probe(
        "softmax_gradient_source",
        "Is the source of softmax_gradient the forward input or its result?",
        _call("softmax_gradient", _INCOMING, _SOURCE, axis=0),
        {"the input": _softmax_gradient_of(softmax(_SOURCE, 0)), "the result": _softmax_gradient_of(_SOURCE)},
    ),
    Probe(
        "sigmoid_gradient_source",
        "Is the source of sigmoid_gradient the forward input or its result?",
        _call("sigmoid_gradient", [1], [2]),
        {"the input": [sigmoid(2) * sigmoid(-2)], "the result": [2 * (1 - 2)]},
    ),
    Probe(
        "relu_gradient_at_zero",
        "What is the slope of relu at 0?",
        _call("relu_gradient", [1], [0]),
        {"0": [0], "1": [1], "1/2": [0.5]},
    ),
    Probe(
        "relu_gradient_sign_of_zero",
        "Which sign has the zero where relu is flat? Sign bits for the gradients [-2, 2].",
        _signs_of_relu_gradient,
        {"the gradient's": [1, 0], "always +": [0, 0]},
    ),
    Probe(
        "relu_gradient_nan",
        "What is the gradient where the source is NaN?",
        _call("relu_gradient", [1], [NAN]),
        {"NaN": [NAN], "0": [0], "the gradient": [1]},
    ),
    Probe(
        "softmax_cross_entropy_gradient_labels",
        "Which gradient do labels get that do not sum to one? Source [0, 0], labels [2, 1].",
        lambda device: mg.softmax_cross_entropy_gradient(
            np.ones((1, 1), np.float32), np.zeros((1, 2), np.float32), np.float32([[2, 1]]), axis=1, device=device
        )[0],
        {"the derivative, softmax·Σlabels − labels": [-0.5, 0.5], "softmax − labels": [-1.5, -0.5]},
    ),
    Probe(
        "softmax_cross_entropy_mean",
        "By what does Mean divide a gradient? Three lines of two classes, incoming gradient 12.",
        _mean_gradient,
        {"the lines": [-2, 2], "the elements": [-1, 1], "the classes": [-3, 3], "1": [-6, 6]},
    ),
    Probe(
        "softmax_cross_entropy_shape_none",
        "Which shape has the loss of (3, 2) along axis 1 without a reduction?",
        _shape("None"),
        {"(3, 1)": (3, 1), "(3,)": (3,), "(3, 2)": (3, 2)},
    ),
    Probe(
        "softmax_cross_entropy_shape_sum",
        "Which shape has the sum of the losses?",
        _shape("Sum"),
        {"()": (), "(1,)": (1,), "(1, 1)": (1, 1)},
    ),
    Probe(
        "slice_gradient_strides",
        "Where does slice_gradient write under a stride? Gradient [1, 2], every second of 4 elements.",
        _call("slice_gradient", [1, 2], fwd_in_shape=(4,), starts=(0,), ends=(4,), strides=(2,)),
        {"where the slice read": [1, 0, 2, 0], "side by side": [1, 2, 0, 0]},
    ),
    Probe(
        "maximum_nan",
        "What is the maximum of a number and NaN? [1, NaN] and [NaN, 1].",
        _call("maximum", [1, NAN], [NAN, 1]),
        {"the number": [1, 1], "NaN": [NAN, NAN], "the second": [NAN, 1], "the first": [1, NAN]},
    ),
    Probe(
        "reduction_maximum_nan",
        "Does reduction_maximum skip NaN? Of [1, NaN, 0].",
        _call("reduction_maximum", [1, NAN, 0], axes=0),
        {"yes": [1], "no": [NAN], "it starts again after it": [0]},
    ),
    Probe(
        "reduction_arg_maximum_ties",
        "Which of several equal maxima does reduction_arg_maximum name? Of [0, 1, 1].",
        _call("reduction_arg_maximum", [0, 1, 1], axis=0),
        {"the first": [1], "the last": [2]},
    ),
    Probe(
        "reduction_arg_maximum_nan",
        "What does reduction_arg_maximum give without any number? Of [NaN, NaN].",
        _call("reduction_arg_maximum", [NAN, NAN], axis=0),
        {"-1": [-1], "0": [0], "1": [1]},
    ),
    Probe(
        "cast_out_of_range",
        "What do 1e10, -1e10 and NaN become as int32?",
        lambda device: mg.cast(np.float32([1e10, -1e10, NAN]), dtype="int32", device=device),
        {
            "the highest, the lowest and 0": [2**31 - 1, -(2**31), 0],
            "the lowest each": [-(2**31)] * 3,
            "the highest, the lowest and the lowest": [2**31 - 1, -(2**31), -(2**31)],
        },
    ),
    Probe(
        "integer_division_by_zero",
        "What is 7 / 0 in int32?",
        _call("division", [7], [0], dtype="int32"),
        {"0": [0], "-1": [-1], "the highest": [2**31 - 1]},
    ),
    Probe(
        "integer_division_rounding",
        "Which way does -7 / 2 round in int32?",
        _call("division", [-7], [2], dtype="int32"),
        {"toward zero": [-3], "down": [-4]},
    ),
    Probe(
        "float32_subnormals",
        "Are float32 numbers below the smallest normal one kept? 2**-130 + 0, in units of 2**-130.",
        lambda device: [np.float64(mg.addition(np.float32([2.0**-130]), np.float32([0]), device=device)[0]) * 2.0**130],
        {"yes": [1], "no, flushed to zero": [0]},
        promised=False,
    ),
)
