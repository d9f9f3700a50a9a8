"""Graphs with every operation as a method."""

import functools
import inspect

from mpsgraph_native import ops
from mpsgraph_native._core.graph import GraphCore
from mpsgraph_native._core.graph_site import GraphSite

__all__ = ["Graph"]


class Graph(GraphCore):
    """Operations on symbolic tensors, compiled as one program.

    Every array function of the package is a method with the same arguments, `name=` in place of `out=` and `device=`;
    it takes Tensors of this graph and gives Tensors.
    """


def _method(function):
    @functools.wraps(function)
    def method(self, *args, name=None, **keywords):
        if "out" in keywords:
            raise TypeError(f"Graph.{function.__name__}() got an unexpected keyword argument 'out'")
        return function(*args, device=GraphSite(self, name), **keywords)

    signature = inspect.signature(function)
    parameters = [entry for entry in signature.parameters.values() if entry.name not in ("out", "device")]
    method.__signature__ = signature.replace(
        parameters=[
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *parameters,
            inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None),
        ]
    )
    method.__qualname__ = f"Graph.{function.__name__}"
    return method


for _name in ops.__all__:
    if inspect.isfunction(getattr(ops, _name)):
        setattr(Graph, _name, _method(getattr(ops, _name)))
