"""Every row of the tables in docs/how-to/from-pytorch.md, with both packages."""

import re
from pathlib import Path

import pytest

import mpsgraph_native as mg

torch = pytest.importorskip("torch")

from pytorch_rows import CHECKS, functions, layers  # noqa: E402, F401  the modules register their checks

PAGE = (Path(__file__).parent.parent / "docs" / "how-to" / "from-pytorch.md").read_text()
ROWS = dict(re.findall(r"^\| (.*?`.*?) \| (`.*?) \|", PAGE, re.MULTILINE))


@pytest.mark.parametrize("first_cell", ROWS)
def test_row(first_cell, monkeypatch):
    """The check passes and calls every function that the row names."""
    torch.manual_seed(7)
    called = set()

    def recorded(owner, name):
        function = getattr(owner, name)

        def call(*arguments, **keywords):
            called.add(name)
            return function(*arguments, **keywords)

        monkeypatch.setattr(owner, name, call)

    named = [name.removeprefix("Graph.") for name in re.findall(r"`([\w.]+)`", ROWS[first_cell])]
    for name in named:
        recorded(mg.Graph if name == "gradients" else mg, name)
    CHECKS[first_cell]()
    assert called == set(named)


def test_every_row_has_a_check():
    tables = len(re.findall(r"^\|---", PAGE, re.MULTILINE))
    assert len(re.findall(r"^\| ", PAGE, re.MULTILINE)) - tables == len(ROWS)  # the rows are found, all of them
    assert set(CHECKS) == set(ROWS)
