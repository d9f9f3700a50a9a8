import os
from collections.abc import Mapping, Sequence
from typing import final, overload

import numpy as np
from typing_extensions import TypeVar

from mpsgraph_native._core.graph import Tensor
from mpsgraph_native._future import Future
from mpsgraph_native._profile import StepProfile
from mpsgraph_native.typing import Array, Destination, DeviceLike

_KeyT = TypeVar("_KeyT", bound=Tensor | str)
_ResultT = TypeVar("_ResultT", bound=Destination, default=np.ndarray)

@final
class Executable:
    @property
    def device(self) -> str: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def feeds(self) -> tuple[Tensor, ...]: ...
    @property
    def targets(self) -> tuple[Tensor, ...]: ...
    @property
    def last_profile(self) -> tuple[StepProfile, ...] | None: ...
    @overload
    def run(
        self, inputs: Sequence[Array] | Mapping[_KeyT, Array], *, results: None = None, profile: bool = False
    ) -> tuple[np.ndarray, ...]: ...
    @overload
    def run(
        self, inputs: Sequence[Array] | Mapping[_KeyT, Array], *, results: Sequence[_ResultT], profile: bool = False
    ) -> tuple[_ResultT, ...]: ...
    @overload
    def run(
        self,
        inputs: Sequence[Array] | Mapping[_KeyT, Array],
        *,
        results: Sequence[_ResultT | None],
        profile: bool = False,
    ) -> tuple[_ResultT | np.ndarray, ...]: ...
    @overload
    def run_async(
        self, inputs: Sequence[Array] | Mapping[_KeyT, Array], *, results: None = None
    ) -> Future[tuple[np.ndarray, ...]]: ...
    @overload
    def run_async(
        self, inputs: Sequence[Array] | Mapping[_KeyT, Array], *, results: Sequence[_ResultT]
    ) -> Future[tuple[_ResultT, ...]]: ...
    @overload
    def run_async(
        self, inputs: Sequence[Array] | Mapping[_KeyT, Array], *, results: Sequence[_ResultT | None]
    ) -> Future[tuple[_ResultT | np.ndarray, ...]]: ...
    def save(self, path: str | bytes | os.PathLike[str]) -> None: ...
    @classmethod
    def load(cls, path: str | bytes | os.PathLike[str], device: DeviceLike | None = None) -> Executable: ...
    def describe(self) -> str: ...
