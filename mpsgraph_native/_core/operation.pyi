from typing import final

from mpsgraph_native._core.graph import Tensor
from mpsgraph_native.typing import Array

@final
class Operation:
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> tuple[str, ...]: ...

def rank_of(tensor: Array | Tensor) -> int: ...
