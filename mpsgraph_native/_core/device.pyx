# cython: freethreading_compatible=True
"""Devices and threads."""

cimport cython
from cython.operator cimport dereference

from mpsgraph_native._native.engine cimport (
    Engine,
    all_engines,
    cpu_instruction_set,
    cpu_instruction_sets,
    engine_name,
    engine_named,
    set_cpu_instruction_set,
)
from mpsgraph_native._native.executable_cache cimport clear_cache
from mpsgraph_native._native.text cimport view_of
from mpsgraph_native._native.threads cimport set_thread_count, thread_count

import operator
import os

from mpsgraph_native.errors import DeviceError, DTypeError, ShapeError


@cython.final
cdef class Device:
    """An engine on this machine, as `devices()` lists them; `device=` takes it or its `name`, "mps" or "cpu"."""

    def __init__(self):
        raise TypeError("devices() lists the devices")

    @property
    def available(self):
        """Whether operations can run on it here."""
        return dereference(self.engine).available()

    @property
    def reason(self):
        """Why it is not available; empty when it is."""
        return dereference(self.engine).reason().decode()

    @property
    def description(self):
        """The hardware and the engine in words."""
        return dereference(self.engine).description().decode()

    def __repr__(self):
        state = "available" if self.available else f"not available: {self.reason}"
        return f"<Device {self.name!r}, {state}>"


cdef Device _wrap(const Engine* engine):
    cdef Device device = Device.__new__(Device)
    device.engine = engine
    device.name = engine_name(dereference(engine)).decode()
    return device


cdef dict _devices = {}
# Found at the first use: asking for a GPU takes long, and a process that only imports the package has no use for one.
cdef Device _default = None
cdef str _default_from_environment = os.environ.get("MPSGRAPH_NATIVE_ENGINE")


cdef Device _named(str name):
    cdef bytes encoded
    found = _devices.get(name)
    if found is None:
        encoded = _encoded(name)
        found = _devices[name] = _wrap(&engine_named(view_of(encoded)))
    return found


cdef Device resolve_device(object device):
    """The device that a `device=` argument means; None is the default one."""
    if device is None:
        return _default if _default is not None else _find_default()
    if isinstance(device, str):
        return _named(device)
    if isinstance(device, Device):
        return _named((<Device>device).name)
    raise DTypeError(f"device must be a Device or its name, got {device!r}")


def devices():
    """Every device that this build knows, in the order of preference."""
    return tuple([_wrap(engine) for engine in all_engines()])


def default_device():
    """The device of calls that name none: the first available one, MPSGRAPH_NATIVE_ENGINE, or the one set."""
    return resolve_device(None)


def set_default_device(device):
    """Sets the device of calls that name none. DeviceError naming `device` when it is unknown or not available."""
    global _default
    if device is None:
        raise DTypeError("device must be a Device or its name, got None")
    _default = resolve_device(device)


def checked_device(device):
    """The Device that a `device=` argument means; DeviceError when it is unknown or not available."""
    return resolve_device(device)


def get_num_threads():
    """Threads that one call on the cpu engine may use."""
    return thread_count()


def set_num_threads(count):
    """Sets how many threads one call on the cpu engine may use: at least 1.

    Results are bit-identical between calls with the same number of threads, and may differ in the last bits between
    different numbers.
    """
    if isinstance(count, bool):
        raise DTypeError(f"count must be an integer, got {count!r}")
    try:
        count = operator.index(count)
    except TypeError:
        raise DTypeError(f"count must be an integer, got {count!r}") from None
    if not 1 <= count <= 512:
        raise ShapeError(f"count must be from 1 to 512, got {count}")
    set_thread_count(count)


def instruction_sets():
    """Instruction sets of the cpu engine that this processor can run, and the one in use."""
    return [name.decode() for name in cpu_instruction_sets()], cpu_instruction_set().decode()


def set_instruction_set(str name not None):
    """Sets the instruction set of the cpu engine for operations compiled from now on; drops what is compiled.

    One of instruction_sets(); DeviceError names the ones that this machine has. MPSGRAPH_NATIVE_ISA sets it at the start.
    """
    cdef bytes encoded = _encoded(name)
    set_cpu_instruction_set(view_of(encoded))
    clear_cache()


cdef bytes _encoded(str name):
    # A lone surrogate has no UTF-8 form; the name is unknown all the same.
    return name.encode("utf-8", "backslashreplace")


def _threads_from_environment():
    wanted = os.environ.get("MPSGRAPH_NATIVE_THREADS")
    if not wanted:
        return
    try:
        set_num_threads(int(wanted))
    except ValueError:
        raise ShapeError(f"MPSGRAPH_NATIVE_THREADS must be a number from 1 to 512, got {wanted!r}") from None


def _check_default_from_environment():
    known = [engine_name(dereference(engine)).decode() for engine in all_engines()]
    if _default_from_environment and _default_from_environment not in known:
        raise DeviceError(f"MPSGRAPH_NATIVE_ENGINE must be one of {', '.join(known)}, got {_default_from_environment}")


cdef Device _find_default():
    global _default
    if _default_from_environment:
        try:
            _default = _named(_default_from_environment)
        except DeviceError as error:
            raise DeviceError(f"MPSGRAPH_NATIVE_ENGINE: {error}") from None
    else:
        _default = next(device for device in devices() if device.available)
    return _default


_threads_from_environment()
_check_default_from_environment()
