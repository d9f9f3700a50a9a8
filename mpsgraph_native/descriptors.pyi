# Written from the package itself; CONTRIBUTING.md says how.
from collections.abc import Iterable
from dataclasses import Field
from typing import Any, ClassVar, SupportsIndex

import numpy as np

from mpsgraph_native._core.descriptor import DescriptorCore
from mpsgraph_native.enumerations import PaddingStyle, PoolingReturnIndicesMode, RNNActivation, TensorNamedDataLayout
from mpsgraph_native.typing import (
    DTypeLike,
    PaddingStyleName,
    PoolingReturnIndicesModeName,
    RNNActivationName,
    TensorNamedDataLayoutName,
)

__all__ = [
    "Convolution2DDescriptor",
    "DepthwiseConvolution2DDescriptor",
    "GRUDescriptor",
    "LSTMDescriptor",
    "Pooling2DDescriptor",
    "Pooling4DDescriptor",
    "SingleGateRNNDescriptor",
]

class _Descriptor(DescriptorCore):
    # Fields are properties here: they take more than they give, and cannot be set.
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[()]] = ()
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __post_init__(self) -> None: ...
    def _attributes(self) -> dict[str, Any]: ...

class Convolution2DDescriptor(_Descriptor):
    def __init__(
        self,
        *,
        stride_in_x: SupportsIndex = 1,
        stride_in_y: SupportsIndex = 1,
        dilation_rate_in_x: SupportsIndex = 1,
        dilation_rate_in_y: SupportsIndex = 1,
        groups: SupportsIndex = 1,
        padding_left: SupportsIndex = 0,
        padding_right: SupportsIndex = 0,
        padding_top: SupportsIndex = 0,
        padding_bottom: SupportsIndex = 0,
        padding_style: PaddingStyle | PaddingStyleName = ...,
        data_layout: TensorNamedDataLayout | TensorNamedDataLayoutName = ...,
        weights_layout: TensorNamedDataLayout | TensorNamedDataLayoutName = ...,
    ) -> None: ...
    @property
    def stride_in_x(self) -> int: ...
    @property
    def stride_in_y(self) -> int: ...
    @property
    def dilation_rate_in_x(self) -> int: ...
    @property
    def dilation_rate_in_y(self) -> int: ...
    @property
    def groups(self) -> int: ...
    @property
    def padding_left(self) -> int: ...
    @property
    def padding_right(self) -> int: ...
    @property
    def padding_top(self) -> int: ...
    @property
    def padding_bottom(self) -> int: ...
    @property
    def padding_style(self) -> PaddingStyle: ...
    @property
    def data_layout(self) -> TensorNamedDataLayout: ...
    @property
    def weights_layout(self) -> TensorNamedDataLayout: ...

class DepthwiseConvolution2DDescriptor(_Descriptor):
    def __init__(
        self,
        *,
        stride_in_x: SupportsIndex = 1,
        stride_in_y: SupportsIndex = 1,
        dilation_rate_in_x: SupportsIndex = 1,
        dilation_rate_in_y: SupportsIndex = 1,
        padding_left: SupportsIndex = 0,
        padding_right: SupportsIndex = 0,
        padding_top: SupportsIndex = 0,
        padding_bottom: SupportsIndex = 0,
        padding_style: PaddingStyle | PaddingStyleName = ...,
        data_layout: TensorNamedDataLayout | TensorNamedDataLayoutName = ...,
        weights_layout: TensorNamedDataLayout | TensorNamedDataLayoutName = ...,
    ) -> None: ...
    @property
    def stride_in_x(self) -> int: ...
    @property
    def stride_in_y(self) -> int: ...
    @property
    def dilation_rate_in_x(self) -> int: ...
    @property
    def dilation_rate_in_y(self) -> int: ...
    @property
    def padding_left(self) -> int: ...
    @property
    def padding_right(self) -> int: ...
    @property
    def padding_top(self) -> int: ...
    @property
    def padding_bottom(self) -> int: ...
    @property
    def padding_style(self) -> PaddingStyle: ...
    @property
    def data_layout(self) -> TensorNamedDataLayout: ...
    @property
    def weights_layout(self) -> TensorNamedDataLayout: ...

class GRUDescriptor(_Descriptor):
    def __init__(
        self,
        *,
        reverse: bool | np.bool_ = False,
        bidirectional: bool | np.bool_ = False,
        training: bool | np.bool_ = False,
        reset_gate_first: bool | np.bool_ = False,
        reset_after: bool | np.bool_ = False,
        flip_z: bool | np.bool_ = False,
        update_gate_activation: RNNActivation | RNNActivationName = ...,
        reset_gate_activation: RNNActivation | RNNActivationName = ...,
        output_gate_activation: RNNActivation | RNNActivationName = ...,
    ) -> None: ...
    @property
    def reverse(self) -> bool: ...
    @property
    def bidirectional(self) -> bool: ...
    @property
    def training(self) -> bool: ...
    @property
    def reset_gate_first(self) -> bool: ...
    @property
    def reset_after(self) -> bool: ...
    @property
    def flip_z(self) -> bool: ...
    @property
    def update_gate_activation(self) -> RNNActivation: ...
    @property
    def reset_gate_activation(self) -> RNNActivation: ...
    @property
    def output_gate_activation(self) -> RNNActivation: ...

