"""Every Python block of the README and the docs runs as it stands, in the order of its page."""

import re
from pathlib import Path

import pytest

import mpsgraph_native as mg

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def name_of(page):
    return page.relative_to(ROOT / "docs").as_posix() if page.is_relative_to(ROOT / "docs") else page.name


@pytest.mark.parametrize("page", [page for page in PAGES if BLOCK.search(page.read_text())], ids=name_of)
def test_examples_run(page):
    blocks = BLOCK.findall(page.read_text())
    if any("import torch" in block for block in blocks) and mg.default_device().name == "mps":
        pytest.importorskip("torch")  # the stand-in's environment has none; elsewhere it has to be there
    namespace = {}
    for block in blocks:
        exec(compile(block, name_of(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text()):
        assert (page.parent / target).exists(), target
