"""The documentation as a site: it builds without a warning, has every public name, and its tables say what is so."""

import csv
import html
import re
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import mpsgraph_native as mg

if mg.default_device().name == "mps":
    # The same pages on every device, and the stand-in's environment has no Sphinx. Elsewhere it has to be there.
    pytest.skip("the site is built on device cpu", allow_module_level=True)

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "_extensions"))

import draw_graph  # noqa: E402  the path is set above
from site_of_mpsgraph_native import directives, docstrings, pages  # noqa: E402

from mpsgraph_native import descriptors, enumerations, ops  # noqa: E402
from mpsgraph_native._core import testing  # noqa: E402


def objects_of(inventory):
    """The names of an objects.inv of version 2, by domain and role."""
    head, _, body = inventory.partition(b"zlib.\n")
    assert head.startswith(b"# Sphinx inventory version 2")
    entries = [line.split(" ") for line in zlib.decompress(body).decode().splitlines()]
    return {(entry[0], entry[1]) for entry in entries}


def prose_of(page):
    """The text of a page outside of code."""
    text = page.read_text()
    article = text[text.index("<article") : text.index("</article>")]
    article = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", article, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", "", article))


@pytest.mark.slow
def test_the_site(tmp_path):
    command = [sys.executable, "-P", "-m", "sphinx", "-W", "--keep-going", "-n", "-q", "-d", str(tmp_path / "doctrees")]
    done = subprocess.run(
        [*command, "-b", "html", str(DOCS), str(tmp_path / "html")], capture_output=True, text=True, timeout=300,
        check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == ""

    documented = {
        name for name, role in objects_of((tmp_path / "html" / "objects.inv").read_bytes()) if role[:3] == "py:"
    }
    assert [name for name in mg.__all__ if f"mpsgraph_native.{name}" not in documented] == []

    found = list((tmp_path / "html").rglob("*.html"))
    assert len(found) > 30
    for page in found:
        if page.name not in ("genindex.html", "search.html", "py-modindex.html"):
            left = re.findall(r".*(?:`|\]\(|:py:|\*\*).*", prose_of(page))
            assert left == [], page.relative_to(tmp_path)  # markup that nothing has understood

    # What readers without a network lack.
    for page in found:
        assert re.findall(r'(?:src|href)="https?://[^"]+\.(?:js|css|woff2?)"', page.read_text()) == [], page.name


def test_pages_of_the_repository_are_shown():
    for page, shown in pages.SHOWN.items():
        assert (DOCS / f"{page}.md").exists()
        if (ROOT / shown).exists():
            rebased = pages.rebased((ROOT / shown).read_text(), ROOT / shown, DOCS / f"{page}.md")
            for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", rebased):
                assert (DOCS / target).exists(), target


def test_every_function_names_its_selectors():
    named = {
        (name, selector)
        for family in directives.families()
        for name in directives.functions_of(family)
        for selector, _version in docstrings.selectors(getattr(ops, name))
    }
    assert {name for name, _ in named} == {
        name for name in ops.__all__ if callable(getattr(mg, name)) and name.islower()
    }
    assert {(row.operation, row.selector) for row in testing.availability()} <= named
    assert set(directives.swift_names()) <= {selector for _, selector in named}


def declared():
    with open(ROOT / "tests" / "metal" / "declarations" / "operations.tsv", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_selectors_and_their_versions_are_the_declared_ones():
    versions = {row["selector"]: row["introduced"] for row in declared() if row["class"] == "MPSGraph"}
    for family in directives.families():
        for name in directives.functions_of(family):
            for selector, version in docstrings.selectors(getattr(ops, name)):
                assert version == versions.get(selector, version), f"{name}: {selector}"


@pytest.mark.parametrize("name", descriptors.__all__)
def test_properties_are_spelled_as_declared(name):
    descriptor = getattr(mg, name)
    properties = {row["selector"] for row in declared() if row["class"] == directives.apple_name(descriptor)}
    for field, _default in directives.fields_of(descriptor):
        assert directives.property_of(field) in properties, field


@pytest.mark.parametrize("name", enumerations.__all__)
def test_enumerations_name_their_type(name):
    assert directives.apple_name(getattr(mg, name)) == f"MPSGraph{name}"


def test_the_picture_is_that_of_the_page():
    assert draw_graph.mark_of(draw_graph.dot_of_the_page()) in draw_graph.PICTURE.read_text()


def test_docstrings_become_rest():
    lines = """|tensor| of name_ where `axis` is 2**3.

    With h:

        z = `flip_z` · |h|

    MPSGraph: aWithTensor:
    second:name:, bWithTensor:name: (macOS 11.0), cWithTensor:name: (macOS 12.3)."""
    assert docstrings.as_rest([line.removeprefix("    ") for line in lines.split("\n")]) == [
        r"\|tensor\| of name\_ where ``axis`` is 2\*\*3.",
        "",
        "With h::",
        "",
        "    z = flip_z · |h|",
        "",
        ":MPSGraph: ``aWithTensor:second:name:`` (macOS 11.0), ``bWithTensor:name:`` (macOS 11.0), "
        "``cWithTensor:name:`` (macOS 12.3)",
    ]
    leading = "MPSGraph (macOS 11.0): ``aWithTensor:name:``, (macOS 13.0):\n``bWithTensor:name:``"
    assert docstrings.as_rest(leading.split("\n")) == [
        ":MPSGraph: ``aWithTensor:name:`` (macOS 11.0), ``bWithTensor:name:`` (macOS 13.0)"
    ]
