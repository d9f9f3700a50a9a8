"""Where a Graph method places its operation: what an array function gets in place of a device."""

__all__ = ["GraphSite"]


class GraphSite:
    """A graph, and the name for the operation that is being added."""

    __slots__ = ("graph", "name")

    def __init__(self, graph, name):
        self.graph = graph
        self.name = name

    def add(self, operation, inputs):
        return self.graph.add_operation(operation, inputs, self.name)
