"""What memory the engine shares with NumPy. Engines of the host read every array where it lies."""

import mmap

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify.probes.probe import Probe

_ELEMENTS = 1 << 16
_BYTES = 4 * _ELEMENTS


def _copied(offset):
    """The copies per array that an operation makes of an operand `offset` bytes behind a page, as fractions of it."""

    def measure(device):
        pages = np.frombuffer(mmap.mmap(-1, _BYTES + offset + mmap.PAGESIZE), np.uint8)
        operand = pages[offset : offset + _BYTES].view(np.float32)
        out = np.asarray(mg.empty((_ELEMENTS,), "float32"))
        operand[...] = 3
        before = mg.transfer_statistics()
        mg.square(operand, out=out, device=device)
        after = mg.transfer_statistics()
        if not (out == 9).all():
            raise ArithmeticError(f"the squares of 3 came out as {np.unique(out)}")
        return [(after["device_copied_bytes"] - before["device_copied_bytes"]) / _BYTES]

    return measure


_NO_COPY = {"yes": [0], "no, through a copy": [1]}

PROBES = (
    Probe("memory_on_a_page", "Is an operand that begins on a page read where it lies?", _copied(0), _NO_COPY),
    *(
        Probe(
            f"memory_{offset}_bytes_behind_a_page",
            f"Is a large operand that begins {offset} bytes behind a page read where it lies?",
            _copied(offset),
            _NO_COPY,
            promised=False,
        )
        for offset in (64, 4096 + 64)
    ),
)
