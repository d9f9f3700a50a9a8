"""What one operation of a graph is."""

from typing import NamedTuple

__all__ = ["GraphOperation"]


class GraphOperation(NamedTuple):
    """One operation of Graph.operations (MPSGraphOperation)."""

    name: str  # no other operation of the graph has it
    kind: str  # the name of the Graph's method, "placeholder" and "constant" included
    attributes: str  # "stride_in_x=1, ..."; empty where it has none
    arguments: tuple  # names of its inputs
    inputs: tuple  # Tensors; None for an optional one that is absent
    outputs: tuple  # Tensors
