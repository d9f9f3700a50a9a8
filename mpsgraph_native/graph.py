"""Graphs with every operation as a method."""

from __future__ import annotations

import functools
import inspect
import re

from mpsgraph_native import ops
from mpsgraph_native._core.graph import GraphCore
from mpsgraph_native._core.graph_site import GraphSite
from mpsgraph_native._dot import svg_of, to_dot

__all__ = ["Graph"]


class Graph(GraphCore):
    """Operations on symbolic tensors, compiled as one program.

    Every array function of the package is a method with the same arguments, `name=` in place of `out=` and `device=`;
    it takes Tensors of this graph and gives Tensors.
    """

    def to_dot(self) -> str:
        """The graph in Graphviz' language DOT, the same text for the same graph.

        Operations are boxes with name, kind and attributes; placeholders are blue ellipses, constants yellow notes. What
        no operation reads is a result, a green circle. Edges have the argument's name, dtype and shape.
        """
        return to_dot(self.operations)

    def _repr_svg_(self) -> str | None:
        """The picture that notebooks show; None, and so text instead, where the program `dot` is not installed."""
        return svg_of(self.to_dot())


def _of_graph(annotation):
    """The annotation of an array function's argument or result, as it is in the method."""
    if annotation.endswith("| Any"):
        return "Any"  # one result or several: a Tensor, unlike an array, cannot be unpacked
    annotation = re.sub(r"\b(Array|ResultT|SecondResultT|np\.ndarray)\b", "Tensor", annotation)
    return re.sub(r"\b(Integers|Axes)\b", r"\1 | Tensor", annotation)  # constants of the graph


def _method(function):
    @functools.wraps(function)
    def method(self, *args, name=None, **keywords):
        if "out" in keywords:
            raise TypeError(f"Graph.{function.__name__}() got an unexpected keyword argument 'out'")
        return function(*args, device=GraphSite(self, name), **keywords)

    signature = inspect.signature(function)
    parameters = [
        entry.replace(annotation=_of_graph(entry.annotation))
        for entry in signature.parameters.values()
        if entry.name not in ("out", "device")
    ]
    method.__signature__ = signature.replace(
        parameters=[
            inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD),
            *parameters,
            inspect.Parameter("name", inspect.Parameter.KEYWORD_ONLY, default=None, annotation="str | None"),
        ],
        return_annotation=_of_graph(signature.return_annotation),
    )
    annotations = {entry.name: entry.annotation for entry in method.__signature__.parameters.values()}
    method.__annotations__ = annotations | {"return": method.__signature__.return_annotation}
    del method.__annotations__["self"]
    method.__qualname__ = f"Graph.{function.__name__}"
    return method


for _name in ops.__all__:
    if inspect.isfunction(getattr(ops, _name)):
        setattr(Graph, _name, _method(getattr(ops, _name)))
