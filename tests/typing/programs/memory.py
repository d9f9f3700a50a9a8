"""TensorData, and memory of other kinds: the buffer protocol, DLPack, __array__."""

import array
import sys
from typing import Any, assert_type

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.typing import Array, Buffer, Destination, SupportsDLPack


class Exporter:
    """An array of another package, by DLPack alone."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def __dlpack__(self, **keywords: Any) -> object:
        return self._values.__dlpack__(**keywords)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)


class Convertible:
    """An object with __array__ alone: it can be read, and not be written into."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.ones(4, np.float32)


def tensor_data() -> None:
    data = mg.empty((4, 6), "float32", device="cpu")
    assert_type(data, mg.TensorData)
    data[...] = 1.5
    data[0] = np.zeros(6, np.float32)
    assert_type(data[1:, ::2], mg.TensorData)
    assert_type(data[None, ..., 0], mg.TensorData)
    assert data.shape == (4, 6) and data.nbytes == 96 and not data.readonly and data.device == "cpu"
    assert np.asarray(data).sum() == 27 and memoryview(data).shape == (4, 6)
    assert np.from_dlpack(data).shape == data.shape
    mg.relu(data, out=mg.empty(data.shape)[:])
    with mg.asarray(np.ones(3, np.float32), copy=True) as owned:
        assert_type(owned, mg.TensorData)
    assert owned.closed
    mg.empty(5).close()


def readable(*values: Array) -> None:
    for value in values:
        assert mg.relu(value).size == 4
        assert mg.asarray(value).size == 4


def writable(*values: Destination) -> None:
    for value in values:
        mg.relu(np.ones(4, np.float32), out=value)


def kinds() -> None:
    floats = array.array("f", [1, 2, 3, 4])
    readable(floats, memoryview(floats), np.ones(4, np.float32), Exporter(np.ones(4, np.float32)), Convertible())
    writable(floats, memoryview(floats), mg.empty(4), Exporter(np.ones(4, np.float32)))
    exported: SupportsDLPack = mg.empty(4)
    buffer: Buffer = mg.empty(4)
    assert mg.relu(exported).shape == (4,) and memoryview(buffer).nbytes == 16
    if sys.version_info >= (3, 12):
        from collections.abc import Buffer as StandardBuffer

        standard: StandardBuffer = mg.empty(4)
        assert isinstance(standard, StandardBuffer)


def statistics() -> None:
    mg.relu(np.ones((4, 4), np.float32).T)
    for copy in mg.last_copies():
        assert_type(copy, mg.CopiedInput)
        assert_type(copy.shape, tuple[int, ...])
    assert mg.memory_statistics()["live_bytes"] >= 0
    assert mg.transfer_statistics()["copied_inputs"] > 0
    mg.trim_memory()


def main() -> None:
    tensor_data()
    kinds()
    statistics()


if __name__ == "__main__":
    main()
