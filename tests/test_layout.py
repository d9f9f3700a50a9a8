"""The rules of the house, read off the sources of a checkout."""

import ast
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
NATIVE = ROOT / "native"
LONGEST_UNIT = 400
# Units that are longer, with what they may have at most: sources where splitting would part what belongs together.
ALLOWED = {
    "mpsgraph_native/ops/pooling.py": 440,  # docstrings of twelve operations of one family
    "native/graph/autodiff.cpp": 420,
    "tests/test_pooling_errors.py": 420,
}

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
    if path.suffix in {".cpp", ".hpp", ".py", ".pyi", ".pyx", ".pxd", ".mm"}
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
    assert len(path.read_text().splitlines()) <= ALLOWED.get(relative(path), LONGEST_UNIT)


def test_allowances_are_needed():
    for name, longest in ALLOWED.items():
        assert LONGEST_UNIT < len((ROOT / name).read_text().splitlines()) <= longest, name


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


@pytest.mark.parametrize("path", sorted((ROOT / "mpsgraph_native" / "_core").glob("*.pyx")), ids=relative)
def test_an_extension_module_has_a_stub_and_is_built(path):
    assert path.with_suffix(".pyi").is_file()
    topics = re.search(r"set\(topics\s+([^)]*)\)", (ROOT / "mpsgraph_native" / "CMakeLists.txt").read_text()).group(1)
    assert path.stem in topics.split()


# What the package may import; the extras for one program each.
IMPORTED = {*sys.stdlib_module_names, "mpsgraph_native", "numpy", "ml_dtypes"}
OF_THE_DEMO = {"matplotlib", "rich", "sklearn"}


def run_time_imports(tree):
    """Top-level names of the imported modules, those for type checkers alone aside."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            yield from run_time_imports(ast.Module(node.orelse, []))
        elif isinstance(node, ast.Import):
            yield from (name.name.partition(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "relative imports"
            yield node.module.partition(".")[0]
        else:
            yield from run_time_imports(node)


package_sources = [path for path in sources if path.is_relative_to(ROOT / "mpsgraph_native")]


@pytest.mark.parametrize("path", [path for path in package_sources if path.suffix == ".py"], ids=relative)
def test_the_package_imports_itself_and_its_dependencies(path):
    allowed = IMPORTED | OF_THE_DEMO if "demo" in path.parts else IMPORTED
    assert set(run_time_imports(ast.parse(path.read_text()))) <= allowed


@pytest.mark.parametrize("path", [*package_sources, *native_sources], ids=relative)
def test_what_is_shipped_knows_no_tests(path):
    assert not re.search(r"\b(tests|benchmarks)(/|\.\w)|\bconftest\b|\bpytest\b", path.read_text())


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "SECURITY.md"])
def test_what_a_page_names_exists(page):
    text = (ROOT / page).read_text()
    linked = re.findall(r"\]\((?!https?:)([^)#]+)", text)
    named = re.findall(r"`([\w./]+/[\w./]*|[\w]+\.(?:cpp|hpp|py|md|txt))`", text)
    assert named
    for name in [*linked, *(name for name in named if not name.startswith("build/"))]:
        known = (ROOT / name).exists() or any(f"/{name.rstrip('/')}/" in f"/{relative(path)}/" for path in sources)
        assert known, name
