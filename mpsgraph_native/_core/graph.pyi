from collections.abc import Iterable, Mapping, Sequence
from typing import Any, SupportsIndex, final, overload

import numpy as np
from typing_extensions import TypeVar, disjoint_base

from mpsgraph_native._core.executable import Executable
from mpsgraph_native._core.operation import Operation
from mpsgraph_native._graph_operation import GraphOperation
from mpsgraph_native.typing import Array, Destination, DeviceLike, DTypeLike

_ResultT = TypeVar("_ResultT", bound=Destination, default=np.ndarray)

@final
class Tensor:
    @property
    def graph(self) -> GraphCore: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def name(self) -> str: ...
    @property
    def operation(self) -> str: ...
    def constant_value(self, where: str) -> np.ndarray: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Cut: ...

@disjoint_base
class GraphCore:
    def add_operation(
        self, operation: Operation, inputs: tuple[Tensor | None, ...], name: str | None = None
    ) -> Any: ...
    def placeholder(
        self, shape: Iterable[SupportsIndex], dtype: DTypeLike = "float32", *, name: str | None = None
    ) -> Tensor: ...
    def constant(
        self,
        value: Array | float,
        *,
        shape: Sequence[SupportsIndex] | None = None,
        dtype: DTypeLike | None = None,
        name: str | None = None,
    ) -> Tensor: ...
    @property
    def operations(self) -> tuple[GraphOperation, ...]: ...
    def gradients(self, primary: Tensor, tensors: Iterable[Tensor], *, name: str | None = None) -> list[Tensor]: ...
    def compile(
        self, *, feeds: Iterable[Tensor], targets: Iterable[Tensor], device: DeviceLike | None = None
    ) -> Executable: ...
    @overload
    def run(
        self,
        feeds: Mapping[Tensor, Array],
        targets: Iterable[Tensor],
        *,
        results: None = None,
        device: DeviceLike | None = None,
    ) -> tuple[np.ndarray, ...]: ...
    @overload
    def run(
        self,
        feeds: Mapping[Tensor, Array],
        targets: Iterable[Tensor],
        *,
        results: Sequence[_ResultT],
        device: DeviceLike | None = None,
    ) -> tuple[_ResultT, ...]: ...
    @overload
    def run(
        self,
        feeds: Mapping[Tensor, Array],
        targets: Iterable[Tensor],
        *,
        results: Sequence[_ResultT | None],
        device: DeviceLike | None = None,
    ) -> tuple[_ResultT | np.ndarray, ...]: ...

def dtype_of(dtype: DTypeLike) -> np.dtype[Any]: ...
