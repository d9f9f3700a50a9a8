"""help() answers for everything public; of an operation it tells what the tables and the engine know."""

import inspect
import pydoc
import re

import pytest

import mpsgraph_native as mg
from mpsgraph_native import ops, typing
from mpsgraph_native._core.testing import availability

pytestmark = pytest.mark.types

OPERATIONS = [name for name in ops.__all__ if inspect.isfunction(getattr(ops, name))]
ROWS = availability()

# What a docstring tells in words of its own, by kind.
TOLD = {
    "shapes": r"\b[Ss]hapes?\b|\brank\b|\[[NTMC.]",
    "dtypes": r"\bdtypes?\b",
    "errors": r"\b(Shape|DType)Error\b",
    "macOS": r"\(macOS \d+\.\d+\)",
    "MPSGraph": r"\bMPSGraph\b",
}
# A formula, or the value in words where no formula says it better.
FORMULA = (
    r"[=·²+><^−]|\|\w|\w / \w|^-\w|\bmax\(|\w\[\w|\bwhere\b"
    r"|\b[Tt]he (elements|natural|square|hyperbolic|arithmetic|larger|smaller|sum|product|largest|smallest|same|int32)\b"
)


def public_members(kind):
    """Methods and properties that a class of ours adds."""
    for base in kind.__mro__:
        if base.__module__.startswith("mpsgraph_native") and not base.__module__.endswith("enumerations"):
            for name, value in vars(base).items():
                if not name.startswith("_") and (callable(value) or inspect.isdatadescriptor(value)):
                    yield name, getattr(kind, name)


PUBLIC = {name: getattr(mg, name) for name in mg.__all__ if name != "__version__"}
PUBLIC |= {f"typing.{name}": getattr(typing, name) for name in ("SupportsArray", "SupportsDLPack")}
PUBLIC |= {
    f"{name}.{member}": value
    for name, kind in PUBLIC.items()
    if inspect.isclass(kind)
    for member, value in public_members(kind)
}


def documentation(name):
    """As pydoc shows it, without the signature, in one line."""
    return " ".join(inspect.getdoc(PUBLIC[name]).split())


@pytest.mark.parametrize("name", PUBLIC)
def test_everything_public_has_a_docstring(name):
    text = inspect.getdoc(PUBLIC[name]) or ""
    if inspect.isgetsetdescriptor(PUBLIC[name]) and not text:  # `cdef readonly`, which cannot have one of its own
        owner, _, attribute = name.partition(".")
        text = documentation(owner)
        assert f"`{attribute}`" in text, name
    assert len(text.split()) >= 3, f"{name}: {text!r}"
    if inspect.isclass(PUBLIC[name]) and "." not in name:
        assert pydoc.render_doc(PUBLIC[name])


@pytest.mark.parametrize("name", OPERATIONS)
def test_help_shows_the_signature(name):
    shown = pydoc.render_doc(PUBLIC[name], renderer=pydoc.plaintext)
    assert f"{name}(" in shown and "device: 'DeviceLike | None' = None" in shown
    shown = pydoc.render_doc(getattr(mg.Graph, name), renderer=pydoc.plaintext)
    assert "name: 'str | None' = None" in shown and "device" not in shown.splitlines()[2]


@pytest.mark.parametrize("what", TOLD)
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_tells_its(name, what):
    assert re.search(TOLD[what], documentation(name)), documentation(name)


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_tells_its_formula(name):
    before = documentation(name).split("MPSGraph")[0]
    assert re.search(FORMULA, before), before


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_explains_its_arguments(name):
    text = documentation(name)
    left_out = {"tensor", "device", "out", "descriptor"}
    if "the other operands are those it had" in text:
        left_out |= set(inspect.signature(PUBLIC[name.removesuffix("_gradients")]).parameters)
    arguments = [entry for entry in inspect.signature(PUBLIC[name]).parameters if entry not in left_out]
    missing = [entry for entry in arguments if not re.search(rf"(?<!\w){entry}(?!\w)", text)]
    assert missing == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.operation}{row.form and ' from '}{row.form}")
def test_selectors_and_versions_are_those_of_the_engine(row):
    text = documentation(row.operation)
    assert row.selector in text.replace(": ", ":").replace("`", ""), row.selector
    versions = {tuple(map(int, version.split("."))) for version in re.findall(r"\(macOS (\d+\.\d+)\)", text)}
    if "pooling_2d" in row.operation and row.introduced == (12, 0):
        # The selector is older than fields of the descriptor that the engine always sets.
        assert (11, 0) in versions
    else:
        assert row.introduced in versions


def test_the_engine_knows_every_operation():
    assert {row.operation for row in ROWS} == set(OPERATIONS)
