# Written from the package itself; CONTRIBUTING.md says how.
from enum import IntEnum
from typing import Self

from mpsgraph_native.typing import (
    LossReductionTypeName,
    PaddingStyleName,
    PoolingReturnIndicesModeName,
    RNNActivationName,
    TensorNamedDataLayoutName,
)

__all__ = [
    "LossReductionType",
    "PaddingStyle",
    "PoolingReturnIndicesMode",
    "RNNActivation",
    "TensorNamedDataLayout",
]

class LossReductionType(IntEnum):
    def __new__(cls, value: int | LossReductionTypeName) -> Self: ...
    None_ = 0
    Axis = 0
    Sum = 1
    Mean = 2

class PaddingStyle(IntEnum):
    def __new__(cls, value: int | PaddingStyleName) -> Self: ...
    Explicit = 0
    TF_VALID = 1
    TF_SAME = 2
    ExplicitOffset = 3
    ONNX_SAME_LOWER = 4

class PoolingReturnIndicesMode(IntEnum):
    def __new__(cls, value: int | PoolingReturnIndicesModeName) -> Self: ...
    None_ = 0
    GlobalFlatten1D = 1
    GlobalFlatten2D = 2
    GlobalFlatten3D = 3
    GlobalFlatten4D = 4
    LocalFlatten1D = 5
    LocalFlatten2D = 6
    LocalFlatten3D = 7
    LocalFlatten4D = 8

class RNNActivation(IntEnum):
    def __new__(cls, value: int | RNNActivationName) -> Self: ...
    None_ = 0
    Relu = 1
    Tanh = 2
    Sigmoid = 3
    HardSigmoid = 4

class TensorNamedDataLayout(IntEnum):
    def __new__(cls, value: int | TensorNamedDataLayoutName) -> Self: ...
    NCHW = 0
    NHWC = 1
    OIHW = 2
    HWIO = 3
    CHW = 4
    HWC = 5
    HW = 6
    NCDHW = 7
    NDHWC = 8
    OIDHW = 9
    DHWIO = 10
