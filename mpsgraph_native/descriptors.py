"""MPSGraph's descriptors as immutable values.

Fields are MPSGraph's property names in snake_case with its defaults. Enumerations accept their MPSGraph name. Integers
are checked when an operation uses the descriptor, so that the message can name both.
"""

import dataclasses
import operator
from dataclasses import dataclass, field

import numpy as np

from mpsgraph_native._core.descriptor import DescriptorCore
from mpsgraph_native.enumerations import (
    PaddingStyle,
    PoolingReturnIndicesMode,
    RNNActivation,
    TensorNamedDataLayout,
)
from mpsgraph_native.errors import DTypeError

__all__ = [
    "Convolution2DDescriptor",
    "DepthwiseConvolution2DDescriptor",
    "GRUDescriptor",
    "LSTMDescriptor",
    "Pooling2DDescriptor",
    "Pooling4DDescriptor",
    "SingleGateRNNDescriptor",
]


def _integer(value, name):
    if isinstance(value, (bool, np.bool_)):
        raise DTypeError(f"{name} must be an integer, got {value!r}")
    try:
        return operator.index(value)
    except TypeError:
        raise DTypeError(f"{name} must be an integer, got {value!r}") from None


def _flag(value, name):
    if not isinstance(value, (bool, np.bool_)):
        raise DTypeError(f"{name} must be a bool, got {value!r}")
    return bool(value)


def _integers(value, name):
    try:
        items = tuple(value)
    except TypeError:
        raise DTypeError(f"{name} must be a sequence of integers, got {value!r}") from None
    return tuple(_integer(item, name) for item in items)


def _data_type(value, name):
    try:
        return np.dtype(value).name
    except (TypeError, ValueError, SyntaxError):
        raise DTypeError(f"{name} must be a dtype, got {value!r}") from None


def _of(convert, default=dataclasses.MISSING):
    return field(default=default, metadata={"convert": convert})


def _enumeration(enumeration, default):
    return _of(enumeration.coerce, enumeration[default])


@dataclass(frozen=True, kw_only=True, repr=False)
class _Descriptor(DescriptorCore):
    def __post_init__(self):
        for entry in self._public_fields():
            value = entry.metadata["convert"](getattr(self, entry.name), f"{type(self).__name__}: {entry.name}")
            object.__setattr__(self, entry.name, value)

    @classmethod
    def _public_fields(cls):
        return dataclasses.fields(cls)

    def _attributes(self):
        """Field values by name, as the native side reads them."""
        return {entry.name: getattr(self, entry.name) for entry in self._public_fields()}

    def __repr__(self):
        """Only what differs from the defaults, so that a printed descriptor can be read and pasted."""
        shown = []
        for entry in self._public_fields():
            value = getattr(self, entry.name)
            if value != entry.default:
                shown.append(f"{entry.name}={getattr(value, 'name', value)!r}")
        return f"{type(self).__name__}({', '.join(shown)})"

    def __reduce__(self):
        return (_rebuild, (type(self), self._attributes()))


def _rebuild(cls, attributes):
    return cls(**attributes)


@dataclass(frozen=True, kw_only=True, repr=False)
class Convolution2DDescriptor(_Descriptor):
    """Geometry of a 2D convolution and of its gradients (MPSGraphConvolution2DOpDescriptor, macOS 11.0).

    Strides, dilations and groups are at least 1, paddings at least 0, in elements. The explicit paddings count under the
    Explicit style only. `data_layout` is NCHW or NHWC, `weights_layout` OIHW or HWIO, independently."""

    stride_in_x: int = _of(_integer, 1)
    stride_in_y: int = _of(_integer, 1)
    dilation_rate_in_x: int = _of(_integer, 1)
    dilation_rate_in_y: int = _of(_integer, 1)
    groups: int = _of(_integer, 1)
    padding_left: int = _of(_integer, 0)
    padding_right: int = _of(_integer, 0)
    padding_top: int = _of(_integer, 0)
    padding_bottom: int = _of(_integer, 0)
    padding_style: PaddingStyle = _enumeration(PaddingStyle, "Explicit")
    data_layout: TensorNamedDataLayout = _enumeration(TensorNamedDataLayout, "NCHW")
    weights_layout: TensorNamedDataLayout = _enumeration(TensorNamedDataLayout, "OIHW")


@dataclass(frozen=True, kw_only=True, repr=False)
class DepthwiseConvolution2DDescriptor(_Descriptor):
    """Geometry of a 2D depthwise convolution (MPSGraphDepthwiseConvolution2DOpDescriptor, macOS 11.0).

    As Convolution2DDescriptor without groups; the O dimension of `weights_layout` is the channel multiplier."""

    stride_in_x: int = _of(_integer, 1)
    stride_in_y: int = _of(_integer, 1)
    dilation_rate_in_x: int = _of(_integer, 1)
    dilation_rate_in_y: int = _of(_integer, 1)
    padding_left: int = _of(_integer, 0)
    padding_right: int = _of(_integer, 0)
    padding_top: int = _of(_integer, 0)
    padding_bottom: int = _of(_integer, 0)
    padding_style: PaddingStyle = _enumeration(PaddingStyle, "Explicit")
    data_layout: TensorNamedDataLayout = _enumeration(TensorNamedDataLayout, "NCHW")
    weights_layout: TensorNamedDataLayout = _enumeration(TensorNamedDataLayout, "OIHW")


