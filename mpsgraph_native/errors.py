"""The exceptions of this package. A message reads: operation, argument, what is expected, what was given."""

__all__ = ["CompileError", "DTypeError", "DeviceError", "MPSGraphError", "ShapeError"]


class MPSGraphError(Exception):
    """Root of every exception that this package raises on purpose (a refused zero-copy view is a BufferError)."""

    __module__ = "mpsgraph_native"


class ShapeError(MPSGraphError, ValueError):
    """A shape, value, layout, mode or index that does not fit."""

    __module__ = "mpsgraph_native"


class DTypeError(MPSGraphError, TypeError):
    """An element type, or a type of object, that is not accepted."""

    __module__ = "mpsgraph_native"


class DeviceError(MPSGraphError, RuntimeError):
    """A device that is unknown, not available, or failed."""

    __module__ = "mpsgraph_native"


class CompileError(MPSGraphError, RuntimeError):
    """A graph that cannot be compiled as asked."""

    __module__ = "mpsgraph_native"
