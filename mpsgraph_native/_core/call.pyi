from collections.abc import Sequence
from typing import Any, TypeVar

from mpsgraph_native._core.graph_site import GraphSite
from mpsgraph_native.typing import DeviceLike

_ResultT = TypeVar("_ResultT")
_NamedT = TypeVar("_NamedT", bound=tuple[Any, ...])

def call(
    name: str,
    inputs: tuple[object, ...],
    out: _ResultT | None = None,
    device: DeviceLike | GraphSite | None = None,
    descriptor: object = None,
    attribute: str | tuple[str, ...] | None = None,
    value: object = None,
) -> _ResultT: ...
def named(kind: type[_NamedT], operands: tuple[object, ...], results: Sequence[object]) -> _NamedT: ...
