"""The rules of the house, read off the sources of a checkout."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "native"
LONGEST_UNIT = 450

# Which rooms of native/ a room may include from.
ARROWS = {
    "graph": {"graph"},
    "runtime": {"graph", "runtime"},
    "cpu": {"graph", "runtime", "cpu"},
    "metal": {"graph", "runtime", "metal"},
    "no_metal": {"graph", "runtime", "metal"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)

sources = sorted(
    path
    for room in ("native", "mpsgraph_native", "tests", "benchmarks")
    for path in (ROOT / room).rglob("*")
    if path.suffix in {".cpp", ".hpp", ".py", ".pyx", ".pxd", ".mm"}
)
native_sources = [path for path in sources if NATIVE in path.parents]


def relative(path):
    return str(path.relative_to(ROOT))


def includes(path):
    return [(bracket == "<", name) for bracket, name in INCLUDE.findall(path.read_text())]


def families():
    text = (NATIVE / "CMakeLists.txt").read_text()
    return re.search(r"set\(families\s+([^)]*)\)", text).group(1).split()


@pytest.mark.parametrize("path", sources, ids=relative)
def test_units_stay_readable(path):
    assert len(path.read_text().splitlines()) <= LONGEST_UNIT


@pytest.mark.parametrize("path", native_sources, ids=relative)
def test_native_code_knows_no_python(path):
    assert not any(name in ("Python.h", "numpy/arrayobject.h") for _, name in includes(path))


@pytest.mark.parametrize("path", native_sources, ids=relative)
def test_arrows_point_one_way(path):
    room = path.relative_to(NATIVE).parts[0]
    if room not in ARROWS:  # engines.*, which ties the rooms together
        return
    for system, name in includes(path):
        assert system or name.split("/")[0] in ARROWS[room], f"{relative(path)} includes {name}"


@pytest.mark.parametrize("path", sorted((NATIVE / "cpu" / "isa").glob("*")), ids=relative)
def test_kernels_use_no_inline_library_code(path):
    """An inline function of the standard library, compiled with AVX-512 here, could be the copy that the linker keeps."""
    allowed = {"cstdint", "cstring", "immintrin.h", "arm_neon.h"}
    assert {name for system, name in includes(path) if system} <= allowed


@pytest.mark.parametrize("family", families())
def test_a_family_has_one_name_in_every_room(family):
    for place in (
        f"native/graph/{family}.hpp",
        f"native/graph/{family}.cpp",
        f"native/cpu/{family}.cpp",
        f"native/metal/{family}.mm",
        f"mpsgraph_native/ops/{family}.py",
        f"tests/test_{family}.py",
    ):
        assert (ROOT / place).is_file(), f"{place} is missing"


def test_every_declared_header_exists():
    for path in (ROOT / "mpsgraph_native" / "_native").glob("*.pxd"):
        for name in re.findall(r'cdef extern from "([^"]+)"', path.read_text()):
            assert (NATIVE / name).is_file(), f"{relative(path)} declares {name}"
