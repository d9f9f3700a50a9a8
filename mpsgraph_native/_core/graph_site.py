"""Where a Graph method places its operation: what an array function gets in place of a device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # which import this module
    from mpsgraph_native._core.graph import GraphCore, Tensor
    from mpsgraph_native._core.operation import Operation

__all__ = ["GraphSite"]


class GraphSite:
    """A graph, and the name for the operation that is being added."""

    __slots__ = ("graph", "name")

    def __init__(self, graph: GraphCore, name: str | None) -> None:
        self.graph = graph
        self.name = name

    def add(self, operation: Operation, inputs: tuple[Tensor | None, ...]) -> Any:
        return self.graph.add_operation(operation, inputs, self.name)
