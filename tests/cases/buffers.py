"""How a float32 array can reach an operation, and what public reports say goes wrong on the way."""

import array
import mmap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


class DLPackOnly:
    """Memory that is reachable through DLPack alone."""

    def __init__(self, owner):
        self._owner = owner

    def __dlpack__(self, **keywords):
        return self._owner.__dlpack__(**keywords)

    def __dlpack_device__(self):
        return self._owner.__dlpack_device__()


class ArrayOnly:
    """Memory that is reachable through `__array__` alone."""

    def __init__(self, owner):
        self._owner = owner

    def __array__(self, dtype=None, copy=None):
        return np.array(self._owner, dtype=dtype, copy=copy)


class MetalDLPack:
    """pytorch/pytorch#180895: device type 8 carries an object's address where a CPU consumer expects memory."""

    METAL = 8

    def __init__(self, shape):
        self.shape = shape
        self.exported = False

    def __dlpack_device__(self):
        return self.METAL, 0

    def __dlpack__(self, **keywords):
        self.exported = True
        raise BufferError("a Metal buffer was asked for as CPU memory")


def transposed(x):
    return np.asfortranarray(x)


def stepped(x):
    wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
    wide[..., ::2] = x
    return wide[..., ::2]


def offset(x):
    long = np.concatenate([np.full(3, np.nan, x.dtype), x.ravel()])
    return long[3:].reshape(x.shape)


def backwards(x):
    return np.ascontiguousarray(x[..., ::-1])[..., ::-1]


def all_backwards(x):
    flipped = tuple(slice(None, None, -1) for _ in x.shape)
    return np.ascontiguousarray(x[flipped])[flipped]


def big_endian(x):
    return x.astype(x.dtype.newbyteorder(">"))


def read_only(x):
    x = x.copy()
    x.setflags(write=False)
    return x


def misaligned(x):
    raw = bytearray(x.nbytes + 1)
    raw[1:] = x.tobytes()
    return np.frombuffer(raw, x.dtype, offset=1).reshape(x.shape)


def from_bytes(x):
    return np.frombuffer(x.tobytes(), x.dtype).reshape(x.shape)


def view(x):
    return memoryview(np.ascontiguousarray(x))


def cast_bytes(x):
    return memoryview(x.tobytes()).cast("f", x.shape)


def cast_array(x):
    return memoryview(array.array("f", x.ravel().tolist())).cast("B").cast("f", x.shape)


def mapped(x):
    pages = mmap.mmap(-1, x.nbytes)
    pages[:] = x.tobytes()
    return np.frombuffer(pages, x.dtype).reshape(x.shape)


def dlpack_only(x):
    return DLPackOnly(np.ascontiguousarray(x))


def array_only(x):
    return ArrayOnly(np.ascontiguousarray(x))


def array_only_strided(x):
    return ArrayOnly(backwards(x))


@dataclass(frozen=True)
class Route:
    """`refusal`: what the BufferError says under copy=False, None where no copy is needed.

    `optional`: the memory could also be adopted as it is, so both answers are right.
    """

    make: Callable[[np.ndarray], Any]
    refusal: str | None = None
    optional: bool = False

    def __str__(self):
        return self.make.__name__


ROUTES = (
    Route(np.ascontiguousarray),
    Route(transposed, "stride|contiguous", optional=True),
    Route(stepped, "stride|contiguous", optional=True),
    Route(offset),
    Route(backwards, "negative stride"),
    Route(all_backwards, "negative stride"),
    Route(big_endian, "byte order|endian"),
    Route(read_only),
    Route(misaligned, "align", optional=True),
    Route(from_bytes),
    Route(view),
    Route(cast_bytes),
    Route(cast_array),
    Route(mapped),
    Route(dlpack_only),
    Route(array_only),
    Route(array_only_strided, "negative stride"),
)

NATIVE_FORMATS = ("<f4", "=f4", "f4", "f")
