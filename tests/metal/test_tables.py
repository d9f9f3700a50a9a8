"""The two tables that the mps engine decides by: what it needs of macOS, and which faults of MPSGraph it minds.

The tables are in every build; what they lead to is tested on the stand-in, which can pretend to be an older macOS.
"""

import csv
import inspect
import re
from pathlib import Path

import pytest
from mps_support import macos, needs_stand_in, undisturbed  # noqa: F401  fixtures

import mpsgraph_native as mg
from mpsgraph_native import ops
from mpsgraph_native._core import testing
from mpsgraph_native.verify.check import check
from mpsgraph_native.verify.table import cases

ROWS = testing.availability()
DECLARATIONS = Path(__file__).parent / "declarations" / "operations.tsv"
SOURCE = re.compile(r"[\w.-]+/[\w.-]+(#\d+| [\w./-]+\.mm)?|developer\.apple\.com \w+")


# What the engine sets beside the arguments of a descriptor's constructor.
SET_FOR_EVERY_POOLING = ("setCeilMode:", "setIncludeZeroPadToAverage:")
SET_FOR_INDICES = ("setReturnIndicesMode:", "setReturnIndicesDataType:")

# Their type bool is younger than they are.
OF_BOOL = {
    "select", "equal", "not_equal", "less_than", "less_than_or_equal_to", "greater_than", "greater_than_or_equal_to",
}  # fmt: skip
BOOL = (12, 0)


def name_of(row):
    return f"{row.operation}-{row.form}" if row.form else row.operation


def declared():
    with open(DECLARATIONS, newline="") as file:
        yield from csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)


def version(text):
    return tuple(int(part) for part in text.split("."))


def introduced(selector):
    """The macOS of a selector of MPSGraph, or of the descriptor that it takes if that is younger."""
    rows = [row for row in declared() if row["class"] == "MPSGraph" and row["selector"] == selector]
    assert len(rows) == 1, f"{selector} is declared {len(rows)} times"
    versions = [version(rows[0]["introduced"])]
    for descriptor in re.findall(r"MPSGraph\w+Descriptor", rows[0]["arguments"]):
        of_class = {row["selector"]: version(row["introduced"]) for row in declared() if row["class"] == descriptor}
        versions.append(min(of_class.values()))
        versions += [of_class[setter] for setter in SET_FOR_EVERY_POOLING if setter in of_class]
        if "ndices" in selector:
            versions += [of_class[setter] for setter in SET_FOR_INDICES]
    return max(versions)


def test_every_operation_has_one_row():
    operations = {name for name in ops.__all__ if inspect.isfunction(getattr(mg, name))}
    assert {row.operation for row in ROWS} == operations
    assert len({(row.operation, row.form) for row in ROWS}) == len(ROWS)
    several = {row.operation: {other.form for other in ROWS if other.operation == row.operation} for row in ROWS}
    assert {name: forms for name, forms in several.items() if forms != {""}} == {
        "max_pooling_2d_gradient": {"source", "indices"},
        "max_pooling_4d_gradient": {"source", "indices"},
    }


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_selectors_are_declared_with_the_same_version(row):
    assert row.introduced == introduced(row.selector)


def test_faults_have_public_sources():
    faults = testing.known_faults()
    assert len({fault.condition for fault in faults}) == len(faults)
    operations = {row.operation for row in ROWS}
    for fault in faults:
        assert SOURCE.fullmatch(fault.source), fault
        assert set(fault.operations) <= operations, fault
        assert fault.condition and fault.instead, fault


TABLE = {}
for case in cases(quick=True):
    TABLE.setdefault(case.operation, []).append(case)
VERSIONS = sorted({row.introduced for row in ROWS} | {(11, 3), (12, 4)})


def row_of(case):
    """The row that a case of verify's table goes by."""
    forms = [row for row in ROWS if row.operation == case.operation]
    if len(forms) == 1:
        return forms[0]
    return next(row for row in forms if row.form == ("indices" if "indices" in case.name else "source"))


def test_both_forms_are_in_verifys_table():
    assert {name_of(row_of(case)) for entries in TABLE.values() for case in entries} == set(map(name_of, ROWS))


@needs_stand_in
@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("running", VERSIONS, ids=lambda running: "macos_{}_{}".format(*running))
@pytest.mark.parametrize("operation", TABLE)
def test_an_operation_runs_or_names_the_macos_that_it_needs(operation, running, macos):  # noqa: F811
    """The stand-in has no younger method then, so that a lowering that takes one fails."""
    macos(*running)
    for case in TABLE[operation]:
        row = row_of(case)
        needed = max(row.introduced, BOOL) if operation in OF_BOOL else row.introduced
        result = check(case, "float32", "mps")
        if running >= needed or row.substitute:
            assert result.passed, result.message
        else:
            assert result.needs_macos == "{}.{}".format(*needed), result.message


@needs_stand_in
@pytest.mark.usefixtures("undisturbed")
@pytest.mark.parametrize("running, refused", [((13, 6), True), ((14, 0), False)])
def test_bfloat16_needs_macos_14(running, refused, macos):  # noqa: F811
    pytest.importorskip("ml_dtypes")
    macos(*running)
    for case in TABLE["addition"]:
        result = check(case, "bfloat16", "mps")
        assert result.needs_macos == ("14.0" if refused else None)
        assert result.passed is (None if refused else True), result.message
