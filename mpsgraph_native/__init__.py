"""MPSGraph's operations from Python, its gradients first, on NumPy memory.

Array functions take and give arrays; `Graph` compiles many operations into one `Executable`. Both run on the `mps`
device (Apple's MPSGraph) or on the `cpu` device (portable C++), with one semantics.
"""

try:
    from mpsgraph_native._core import errors as _errors  # noqa: F401  registers the exception translation
except ImportError as _error:
    raise ImportError(
        "mpsgraph_native's extension modules are missing or cannot be loaded. If Python found the package in a source "
        "checkout, install it (pip install .) and start Python in another folder."
    ) from _error

from mpsgraph_native import descriptors as _descriptors
from mpsgraph_native import enumerations as _enumerations
from mpsgraph_native import ops as _ops
from mpsgraph_native._core.cache import (
    CacheInfo,
    cache_info,
    cache_limit,
    clear_cache,
    compiled_storage,
    compiled_storage_limit,
    optimization_level,
    precision,
    set_cache_limit,
    set_compiled_storage,
    set_optimization_level,
    set_precision,
)
from mpsgraph_native._core.device import (
    Device,
    default_device,
    devices,
    get_num_threads,
    instruction_sets,
    set_default_device,
    set_instruction_set,
    set_num_threads,
)
from mpsgraph_native._core.executable import Executable
from mpsgraph_native._core.graph import Tensor
from mpsgraph_native._core.memory import memory_statistics, trim_memory
from mpsgraph_native._core.run import CopiedInput, last_copies, transfer_statistics
from mpsgraph_native._core.tensor_data import TensorData, asarray, empty
from mpsgraph_native._future import Future
from mpsgraph_native._graph_operation import GraphOperation
from mpsgraph_native.descriptors import *
from mpsgraph_native.enumerations import *
from mpsgraph_native.errors import CompileError, DeviceError, DTypeError, MPSGraphError, ShapeError
from mpsgraph_native.graph import Graph
from mpsgraph_native.ops import *


def __getattr__(name):
    # Reading the version takes longer than the rest of the import, and few ask for it.
    if name == "__version__":
        from importlib.metadata import version

        globals()["__version__"] = version("mpsgraph-native")
        return globals()["__version__"]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "CacheInfo",
    "CompileError",
    "CopiedInput",
    "DTypeError",
    "Device",
    "DeviceError",
    "Executable",
    "Future",
    "Graph",
    "GraphOperation",
    "MPSGraphError",
    "ShapeError",
    "Tensor",
    "TensorData",
    "__version__",
    "asarray",
    "cache_info",
    "cache_limit",
    "clear_cache",
    "compiled_storage",
    "compiled_storage_limit",
    "default_device",
    "devices",
    "empty",
    "get_num_threads",
    "instruction_sets",
    "last_copies",
    "memory_statistics",
    "optimization_level",
    "precision",
    "set_cache_limit",
    "set_compiled_storage",
    "set_default_device",
    "set_instruction_set",
    "set_num_threads",
    "set_optimization_level",
    "set_precision",
    "transfer_statistics",
    "trim_memory",
    *_descriptors.__all__,
    *_enumerations.__all__,
    *_ops.__all__,
]
