"""Writes what has to follow the package itself: stubs, and the list of all public signatures.

The package gathers its names, and makes graphs, descriptors and enumerations, in ways that type checkers cannot follow. `python
tests/typing/generate_stubs.py` writes their stubs and signatures.txt anew from the installed package, which accepts every
change; test_stubs.py compares.
"""

import contextlib
import dataclasses
import inspect
import sys
import typing as standard
from enum import IntEnum
from pathlib import Path

import mpsgraph_native as mg
from mpsgraph_native import descriptors, enumerations, ops, typing

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
WIDTH = 120

HEAD = "# Written from the package itself; CONTRIBUTING.md says how.\n"


def definition(name, parameters, result, indent=4):
    """A stub of one function, broken into lines as ruff breaks them."""
    margin = " " * indent
    line = f"{margin}def {name}({', '.join(parameters)}) -> {result}: ..."
    if len(line) <= WIDTH:
        return line
    inner = f"{margin}    {', '.join(parameters)}"
    if len(inner) <= WIDTH:
        return f"{margin}def {name}(\n{inner}\n{margin}) -> {result}: ..."
    lines = "".join(f"{margin}    {parameter},\n" for parameter in parameters)
    return f"{margin}def {name}(\n{lines}{margin}) -> {result}: ..."


def spelled(parameter):
    """name: annotation = default."""
    text = parameter.name
    if parameter.annotation is not parameter.empty:
        text += f": {parameter.annotation}"
    if parameter.default is not parameter.empty:
        default = parameter.default
        if isinstance(default, IntEnum):
            default = f"{type(default).__name__}.{default.name}"
        else:
            default = f'"{default}"' if isinstance(default, str) else repr(default)
        text += f" = {default}"
    return text


def parameters_of(signature):
    """The parameters of a signature with a star before the first that is for keywords alone."""
    parts = []
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        parts.append(stars + spelled(parameter))
    return parts


def operations():
    """The names of all operations in the documentation's order."""
    return [name for name in ops.__all__ if inspect.isfunction(getattr(ops, name))]


def graph_stub():
    methods = []
    for name in ("to_dot", "_repr_svg_", *operations()):
        signature = inspect.signature(getattr(mg.Graph, name))
        methods.append(definition(name, parameters_of(signature), signature.return_annotation))
    text = "\n".join(methods)
    named = ["GRUGradients", "LSTMGradients", "SingleGateRNNGradients"]
    assert all(name in text for name in named)
    taken = [name for name in descriptors.__all__ if name in text]
    return f"""{HEAD}from typing import Any, SupportsIndex

from mpsgraph_native._core.graph import GraphCore, Tensor
from mpsgraph_native.descriptors import (
{"".join(f"    {name},{chr(10)}" for name in taken)})
from mpsgraph_native.enumerations import LossReductionType
from mpsgraph_native.ops.recurrent import {", ".join(named)}
from mpsgraph_native.typing import Axes, DTypeLike, Integers, LossReductionTypeName

__all__ = ["Graph"]

class Graph(GraphCore):
{text}
"""


# What a field takes and gives, by the function that converts it.
CONVERSIONS = {
    descriptors._integer: ("SupportsIndex", "int"),
    descriptors._integers: ("Iterable[SupportsIndex]", "tuple[int, ...]"),
    descriptors._flag: ("bool | np.bool_", "bool"),
    descriptors._data_type: ("DTypeLike", "str"),
}


def field_types(entry):
    convert = entry.metadata["convert"]
    if convert in CONVERSIONS:
        return CONVERSIONS[convert]
    name = convert.__self__.__name__  # the bound `coerce` of an enumeration; its raw values are left to the untyped
    return f"{name} | {name}Name", name


def descriptor_stub(name):
    parameters, properties = ["self", "*"], []
    for entry in dataclasses.fields(getattr(mg, name)):
        taken, given = field_types(entry)
        required = entry.default is dataclasses.MISSING
        simple = isinstance(entry.default, (bool, str, tuple)) or type(entry.default) is int
        default = "" if required else f" = {entry.default!r}" if simple else " = ..."
        parameters.append(f"{entry.name}: {taken}{default}".replace("'", '"'))
        properties.append(f"    @property\n    def {entry.name}(self) -> {given}: ...\n")
    return f"class {name}(_Descriptor):\n{definition('__init__', parameters, 'None')}\n{''.join(properties)}"


def descriptors_stub():
    classes = "\n".join(descriptor_stub(name) for name in descriptors.__all__)
    enumerated = [name for name in enumerations.__all__ if f" {name}Name" in classes]
    names = "".join(
        f"    {name},\n" for name in sorted(["DTypeLike", *(f"{name}Name" for name in enumerated)], key=str.lower)
    )
    exported = "".join(f'    "{name}",\n' for name in descriptors.__all__)
    return f"""{HEAD}from collections.abc import Iterable
from dataclasses import Field
from typing import Any, ClassVar, SupportsIndex

import numpy as np

from mpsgraph_native._core.descriptor import DescriptorCore
from mpsgraph_native.enumerations import {", ".join(enumerated)}
from mpsgraph_native.typing import (
{names})

__all__ = [
{exported}]

class _Descriptor(DescriptorCore):
    # Fields are properties here: they take more than they give, and cannot be set.
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    __match_args__: ClassVar[tuple[()]] = ()
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __post_init__(self) -> None: ...
    def _attributes(self) -> dict[str, Any]: ...

{classes}
def descriptor_class(operation: str) -> type[_Descriptor] | None: ...
"""


