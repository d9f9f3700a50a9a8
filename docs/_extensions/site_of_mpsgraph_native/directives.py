"""Directives that list what the package has: they are made from it, so that they say what it says.

family-words NAME         what a family of operations says of itself
operation-family NAME     every function and class of the family
mpsgraph-operations       MPSGraph's methods and the functions that stand for them
mpsgraph-descriptors      its descriptors and their properties
mpsgraph-enumerations     its enumerations and their members
graph-methods             the operations that are methods of Graph
"""

import csv
import dataclasses
import enum
import inspect
import re
from importlib import import_module
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.addnodes import pending_xref
from sphinx.util.docutils import SphinxDirective

import mpsgraph_native
from mpsgraph_native import descriptors, enumerations, ops
from mpsgraph_native._core import testing
from site_of_mpsgraph_native.docstrings import as_rest, selectors

SWIFT_NAMES = Path(__file__).parent / "swift_names.tsv"


def families():
    """The families in the order of the documentation."""
    return ops._families


def functions_of(family):
    module = import_module(f"mpsgraph_native.ops.{family}")
    return [name for name in module.__all__ if inspect.isfunction(getattr(module, name))]


def swift_names():
    """{selector: (Swift's name, whether a header gives it; else it is the compiler's rule)}; those that are known."""
    with open(SWIFT_NAMES, newline="") as file:
        return {
            row["selector"]: (row["swift"], row["from"] == "header") for row in csv.DictReader(file, delimiter="\t")
        }


def property_of(field):
    """A descriptor's field as MPSGraph spells the property."""
    first, *rest = field.split("_")
    return first + "".join(part.capitalize() for part in rest)


def apple_name(documented):
    """The class of MPSGraph that the docstring names."""
    return re.search(r"\((MPSGraph\w+)", documented.__doc__)[1]


def shown_default(value):
    if value is dataclasses.MISSING:
        return None
    return repr(value.name) if isinstance(value, enum.Enum) else repr(value)


def fields_of(descriptor):
    """(name, default as code or None) of each field."""
    return [(entry.name, shown_default(entry.default)) for entry in dataclasses.fields(descriptor)]


def members_of(enumeration):
    """(name, value), without the spellings for Python of names that Python reserves."""
    return [(name, int(member)) for name, member in enumeration.__members__.items() if not name.endswith("_")]


def code(text):
    return nodes.literal(text, text)


def link(name):
    """A name of the package that leads to its place in the reference."""
    target = pending_xref("", refdomain="py", reftype="obj", reftarget=f"mpsgraph_native.{name}", refexplicit=True)
    target += code(name)
    return target


def table(head, rows, widths, classes=()):
    """A table of nodes and texts."""
    group = nodes.tgroup("", *[nodes.colspec(colwidth=width) for width in widths], cols=len(head))

    def row(cells):
        entries = []
        for cell in cells:
            content = cell if isinstance(cell, list) else [cell if isinstance(cell, nodes.Node) else nodes.Text(cell)]
            entries.append(nodes.entry("", nodes.paragraph("", "", *content)))
        return nodes.row("", *entries)

    group += nodes.thead("", row(head))
    group += nodes.tbody("", *[row(cells) for cells in rows])
    return nodes.table("", group, classes=["colwidths-given", *classes])


class _Directive(SphinxDirective):
    def run(self):
        found = self.content_nodes()
        for target in [target for node in found for target in node.findall(pending_xref)]:
            target["refdoc"] = self.env.current_document.docname
        return found


class _WithinRest(SphinxDirective):
    """Within eval-rst, since docstrings and autodoc give reST."""

    required_arguments = 1

    def run(self):
        module = import_module(f"mpsgraph_native.ops.{self.arguments[0]}")
        container = nodes.Element()
        lines = StringList(self.lines_of(module), self.get_source_info()[0])
        self.state.nested_parse(lines, self.content_offset, container)
        return container.children


class FamilyWords(_WithinRest):
    def lines_of(self, module):
        return as_rest(inspect.getdoc(module).split("\n"))


class OperationFamily(_WithinRest):
    def lines_of(self, module):
        lines = []
        for name in module.__all__:
            kind = "function" if inspect.isfunction(getattr(module, name)) else "class"
            lines += [f".. auto{kind}:: mpsgraph_native.{name}", ""]
        return lines


class Operations(_Directive):
    def content_nodes(self):
        needed = {(row.operation, row.selector): row.introduced for row in testing.availability()}
        swift = swift_names()
        rows = []
        for family in families():
            for name in functions_of(family):
                for selector, version in selectors(getattr(ops, name)):
                    version = ".".join(map(str, needed.get((name, selector), version.split("."))))
                    spelled, from_header = swift.get(selector, ("", False))
                    shown = code(spelled) if from_header else nodes.emphasis("", "", code(spelled)) if spelled else "–"
                    rows.append((code(selector), shown, link(name), version))
        return [table(("Objective-C", "Swift", "Python", "macOS"), rows, (36, 30, 26, 8), ["selectors"])]


class Descriptors(_Directive):
    def content_nodes(self):
        rows = []
        for name in descriptors.__all__:
            descriptor = getattr(mpsgraph_native, name)
            rows.append((code(apple_name(descriptor)), link(name), ""))
            rows += [
                (code(property_of(field)), code(field), "required" if default is None else code(default))
                for field, default in fields_of(descriptor)
            ]
        return [table(("MPSGraph", "Python", "default"), rows, (40, 40, 20))]


class Enumerations(_Directive):
    def content_nodes(self):
        rows = []
        for name in enumerations.__all__:
            enumeration = getattr(mpsgraph_native, name)
            prefix = apple_name(enumeration)
            rows += [
                (code(f"{prefix}{member}"), [link(name), nodes.Text(" "), code(repr(member))], str(value))
                for member, value in members_of(enumeration)
            ]
        return [table(("Objective-C", "Python", "value"), rows, (50, 40, 10))]


class GraphMethods(_Directive):
    """The operations that are methods of Graph, by family."""

    def content_nodes(self):
        names = {family: functions_of(family) for family in families()}
        rows = [
            (family.replace("_", " "), [part for name in found for part in (link(name), nodes.Text(", "))][:-1])
            for family, found in names.items()
        ]
        return [table(("family", "methods"), rows, (20, 80))]


def _signature(app, what, name, documented, options, signature, returned):
    if isinstance(documented, type) and documented in [getattr(descriptors, each) for each in descriptors.__all__]:
        fields = [field if default is None else f"{field}={default}" for field, default in fields_of(documented)]
        return f"(*, {', '.join(fields)})", returned
    if isinstance(documented, type) and issubclass(documented, enum.Enum):
        return "(value)", returned
    return None


def _members(app, what, name, documented, options, lines):
    """Behind an enumeration's words its members."""
    if isinstance(documented, type) and issubclass(documented, enum.Enum):
        lines += ["", ", ".join(f"``{member}`` ({value})" for member, value in members_of(documented)) + "."]


def setup(app):
    app.add_directive("family-words", FamilyWords)
    app.add_directive("operation-family", OperationFamily)
    app.add_directive("mpsgraph-operations", Operations)
    app.add_directive("mpsgraph-descriptors", Descriptors)
    app.add_directive("mpsgraph-enumerations", Enumerations)
    app.add_directive("graph-methods", GraphMethods)
    app.connect("autodoc-process-signature", _signature)
    app.connect("autodoc-process-docstring", _members, priority=450)
