"""Stubs and signatures follow the package: a change has to be accepted by generate_stubs.py."""

import importlib.util
import inspect
import sys
import typing as standard
from pathlib import Path

import pytest

import mpsgraph_native as mg
from mpsgraph_native import enumerations, ops, typing

pytestmark = pytest.mark.types

HERE = Path(__file__).resolve().parent
_specification = importlib.util.spec_from_file_location("generate_stubs", HERE / "generate_stubs.py")
generate_stubs = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(generate_stubs)


@pytest.mark.parametrize("path", generate_stubs.GENERATED, ids=lambda path: path.name)
def test_written_files_follow_the_package(path):
    expected = generate_stubs.GENERATED[path]()
    assert path.read_text() == expected, (
        f"after a change that is meant: {sys.executable} tests/typing/generate_stubs.py"
    )


def test_stubs_and_marker_are_installed():
    installed = Path(mg.__file__).parent
    checkout = generate_stubs.PACKAGE
    names = {path.relative_to(checkout) for path in checkout.rglob("*.pyi")} | {Path("py.typed")}
    assert len(names) > 20
    assert {name for name in names if not (installed / name).is_file()} == set()


@pytest.mark.parametrize("name", enumerations.__all__)
def test_names_of_members_are_literals(name):
    literals = standard.get_args(getattr(typing, f"{name}Name"))
    assert set(literals) == {member for member in getattr(mg, name).__members__ if not member.endswith("_")}


@pytest.mark.parametrize("name", ops.__all__)
def test_annotations_name_what_there_is(name):
    hints = standard.get_type_hints(getattr(ops, name))
    if inspect.isfunction(getattr(ops, name)):
        assert set(hints) == {*inspect.signature(getattr(ops, name)).parameters, "return"}


@pytest.mark.parametrize("name", [name for name in ops.__all__ if inspect.isfunction(getattr(ops, name))])
def test_methods_take_and_give_tensors(name):
    method = inspect.signature(getattr(mg.Graph, name))
    annotations = [entry.annotation for entry in method.parameters.values() if entry.name != "self"]
    assert all("Array" not in text and "Result" not in text for text in [*annotations, method.return_annotation])
    first, *_, last = method.parameters
    assert (first, last) == ("self", "name")


def test_changed_signatures_are_seen(monkeypatch):
    def relu(tensor, *, out=None):
        """Without device."""

    graph, listed = generate_stubs.graph_stub(), generate_stubs.signatures()
    monkeypatch.setattr(mg, "relu", relu)
    assert generate_stubs.signatures() != listed
    monkeypatch.setattr(mg.Graph, "relu", relu)
    assert generate_stubs.graph_stub() != graph