def enumeration_stub(name):
    # A member called None cannot be written in a class; `None_` is the same one.
    members = getattr(mg, name).__members__.items()
    head = f"class {name}(IntEnum):\n    def __new__(cls, value: int | {name}Name) -> Self: ...\n"
    return head + "".join(f"    {member} = {value.value}\n" for member, value in members if member != "None")


def enumerations_stub():
    exported = "".join(f'    "{name}",\n' for name in enumerations.__all__)
    names = "".join(f"    {name}Name,\n" for name in enumerations.__all__)
    return f"""{HEAD}from enum import IntEnum
from typing import Self

from mpsgraph_native.typing import (
{names})

__all__ = [
{exported}]

""" + "\n".join(enumeration_stub(name) for name in enumerations.__all__)


def package_stub():
    sources = {}
    for name in mg.__all__:
        if name != "__version__":
            module = getattr(mg, name).__module__
            sources.setdefault("mpsgraph_native.errors" if module == "mpsgraph_native" else module, []).append(name)
    imports = []
    for module, names in sorted(sources.items()):
        line = f"from {module} import {', '.join(ordered(names))}"
        broken = f"from {module} import (\n{''.join(f'    {name},{chr(10)}' for name in ordered(names))})"
        imports.append(line if len(line) <= WIDTH else broken)
    exported = "".join(f'    "{name}",\n' for name in mg.__all__)
    return f"{HEAD}{chr(10).join(imports)}\n\n__all__ = [\n{exported}]\n\n__version__: str\n"


def ordered(names):
    """As ruff orders imported names: classes first, then the rest."""
    return sorted(names, key=lambda name: (not name[0].isupper(), name.lower()))


def operations_stub():
    families = sorted({getattr(ops, name).__module__ for name in ops.__all__})
    exported = "".join(f'    "{name}",\n' for name in ops.__all__)
    return f"{HEAD}{''.join(f'from {family} import *{chr(10)}' for family in families)}\n__all__ = [\n{exported}]\n"


def members_of(kind):
    """The public names of a class of this package, its own and inherited ones, without those of foreign bases."""
    known = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("mpsgraph_native"):
            known |= vars(base)
    return sorted(name for name in known if not name.startswith("_"))


def annotated(annotation):
    """An annotation as every version of Python spells it."""
    if isinstance(annotation, standard.ForwardRef):
        return annotation.__forward_arg__
    return annotation.__name__ if inspect.isclass(annotation) else str(annotation)


def signature_of(value):
    """(name: annotation = default, ...) -> annotation"""
    signature = inspect.signature(value)
    known = [entry for entry in signature.parameters.values() if entry.annotation is not entry.empty]
    named = {entry.name: entry.replace(annotation=annotated(entry.annotation)) for entry in known}
    signature = signature.replace(parameters=[named.get(name, entry) for name, entry in signature.parameters.items()])
    parts = parameters_of(signature)
    result = signature.return_annotation
    return f"({', '.join(parts)})" + ("" if result is signature.empty else f" -> {annotated(result)}")


def signature_lines(name, value):
    """What a change of the interface changes: one line per function, method and attribute."""
    if inspect.isclass(value):
        yield f"class {name}({', '.join(base.__name__ for base in value.__bases__)})"
        with contextlib.suppress(ValueError):  # it has none where instances come from functions
            yield f"{name}{signature_of(value)}"
        for member in members_of(value):
            attribute = inspect.getattr_static(value, member)
            if isinstance(attribute, (classmethod, staticmethod)):
                attribute = attribute.__func__
            yield from signature_lines(f"{name}.{member}", attribute)
    elif callable(value):
        yield f"{name}{signature_of(value)}"
    else:
        yield f"{name}"


def signatures():
    lines = [line for name in sorted(mg.__all__) for line in signature_lines(name, getattr(mg, name))]
    lines += [f"typing.{name} = {getattr(typing, name)}" for name in typing.__all__ if name.endswith("Name")]
    return "\n".join(lines) + "\n"


PACKAGE = ROOT / "mpsgraph_native"
GENERATED = {
    PACKAGE / "__init__.pyi": package_stub,
    PACKAGE / "ops" / "__init__.pyi": operations_stub,
    PACKAGE / "graph.pyi": graph_stub,
    PACKAGE / "descriptors.pyi": descriptors_stub,
    PACKAGE / "enumerations.pyi": enumerations_stub,
    HERE / "signatures.txt": signatures,
}


def main():
    for path, generate in GENERATED.items():
        path.write_text(generate())
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    sys.exit(main())
