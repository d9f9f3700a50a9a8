import numpy as np
from typing_extensions import CapsuleType

def export_dlpack(
    array: np.ndarray,
    *,
    stream: None,
    max_version: tuple[int, int] | None,
    dl_device: tuple[int, int] | None,
    copy: bool,
) -> CapsuleType: ...
