from mpsgraph_native._core.operation import Operation
from mpsgraph_native.typing import DeviceLike

STAGES: tuple[str, ...]

def nothing() -> None: ...
def repeat(
    stages: int, operation: Operation, inputs: tuple[object, ...], out: object, device: DeviceLike | None, times: int
) -> None: ...
def repeat_engine(
    operation: Operation, inputs: tuple[object, ...], out: object, device: DeviceLike | None, times: int
) -> None: ...