@dataclass(frozen=True, kw_only=True, repr=False)
class Pooling2DDescriptor(_Descriptor):
    """A 2D pooling window (MPSGraphPooling2DOpDescriptor, macOS 11.0; flags 12.0; indices 12.2).

    `ceil_mode` rounds the output size up, unclipped, and counts under the Explicit style only.
    `include_zero_pad_to_average` makes the divisor of an average the whole window."""

    kernel_width: int = _of(_integer)
    kernel_height: int = _of(_integer)
    stride_in_x: int = _of(_integer, 1)
    stride_in_y: int = _of(_integer, 1)
    dilation_rate_in_x: int = _of(_integer, 1)
    dilation_rate_in_y: int = _of(_integer, 1)
    padding_left: int = _of(_integer, 0)
    padding_right: int = _of(_integer, 0)
    padding_top: int = _of(_integer, 0)
    padding_bottom: int = _of(_integer, 0)
    padding_style: PaddingStyle = _enumeration(PaddingStyle, "Explicit")
    data_layout: TensorNamedDataLayout = _enumeration(TensorNamedDataLayout, "NCHW")
    ceil_mode: bool = _of(_flag, False)
    include_zero_pad_to_average: bool = _of(_flag, False)
    return_indices_mode: PoolingReturnIndicesMode = _enumeration(PoolingReturnIndicesMode, "None")
    return_indices_data_type: str = _of(_data_type, "int32")


@dataclass(frozen=True, kw_only=True, repr=False)
class Pooling4DDescriptor(_Descriptor):
    """A pooling window over the last four dimensions (MPSGraphPooling4DOpDescriptor, macOS 12.0; indices 12.2).

    `padding_values` are [before, after] per dimension, slowest first: eight in all."""

    kernel_sizes: tuple = _of(_integers)
    strides: tuple = _of(_integers, (1, 1, 1, 1))
    dilation_rates: tuple = _of(_integers, (1, 1, 1, 1))
    padding_values: tuple = _of(_integers, (0, 0, 0, 0, 0, 0, 0, 0))
    padding_style: PaddingStyle = _enumeration(PaddingStyle, "Explicit")
    ceil_mode: bool = _of(_flag, False)
    include_zero_pad_to_average: bool = _of(_flag, False)
    return_indices_mode: PoolingReturnIndicesMode = _enumeration(PoolingReturnIndicesMode, "None")
    return_indices_data_type: str = _of(_data_type, "int32")


@dataclass(frozen=True, kw_only=True, repr=False)
class GRUDescriptor(_Descriptor):
    """Variant of a GRU (MPSGraphGRUDescriptor, macOS 13.0).

    Gate order is [z, r, o], with `reset_gate_first` [r, z, o]. `flip_z` swaps the roles of z and 1 - z."""

    reverse: bool = _of(_flag, False)
    bidirectional: bool = _of(_flag, False)
    training: bool = _of(_flag, False)
    reset_gate_first: bool = _of(_flag, False)
    reset_after: bool = _of(_flag, False)
    flip_z: bool = _of(_flag, False)
    update_gate_activation: RNNActivation = _enumeration(RNNActivation, "Sigmoid")
    reset_gate_activation: RNNActivation = _enumeration(RNNActivation, "Sigmoid")
    output_gate_activation: RNNActivation = _enumeration(RNNActivation, "Tanh")


@dataclass(frozen=True, kw_only=True, repr=False)
class LSTMDescriptor(_Descriptor):
    """Variant of an LSTM (MPSGraphLSTMDescriptor, macOS 12.3).

    Gate order is [i, f, z, o], with `forget_gate_last` [i, z, f, o]; z is the cell candidate."""

    reverse: bool = _of(_flag, False)
    bidirectional: bool = _of(_flag, False)
    produce_cell: bool = _of(_flag, False)
    training: bool = _of(_flag, False)
    forget_gate_last: bool = _of(_flag, False)
    input_gate_activation: RNNActivation = _enumeration(RNNActivation, "Sigmoid")
    forget_gate_activation: RNNActivation = _enumeration(RNNActivation, "Sigmoid")
    cell_gate_activation: RNNActivation = _enumeration(RNNActivation, "Tanh")
    output_gate_activation: RNNActivation = _enumeration(RNNActivation, "Sigmoid")
    activation: RNNActivation = _enumeration(RNNActivation, "Tanh")


@dataclass(frozen=True, kw_only=True, repr=False)
class SingleGateRNNDescriptor(_Descriptor):
    """Variant of a single gate RNN (MPSGraphSingleGateRNNDescriptor, macOS 12.3)."""

    reverse: bool = _of(_flag, False)
    bidirectional: bool = _of(_flag, False)
    training: bool = _of(_flag, False)
    activation: RNNActivation = _enumeration(RNNActivation, "Relu")


# Operations by the beginning of their names; a name that begins with none of these takes no descriptor.
_classes = {
    "convolution_2d": Convolution2DDescriptor,
    "depthwise_convolution_2d": DepthwiseConvolution2DDescriptor,
    "max_pooling_2d": Pooling2DDescriptor,
    "avg_pooling_2d": Pooling2DDescriptor,
    "max_pooling_4d": Pooling4DDescriptor,
    "avg_pooling_4d": Pooling4DDescriptor,
    "l2_norm_pooling_4d": Pooling4DDescriptor,
    "gru": GRUDescriptor,
    "lstm": LSTMDescriptor,
    "single_gate_rnn": SingleGateRNNDescriptor,
}


def descriptor_class(operation):
    """The class of the descriptor that `operation` takes, or None."""
    return next((cls for beginning, cls in _classes.items() if operation.startswith(beginning)), None)
