"""The source distribution holds what a build and its tests need; stubs and marker are in it, and nothing of the workshop."""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.types


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Of the files in the source distribution, without its top folder."""
    directory = tmp_path_factory.mktemp("sdist")
    # The hook of PEP 517, which compiles nothing.
    build = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-P", "-c", build, str(directory)], cwd=ROOT, check=True, timeout=120)
    (archive,) = directory.iterdir()
    with tarfile.open(archive) as opened:
        return {member.name.partition("/")[2] for member in opened if member.isfile()}


def under(folder, *suffixes):
    """What of the checkout lies there, build trees and caches aside."""
    files = {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*") if path.suffix in suffixes}
    assert files
    return files


def test_stubs_and_marker(names):
    assert under("mpsgraph_native", ".pyi") | {"mpsgraph_native/py.typed"} <= names


@pytest.mark.parametrize(
    ("folder", "suffixes"),
    [
        ("mpsgraph_native", (".py", ".pyx", ".pxd", ".txt")),
        ("native", (".cpp", ".hpp", ".mm", ".txt", ".map")),
        ("cmake", (".cmake", ".map")),
        ("tests", (".py", ".txt", ".mm", ".cpp", ".hpp", ".h", ".tsv", ".sh", ".json", ".S", ".c", ".inc")),
        ("benchmarks", (".py", ".c")),
        ("docs", (".md", ".png", ".svg", ".py", ".css", ".tsv")),
    ],
)
def test_everything_that_is_built_and_tested(names, folder, suffixes):
    assert under(folder, *suffixes) - names == set()


def test_what_stands_at_the_top(names):
    top = {name for name in names if "/" not in name}
    assert {"README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"} <= top
    assert {"CMakeLists.txt", "pyproject.toml", "noxfile.py", "PKG-INFO"} <= top


def test_nothing_of_the_workshop(names):
    unwanted = (".ci/", ".github/", "build/", "dist/", ".venv/", ".git/")
    assert not [name for name in names if name.startswith(unwanted) or name.endswith((".so", ".pyc"))]
