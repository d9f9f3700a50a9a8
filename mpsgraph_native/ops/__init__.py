"""The array functions, one module per family of MPSGraph's operations."""

from importlib import import_module

# Families in the order of the documentation.
_families = (
    "convolution",
    "depthwise_convolution",
    "pooling",
    "recurrent",
    "matrix_multiplication",
    "arithmetic",
    "activation",
    "reduction",
    "normalization",
    "tensor_shape",
    "loss",
    "optimizer",
)

__all__ = []
for _family in _families:
    _module = import_module(f"{__name__}.{_family}")
    globals().update({_name: getattr(_module, _name) for _name in _module.__all__})
    __all__ += _module.__all__
