"""The memory that drawn arrays arrive in, and the memory that results go to."""

from typing import NamedTuple

import numpy as np
from cases import buffers
from hypothesis import strategies as st

# Ways to present an array of any dtype; those in ROUTES beside them are about float32's formats.
_LAYOUTS = (
    np.ascontiguousarray, buffers.transposed, buffers.offset, buffers.backwards, buffers.all_backwards, buffers.stepped,
    buffers.read_only, buffers.array_only, buffers.array_only_strided, buffers.misaligned,
)  # fmt: skip
_FLOAT32 = (
    buffers.big_endian,
    buffers.from_bytes,
    buffers.view,
    buffers.cast_bytes,
    buffers.mapped,
    buffers.dlpack_only,
)
# Ways that need an element, an axis, or NaN, which stands before the array.
_NOT_EMPTY = (buffers.misaligned, buffers.from_bytes, buffers.cast_bytes, buffers.mapped)
_FLOATING = (buffers.offset,)
_WITH_AXES = (buffers.backwards, buffers.stepped, buffers.array_only_strided)


def ways(array):
    """A strategy for functions that present the array's values in memory of some arrangement."""
    return st.sampled_from(
        [
            way
            for way in (*_LAYOUTS, *(_FLOAT32 if array.dtype == np.float32 else ()))
            if (array.size or way not in _NOT_EMPTY)
            and (array.ndim or way not in _WITH_AXES)
            and (array.dtype.kind != "i" or way not in _FLOATING)
        ]
    )


class Destination(NamedTuple):
    """`array` is the view memory[places]; nobody may write the other elements."""

    array: np.ndarray
    memory: np.ndarray
    places: tuple

    @classmethod
    def of(cls, shape, dtype, steps):
        """Every `steps[i]`-th element of an array that is as many times as long; a negative step turns the axis round."""
        wide = tuple(size * abs(step) for size, step in zip(shape, steps, strict=True))
        memory = np.full(wide, 77, dtype)
        # With "..." a view even where there is no axis.
        places = (..., *(slice(None, None, step) for step in steps))
        return cls(memory[places], memory, places)

    def untouched_elements(self):
        """Whether all that is not of the view is as it was."""
        memory = self.memory.copy()
        memory[self.places] = 77
        return bool((memory == 77).all())

    def untouched(self):
        return bool((self.memory == 77).all())


def steps(rank):
    """A strategy for the steps of a destination; None: the caller gives no memory for the result."""
    return st.one_of(st.none(), st.tuples(*[st.sampled_from((1, 1, 1, 2, 3, -1))] * rank))
