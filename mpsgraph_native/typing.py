"""Types for annotations: what the functions of this package take, and the names of MPSGraph's enumerations.

Type checkers read them in stubs beside each module; nothing here is looked at when a function is called.
"""

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, Protocol, SupportsIndex, TypeAlias

import numpy as np

from mpsgraph_native._core.device import Device

if sys.version_info >= (3, 12):
    from collections.abc import Buffer
else:

    class Buffer(Protocol):
        """An object with the buffer protocol; collections.abc.Buffer from Python 3.12 on."""

        def __buffer__(self, flags: int, /) -> memoryview: ...


if TYPE_CHECKING:
    # Type checkers bring it with them. The typing module's own has defaults from Python 3.13 on.
    from typing_extensions import TypeVar

__all__ = [
    "Array",
    "Axes",
    "Buffer",
    "DTypeLike",
    "Destination",
    "DeviceLike",
    "Integers",
    "LossReductionTypeName",
    "PaddingStyleName",
    "PoolingReturnIndicesModeName",
    "RNNActivationName",
    "SupportsArray",
    "SupportsDLPack",
    "TensorNamedDataLayoutName",
]


class SupportsDLPack(Protocol):
    """An object that exports its memory by DLPack."""

    def __dlpack__(self, *args: Any, **keywords: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[int, int]: ...


class SupportsArray(Protocol):
    """An object that NumPy can turn into an array."""

    def __array__(self, *args: Any, **keywords: Any) -> Any: ...


#: What an array function reads; sequences of numbers are none.
Array: TypeAlias = np.ndarray | Buffer | SupportsDLPack | SupportsArray
#: What a result can be written into.
Destination: TypeAlias = np.ndarray | Buffer | SupportsDLPack
#: For a shape, axes or starts, a sequence or a one-dimensional array of integers.
Integers: TypeAlias = Iterable[SupportsIndex] | SupportsDLPack | SupportsArray
#: One axis, several, or None for all.
Axes: TypeAlias = SupportsIndex | Integers | None
#: A name such as "bfloat16", a numpy.dtype, or a type that NumPy has a dtype for.
DTypeLike: TypeAlias = str | np.dtype[Any] | type[Any]
#: A device, or its name.
DeviceLike: TypeAlias = str | Device

#: The names that the enumerations take, here and below.
LossReductionTypeName: TypeAlias = Literal["None", "Axis", "Sum", "Mean"]
PaddingStyleName: TypeAlias = Literal["Explicit", "TF_VALID", "TF_SAME", "ExplicitOffset", "ONNX_SAME_LOWER"]
PoolingReturnIndicesModeName: TypeAlias = Literal[
    "None", "GlobalFlatten1D", "GlobalFlatten2D", "GlobalFlatten3D", "GlobalFlatten4D",
    "LocalFlatten1D", "LocalFlatten2D", "LocalFlatten3D", "LocalFlatten4D",
]  # fmt: skip
RNNActivationName: TypeAlias = Literal["None", "Relu", "Tanh", "Sigmoid", "HardSigmoid"]
TensorNamedDataLayoutName: TypeAlias = Literal[
    "NCHW", "NHWC", "OIHW", "HWIO", "CHW", "HWC", "HW", "NCDHW", "NDHWC", "OIDHW", "DHWIO"
]

# A result is what was given as `out`, and a new ndarray without.
if TYPE_CHECKING:
    ResultT = TypeVar("ResultT", bound=Destination, default=np.ndarray)
    SecondResultT = TypeVar("SecondResultT", bound=Destination, default=np.ndarray)
    # Of a named tuple of results: arrays, or the tensors of a graph.
    ElementT = TypeVar("ElementT", default=np.ndarray)
else:
    from typing import TypeVar

    ResultT = TypeVar("ResultT")
    SecondResultT = TypeVar("SecondResultT")
    ElementT = TypeVar("ElementT")
