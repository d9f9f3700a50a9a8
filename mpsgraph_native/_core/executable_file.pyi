import os

from mpsgraph_native._core.executable import Executable
from mpsgraph_native.typing import DeviceLike

def load(path: str | bytes | os.PathLike[str], device: DeviceLike | None) -> Executable: ...
def save(executable: Executable, path: str | bytes | os.PathLike[str]) -> None: ...