class LSTMDescriptor(_Descriptor):
    def __init__(
        self,
        *,
        reverse: bool | np.bool_ = False,
        bidirectional: bool | np.bool_ = False,
        produce_cell: bool | np.bool_ = False,
        training: bool | np.bool_ = False,
        forget_gate_last: bool | np.bool_ = False,
        input_gate_activation: RNNActivation | RNNActivationName = ...,
        forget_gate_activation: RNNActivation | RNNActivationName = ...,
        cell_gate_activation: RNNActivation | RNNActivationName = ...,
        output_gate_activation: RNNActivation | RNNActivationName = ...,
        activation: RNNActivation | RNNActivationName = ...,
    ) -> None: ...
    @property
    def reverse(self) -> bool: ...
    @property
    def bidirectional(self) -> bool: ...
    @property
    def produce_cell(self) -> bool: ...
    @property
    def training(self) -> bool: ...
    @property
    def forget_gate_last(self) -> bool: ...
    @property
    def input_gate_activation(self) -> RNNActivation: ...
    @property
    def forget_gate_activation(self) -> RNNActivation: ...
    @property
    def cell_gate_activation(self) -> RNNActivation: ...
    @property
    def output_gate_activation(self) -> RNNActivation: ...
    @property
    def activation(self) -> RNNActivation: ...

class Pooling2DDescriptor(_Descriptor):
    def __init__(
        self,
        *,
        kernel_width: SupportsIndex,
        kernel_height: SupportsIndex,
        stride_in_x: SupportsIndex = 1,
        stride_in_y: SupportsIndex = 1,
        dilation_rate_in_x: SupportsIndex = 1,
        dilation_rate_in_y: SupportsIndex = 1,
        padding_left: SupportsIndex = 0,
        padding_right: SupportsIndex = 0,
        padding_top: SupportsIndex = 0,
        padding_bottom: SupportsIndex = 0,
        padding_style: PaddingStyle | PaddingStyleName = ...,
        data_layout: TensorNamedDataLayout | TensorNamedDataLayoutName = ...,
        ceil_mode: bool | np.bool_ = False,
        include_zero_pad_to_average: bool | np.bool_ = False,
        return_indices_mode: PoolingReturnIndicesMode | PoolingReturnIndicesModeName = ...,
        return_indices_data_type: DTypeLike = "int32",
    ) -> None: ...
    @property
    def kernel_width(self) -> int: ...
    @property
    def kernel_height(self) -> int: ...
    @property
    def stride_in_x(self) -> int: ...
    @property
    def stride_in_y(self) -> int: ...
    @property
    def dilation_rate_in_x(self) -> int: ...
    @property
    def dilation_rate_in_y(self) -> int: ...
    @property
    def padding_left(self) -> int: ...
    @property
    def padding_right(self) -> int: ...
    @property
    def padding_top(self) -> int: ...
    @property
    def padding_bottom(self) -> int: ...
    @property
    def padding_style(self) -> PaddingStyle: ...
    @property
    def data_layout(self) -> TensorNamedDataLayout: ...
    @property
    def ceil_mode(self) -> bool: ...
    @property
    def include_zero_pad_to_average(self) -> bool: ...
    @property
    def return_indices_mode(self) -> PoolingReturnIndicesMode: ...
    @property
    def return_indices_data_type(self) -> str: ...

class Pooling4DDescriptor(_Descriptor):
    def __init__(
        self,
        *,
        kernel_sizes: Iterable[SupportsIndex],
        strides: Iterable[SupportsIndex] = (1, 1, 1, 1),
        dilation_rates: Iterable[SupportsIndex] = (1, 1, 1, 1),
        padding_values: Iterable[SupportsIndex] = (0, 0, 0, 0, 0, 0, 0, 0),
        padding_style: PaddingStyle | PaddingStyleName = ...,
        ceil_mode: bool | np.bool_ = False,
        include_zero_pad_to_average: bool | np.bool_ = False,
        return_indices_mode: PoolingReturnIndicesMode | PoolingReturnIndicesModeName = ...,
        return_indices_data_type: DTypeLike = "int32",
    ) -> None: ...
    @property
    def kernel_sizes(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dilation_rates(self) -> tuple[int, ...]: ...
    @property
    def padding_values(self) -> tuple[int, ...]: ...
    @property
    def padding_style(self) -> PaddingStyle: ...
    @property
    def ceil_mode(self) -> bool: ...
    @property
    def include_zero_pad_to_average(self) -> bool: ...
    @property
    def return_indices_mode(self) -> PoolingReturnIndicesMode: ...
    @property
    def return_indices_data_type(self) -> str: ...

class SingleGateRNNDescriptor(_Descriptor):
    def __init__(
        self,
        *,
        reverse: bool | np.bool_ = False,
        bidirectional: bool | np.bool_ = False,
        training: bool | np.bool_ = False,
        activation: RNNActivation | RNNActivationName = ...,
    ) -> None: ...
    @property
    def reverse(self) -> bool: ...
    @property
    def bidirectional(self) -> bool: ...
    @property
    def training(self) -> bool: ...
    @property
    def activation(self) -> RNNActivation: ...

def descriptor_class(operation: str) -> type[_Descriptor] | None: ...
