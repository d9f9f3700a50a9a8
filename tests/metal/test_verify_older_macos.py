"""mpsgraph-native verify on a macOS that lacks operations. The stand-in alone can pretend to be one."""

import json

import pytest
from mps_support import macos, needs_stand_in, undisturbed  # noqa: F401  fixtures

from mpsgraph_native.__main__ import main
from mpsgraph_native._core import testing

pytestmark = [needs_stand_in, pytest.mark.usefixtures("undisturbed")]

RUNNING = (12, 0)


@pytest.fixture
def verified(macos, tmp_path, capsys):  # noqa: F811
    """(exit status, report, text) of a quick run on that macOS."""
    macos(*RUNNING)
    path = tmp_path / "report.json"
    status = main(["verify", "--quick", "--device", "mps", "--json", str(path)])
    return status, json.loads(path.read_text()), capsys.readouterr().out


def test_operations_that_this_macos_lacks_are_no_failures(verified):
    status, whole, text = verified
    assert [row for row in whole["rows"] if row["passed"] is False] == []
    assert [probe for probe in whole["probes"] if probe["passed"] is False] == []
    assert status == 0 and whole["passed"] is True
    lacking = {}
    for row in testing.availability():
        if row.introduced > RUNNING and not row.substitute:
            lacking.setdefault(row.operation, set()).add("{}.{}".format(*row.introduced))
    needed = {}
    for row in whole["rows"]:
        if row["needs_macos"]:
            assert row["passed"] is None and row["seconds_per_call"] is None
            needed.setdefault(row["operation"], set()).add(row["needs_macos"])
    assert needed == lacking
    (summary,) = whole["summary"]
    assert summary["rows_not_available"] == sum(row["passed"] is None for row in whole["rows"]) > 0
    assert summary["probes_not_available"] == sum(probe["passed"] is None for probe in whole["probes"]) > 0
    assert "not available (needs macOS 13.0)" in text and "FAILED" not in text
    skipped = {entry["dtype"]: entry["reason"] for entry in whole["skipped"]}
    assert "needs macOS 14.0" in skipped["bfloat16"] and "float64" in skipped
