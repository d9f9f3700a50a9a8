"""The operations of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # which imports this module
    from mpsgraph_native._core.graph import Tensor

__all__ = ["GraphOperation", "needed_operations", "typed"]


class GraphOperation(NamedTuple):
    """One operation of Graph.operations (MPSGraphOperation)."""

    name: str  # no other operation of the graph has it
    kind: str  # the name of the Graph's method, "placeholder" and "constant" included
    attributes: str  # "stride_in_x=1, ..."; empty where it has none
    arguments: tuple[str, ...]  # names of its inputs
    inputs: tuple[Tensor | None, ...]  # Tensors; None for an optional one that is absent
    outputs: tuple[Tensor, ...]  # Tensors


def typed(tensor: Tensor) -> str:
    """Its dtype and shape in words."""
    return f"{tensor.dtype} {list(tensor.shape)}"


def needed_operations(feeds: Sequence[Tensor], targets: Sequence[Tensor]) -> list[GraphOperation]:
    """What has to run so that the targets get their values, in the graph's order: nothing behind a feed, no placeholder."""
    operations = targets[0].graph.operations
    made_by = {tensor: number for number, operation in enumerate(operations) for tensor in operation.outputs}
    fed = set(feeds)
    needed: set[int] = set()
    pending = [tensor for tensor in targets if tensor not in fed]
    while pending:
        number = made_by[pending.pop()]
        if number not in needed:
            needed.add(number)
            pending += [tensor for tensor in operations[number].inputs if tensor is not None and tensor not in fed]
    return [operations[number] for number in sorted(needed)]
