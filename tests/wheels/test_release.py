"""A release as a stranger meets it: sdist, wheel from the sdist, installed without compiler or index."""

import re
import shutil
import sys
import sysconfig
import zipfile
from pathlib import Path

import numpy as np
import pytest
from packaging.utils import parse_wheel_filename
from wheels import examine, release

pytestmark = pytest.mark.slow

EMULATOR = "qemu-x86_64-static"
# Mnemonics of what came after SSE2, without the vector extensions: those begin with v and are told apart by it. Not tzcnt:
# compilers write it for bsf, which it is on older processors.
LATER = re.compile(
    r"addsubp[ds]|h(add|sub)p[ds]|lddqu|mov(ddup|shdup|sldup)|p(abs[bwd]|alignr|h(add|sub)s?[wd]|maddubsw|mulhrsw|shufb|"
    r"sign[bwd]|blend\w+|cmp[ei]str[im]|cmpeqq|cmpgtq|extr[bdq]|insr[bdq]|max[su][bd]|maxuw|min[su][bd]|minuw|mov[sz]x\w+|"
    r"muldq|mulld|test|hminposuw)|blendv?p[ds]|dpp[ds]|extractps|insertps|movntdqa|mpsadbw|packusdw|round[ps][ds]|"
    r"popcnt|crc32\w*|lzcnt|andn|bextr|bls\w+|bzhi|mulx|pdep|pext|rorx|sarx|shlx|shrx"
)


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    return release.sdist(tmp_path_factory.mktemp("sdist"))


@pytest.fixture(scope="module")
def source(sdist, tmp_path_factory):
    return release.unpacked(sdist, tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory):
    built = release.wheel(source, tmp_path_factory.mktemp("built"))
    return release.repaired(built, tmp_path_factory.mktemp("repaired"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    wheels = tmp_path_factory.mktemp("dependencies")
    release.dependencies(wheels)
    return release.installed(wheel, wheels, tmp_path_factory.mktemp("installed"))


def smoke(installed, *arguments, emulator=()):
    """What the smoke test of wheels says, run by the fresh environment's interpreter."""
    python, environment = installed
    command = [*emulator, python, release.ROOT / "tests/wheels/smoke.py", "--forbid", release.ROOT, *arguments]
    return release.run(*command, env=environment, cwd=python.parent)


def test_the_wheel_is_one_that_an_index_takes(wheel):
    name, _, _, tags = parse_wheel_filename(wheel.name)
    assert name == "mpsgraph-native"
    version = f"cp{sys.version_info.major}{sys.version_info.minor}"
    abi = version + ("t" if sysconfig.get_config_var("Py_GIL_DISABLED") else "")
    assert {(tag.interpreter, tag.abi) for tag in tags} == {(version, abi)}
    assert all(tag.platform.startswith(("manylinux_2_", "musllinux_1_")) for tag in tags)
    assert list(examine.faults(wheel)) == []


def with_files(wheel, path, *, without=(), added=()):
    """A copy of the wheel with some files left out and others put in."""
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            if name not in without:
                new.writestr(name, old.read(name))
        for name, data in added:
            new.writestr(name, data)
    return path


def test_the_examination_finds_planted_faults(wheel, tmp_path):
    foreign = Path(np._core._multiarray_umath.__file__).read_bytes()
    for plant, told in (
        ({"without": ("mpsgraph_native/py.typed",)}, "py.typed is missing"),
        ({"added": [("mpsgraph_native/_core/leftover.pyx", b"")]}, "leftover.pyx is no file of an installed package"),
        ({"added": [("tests/conftest.py", b"")]}, "tests/conftest.py lies outside of the package"),
        ({"added": [("mpsgraph_native/_core/foreign.so", foreign)]}, "extension modules without a stub"),
        ({"added": [("mpsgraph_native/_core/foreign.so", foreign)]}, "foreign.so shows"),
        ({"added": [("mpsgraph_native/large", b"0" * (examine.LARGEST + 1))]}, "bytes, at most"),
    ):
        faults = list(examine.faults(with_files(wheel, tmp_path / wheel.name, **plant)))
        assert any(told in fault for fault in faults), (told, faults)
    junk = tmp_path / "mpsgraph_native-0-cp311-cp311-manylinux_2_28_x86_64.whl"
    junk.write_text("junk")
    assert any("is no wheel" in fault for fault in examine.faults(junk))
    plain = with_files(wheel, tmp_path / "mpsgraph_native-0-cp311-cp311-linux_x86_64.whl")
    assert any("no platform that an index takes" in fault for fault in examine.faults(plain))


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name and not name.endswith("/")}
    assert {name for name in names if not name.endswith(".so")} == release.package_files()


def test_it_works_where_it_was_installed(installed):
    smoke(installed)


@pytest.mark.skipif(shutil.which(EMULATOR) is None, reason=f"needs {EMULATOR}: apt-get install qemu-user-static")
@pytest.mark.parametrize(("processor", "instruction_set"), [("Nehalem", "baseline"), ("Haswell", "avx2")])
def test_one_wheel_runs_on_older_processors(installed, processor, instruction_set):
    """NumPy's own wheels need SSE4.2; that this package's need SSE2 alone is the next test's."""
    emulator = (shutil.which(EMULATOR), "-cpu", processor)
    smoke(installed, "--no-processes", "--expect-instruction-set", instruction_set, emulator=emulator)


def objects(source):
    found = sorted((source / "build/release").rglob("*.o"))
    assert len(found) > 100, found
    return found


def is_for(path):
    """The instruction set whose kernels an object holds."""
    match = re.search(r"mpsgraph_native_(avx2|avx512)\.dir", str(path))
    return match.group(1) if match else "baseline"


def inline_functions(path):
    """Of which the linker keeps one copy."""
    return re.findall(r" [WVu] (.*)", release.run("nm", "--demangle", path))


x86_64 = pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64", reason="about x86-64")


@x86_64
def test_code_for_every_processor_uses_sse2_alone(wheel, source):
    later, newer = set(), set()
    for path in objects(source):
        listing = release.run("objdump", "--disassemble", "--no-show-raw-insn", path)
        used = set(re.findall(r"^\s*[0-9a-f]+:\s+(?:lock |rep[nz]* )?(\w+)", listing, re.MULTILINE))
        found = {(path.name, name) for name in used if name.startswith("v") or LATER.fullmatch(name)}
        if is_for(path) == "baseline":
            later |= found
        else:
            newer |= found
    assert newer  # they are found where they are
    assert later == set()


@x86_64
@pytest.mark.parametrize("instruction_set", ["avx2", "avx512"])
def test_the_kernels_of_newer_processors_keep_to_themselves(wheel, source, instruction_set):
    """The linker keeps one copy of an inline function: it must not take one with instructions that others lack."""
    ours = [path for path in objects(source) if is_for(path) == instruction_set]
    assert len(ours) > 5
    for path in ours:
        assert [name for name in inline_functions(path) if f"::{instruction_set}::" not in name] == [], path.name
    others = [path for path in objects(source) if is_for(path) == "baseline"]
    assert any(inline_functions(path) for path in others)  # they are found where they are
