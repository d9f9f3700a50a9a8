"""Graphs as pictures: the DOT language, and SVG where the program `dot` of Graphviz is installed."""

import re
from collections.abc import Sequence

from mpsgraph_native._core.graph import Tensor
from mpsgraph_native._graph_operation import GraphOperation, typed

__all__ = ["svg_of", "to_dot"]

_seconds_to_draw = 10


def _escaped(text: str) -> str:
    """The text within a quoted label: Graphviz knows escapes and HTML's entities there, and its SVG is XML."""
    printable = "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode() for character in text
    )
    return printable.replace("\\", "\\\\").replace('"', '\\"').replace("&", "&amp;")


def _quoted(*lines: str) -> str:
    return '"' + "\\n".join(map(_escaped, lines)) + '"'


def _wrapped(attributes: str) -> list[str]:
    """Attributes three to a line."""
    parts = re.split(r", (?=\w+=)", attributes) if attributes else []
    return [", ".join(parts[start : start + 3]) for start in range(0, len(parts), 3)]


_styles = {
    "placeholder": "shape=ellipse, style=filled, fillcolor=lightblue",
    "constant": "shape=note, style=filled, fillcolor=lightyellow",
}
_result_style = "shape=doublecircle, style=filled, fillcolor=lightgreen"


def to_dot(operations: Sequence[GraphOperation]) -> str:
    """The graph of these operations, with what no operation reads as its results."""
    lines = ["digraph {", "  node [shape=box, fontsize=10];", "  edge [fontsize=9];"]
    places: dict[Tensor, int] = {}
    for index, operation in enumerate(operations):
        details = [typed(operation.outputs[0])] if operation.kind in _styles else _wrapped(operation.attributes)
        style = _styles.get(operation.kind)
        label = _quoted(operation.name, operation.kind, *details)
        lines.append(f"  n{index} [label={label}{', ' + style if style else ''}];")
        places.update(dict.fromkeys(operation.outputs, index))
    read: set[Tensor] = set()
    for index, operation in enumerate(operations):
        for argument, tensor in zip(operation.arguments, operation.inputs, strict=True):
            if tensor is None:
                continue
            read.add(tensor)
            source = operations[places[tensor]]
            which = [tensor.name] if len(source.outputs) > 1 else []
            label = _quoted(argument, *which, typed(tensor))
            lines.append(f"  n{places[tensor]} -> n{index} [label={label}];")
    results = [tensor for operation in operations for tensor in operation.outputs if tensor not in read]
    for number, tensor in enumerate(results):
        lines.append(f"  r{number} [label={_quoted(tensor.name)}, {_result_style}];")
        lines.append(f"  n{places[tensor]} -> r{number} [label={_quoted(typed(tensor))}];")
    return "\n".join([*lines, "}", ""])


def svg_of(dot: str) -> str | None:
    """The picture of a text in DOT; None without the program `dot`, and where it fails or takes too long."""
    import shutil  # both take long to import, and few ask for a picture
    import subprocess

    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "-Tsvg"], input=dot.encode(), capture_output=True, timeout=_seconds_to_draw, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
