"""MPSGraph's enumerations, with its names and its raw values."""

import operator
from enum import IntEnum

from mpsgraph_native.errors import DTypeError, ShapeError

__all__ = [
    "LossReductionType",
    "PaddingStyle",
    "PoolingReturnIndicesMode",
    "RNNActivation",
    "TensorNamedDataLayout",
]


class _Named(IntEnum):
    """Members are looked up by value or by MPSGraph's name."""

    __str__ = IntEnum.__repr__

    @classmethod
    def _missing_(cls, value):
        return cls.__members__.get(value) if isinstance(value, str) else None

    @classmethod
    def coerce(cls, value, argument):
        """The member that `value` (a member, its name or its raw value) stands for; ShapeError names `argument`."""
        if isinstance(value, cls):
            return value
        if isinstance(value, str):
            if value in cls.__members__:
                return cls.__members__[value]
        elif hasattr(value, "__index__") and not isinstance(value, (bool, IntEnum)):
            if any(operator.index(value) == member for member in cls):
                return cls(operator.index(value))
        else:
            raise DTypeError(f"{argument} must be a {cls.__name__} or its name, got {value!r}")
        names = ", ".join(name for name in cls.__members__ if not name.endswith("_"))
        raise ShapeError(f"{argument} must be one of {names}, got {value!r}")


def _enumeration(name, members, documentation):
    enumeration = _Named(name, members, module=__name__)
    enumeration.__doc__ = documentation
    return enumeration


# Members called None need the functional form, and `None_` is how Python code can spell them as an attribute.

PaddingStyle = _enumeration(
    "PaddingStyle",
    {"Explicit": 0, "TF_VALID": 1, "TF_SAME": 2, "ExplicitOffset": 3, "ONNX_SAME_LOWER": 4},
    """How a window's padding is determined (MPSGraphPaddingStyle).

    Explicit takes the descriptor's paddings; TF_VALID none; TF_SAME as much as makes the output ceil(input / stride),
    the odd element at the end; ONNX_SAME_LOWER the same with the odd element at the start. ExplicitOffset has a meaning
    for stencils only and is refused elsewhere.""",
)
TensorNamedDataLayout = _enumeration(
    "TensorNamedDataLayout",
    {
        "NCHW": 0, "NHWC": 1, "OIHW": 2, "HWIO": 3, "CHW": 4, "HWC": 5, "HW": 6,
        "NCDHW": 7, "NDHWC": 8, "OIDHW": 9, "DHWIO": 10,
    },
    "The order of a tensor's dimensions, slowest first (MPSGraphTensorNamedDataLayout).",
)  # fmt: skip
PoolingReturnIndicesMode = _enumeration(
    "PoolingReturnIndicesMode",
    {
        "None": 0, "None_": 0,
        "GlobalFlatten1D": 1, "GlobalFlatten2D": 2, "GlobalFlatten3D": 3, "GlobalFlatten4D": 4,
        "LocalFlatten1D": 5, "LocalFlatten2D": 6, "LocalFlatten3D": 7, "LocalFlatten4D": 8,
    },
    """What the indices of a max pooling count (MPSGraphPoolingReturnIndicesMode).

    GlobalFlattenND: the position of the maximum in the source, flattened row-major over the N innermost dimensions of
    the memory. LocalFlattenND: its position in the window, flattened over the N innermost kernel dimensions.""",
)  # fmt: skip
RNNActivation = _enumeration(
    "RNNActivation",
    {"None": 0, "None_": 0, "Relu": 1, "Tanh": 2, "Sigmoid": 3, "HardSigmoid": 4},
    """Activation of a gate (MPSGraphRNNActivation): the identity, max(a, 0), tanh a, 1/(1 + exp(-a)),
    or clamp(0.2·a + 0.5, 0, 1).""",
)
LossReductionType = _enumeration(
    "LossReductionType",
    {"None": 0, "None_": 0, "Axis": 0, "Sum": 1, "Mean": 2},
    "How losses are combined over the axes that the softmax does not cover (MPSGraphLossReductionType).",
)
