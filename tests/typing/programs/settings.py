"""Devices, threads, the cache, precision, storage, versions, errors."""

import tempfile
from pathlib import Path
from typing import Literal, assert_type

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.typing import DeviceLike


def computed_on(device: DeviceLike | None) -> np.ndarray:
    return mg.relu(np.ones(3, np.float32), device=device)


def devices() -> None:
    for device in mg.devices():
        assert_type(device, mg.Device)
        print(device.name, device.available, device.reason, device.description)
        if device.available:
            computed_on(device)
    computed_on(None)
    before = mg.default_device()
    mg.set_default_device("cpu")
    mg.set_default_device(before)
    names, used = mg.instruction_sets()
    assert used in names
    mg.set_instruction_set(used)
    threads = mg.get_num_threads()
    mg.set_num_threads(np.int64(1))
    mg.set_num_threads(threads)


def cache() -> None:
    information = mg.cache_info()
    assert_type(information.compile_seconds, float)
    mg.set_cache_limit(entries=information.limit_entries, bytes=information.limit_bytes)
    with mg.cache_limit(entries=10):
        computed_on("cpu")
    mg.clear_cache()
    before = mg.compiled_storage()
    with tempfile.TemporaryDirectory() as folder:
        mg.set_compiled_storage(Path(folder), limit_bytes=2**30)
        assert mg.compiled_storage_limit() == 2**30
    mg.set_compiled_storage(before)


def choices() -> None:
    chosen = mg.precision()
    assert_type(chosen, Literal["fast", "exact"])
    mg.set_precision("exact")
    mg.set_precision(chosen)
    mg.set_optimization_level(mg.optimization_level())


def errors() -> None:
    try:
        mg.reshape(np.ones(3, np.float32), shape=(2,))
    except mg.ShapeError as error:
        refused: ValueError = error
        assert isinstance(refused, mg.MPSGraphError)
    kinds: tuple[type[mg.MPSGraphError], ...] = (mg.DTypeError, mg.DeviceError, mg.CompileError)
    assert issubclass(kinds[0], TypeError)


def main() -> None:
    assert_type(mg.__version__, str)
    devices()
    cache()
    choices()
    errors()


if __name__ == "__main__":
    main()
