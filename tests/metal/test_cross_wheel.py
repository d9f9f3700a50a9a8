"""The wheel for macOS, built on Linux by the ordinary build: what is in it, what it asks of a Mac, what it leaves out."""

import ctypes
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from metal import cross_build, mach_o, text_stubs, zig
from wheels import release

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(cross_build.missing()), reason=f"needs {', '.join(cross_build.missing())}"),
]

PACKAGE = zig.ROOT / "mpsgraph_native"
CORE = "libmpsgraph_native_core.dylib"
SUFFIX = f".cpython-{sys.version_info.major}{sys.version_info.minor}-darwin.so"
TOPICS = sorted(path.stem for path in (PACKAGE / "_core").glob("*.pyx"))
METAL = {text_stubs.framework(name).install_name for name in text_stubs.METAL}
SYSTEM = {library.install_name for library in text_stubs.libraries()} | {cross_build.LIBCXX, cross_build.LIBSYSTEM}
# Newer than the oldest macOS, or kept out by the engine's own rules.
UNWANTED = ("$NEWLAPACK", "__libcpp_verbose_abort", "_dispatch_", "_NSLog")


@pytest.fixture(scope="module", params=os.environ.get("CROSS_ARCHITECTURES", "arm64").split())
def built(request, tmp_path_factory):
    directory = tmp_path_factory.mktemp("cross_wheel")
    return request.param, directory, cross_build.build(directory, request.param)


@pytest.fixture(scope="module")
def architecture(built):
    return built[0]


@pytest.fixture(scope="module")
def wheel(built):
    return built[2]


@pytest.fixture(scope="module")
def unpacked(wheel, tmp_path_factory):
    directory = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(directory)
    return directory


@pytest.fixture(scope="module")
def core(unpacked):
    return mach_o.read(unpacked / "mpsgraph_native/_core" / CORE)


@pytest.fixture(scope="module")
def modules(unpacked):
    return {topic: mach_o.read(unpacked / f"mpsgraph_native/_core/{topic}{SUFFIX}") for topic in TOPICS}


def test_the_name_says_python_macos_and_architecture(wheel, unpacked, architecture):
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    assert wheel.name.endswith(f"-{tag}-{tag}-macosx_13_0_{architecture}.whl")
    (metadata,) = unpacked.glob("*.dist-info/WHEEL")
    assert f"Tag: {tag}-{tag}-macosx_13_0_{architecture}\n" in metadata.read_text()


def test_holds_the_package_and_nothing_else(unpacked):
    sources = set(map(Path, release.package_files()))
    binaries = {Path("mpsgraph_native/_core", name) for name in (CORE, *(f"{topic}{SUFFIX}" for topic in TOPICS))}
    files = {path.relative_to(unpacked) for path in unpacked.rglob("*") if path.is_file()}
    assert {path for path in files if ".dist-info" not in path.parts[0]} == sources | binaries


def test_every_binary_is_for_this_architecture_and_the_oldest_macos(core, modules, architecture):
    for file in (core, *modules.values()):
        assert (file.architecture, file.oldest_macos) == (architecture.upper(), (13, 0))
        # Apple's processors run signed code alone; the linker's own signature is enough.
        assert file.signed or architecture != "arm64"
    assert core.kind == "DYLIB"
    assert {file.kind for file in modules.values()} == {"BUNDLE"}


def test_the_core_loads_the_frameworks_of_the_system(core):
    assert core.identity == f"@rpath/{CORE}"
    assert core.libraries.keys() == SYSTEM
    # A Mac without them still gets the cpu engine.
    assert {name for name, optional in core.libraries.items() if optional} == METAL
    assert core.rpaths == []


def test_the_modules_load_the_core_beside_them(modules):
    for topic, file in modules.items():
        assert f"@rpath/{CORE}" in file.libraries or topic == "errors", topic
        assert file.libraries.keys() <= {f"@rpath/{CORE}", cross_build.LIBCXX, cross_build.LIBSYSTEM}, topic
        assert file.rpaths == ["@loader_path"], topic


def test_everything_that_the_core_needs_has_a_library(core):
    binder = {"dyld_stub_binder"}
    assert {name for name, library in core.undefined.items() if library is None} <= binder
    homes = {f"_OBJC_CLASS_$_{name}": stub.install_name for stub in text_stubs.libraries() for name in stub.classes}
    classes = {name: library for name, library in core.undefined.items() if name.startswith("_OBJC_CLASS_$_")}
    assert {"_OBJC_CLASS_$_MPSGraph", "_OBJC_CLASS_$_MPSNDArray", "_OBJC_CLASS_$_NSData"} <= classes.keys()
    assert classes == {name: homes[name] for name in classes}


def test_the_modules_need_python_and_the_core_alone(core, modules):
    needed = set()
    for topic, file in modules.items():
        python = {name.removeprefix("_") for name, library in file.undefined.items() if library is None}
        python.discard("dyld_stub_binder")
        assert {name for name in python if not hasattr(ctypes.pythonapi, name)} == set(), topic
        assert all(name.startswith(("Py", "_Py")) for name in python), topic
        needed |= {name for name, library in file.undefined.items() if library == f"@rpath/{CORE}"}
    assert needed
    assert needed <= core.exported


def test_the_modules_show_their_initializer_alone(modules):
    for topic, file in modules.items():
        assert file.exported == {f"_PyInit_{topic}"}


def test_the_core_shows_its_own_names_alone(core):
    assert {name for name in core.exported if "15mpsgraph_native" not in name} == set()


def test_nothing_unwanted_is_used(core, modules):
    for file in (core, *modules.values()):
        assert [name for name in file.undefined if any(part in name for part in UNWANTED)] == []


def test_no_binary_knows_where_it_was_built(built, unpacked):
    places = [str(built[1]), str(zig.ROOT), str(zig.executable().parent)]
    for path in (unpacked / "mpsgraph_native/_core").glob("*.[ds]*[ob]"):
        text = path.read_bytes()
        assert [place for place in places if place.encode() in text] == [], path.name


# What the headers of this machine's CPython say of the target, where pyconfig.h is this machine's own.
PYTHON_SIZES = """
#include <Python.h>
#include <sys/types.h>
static_assert(SIZEOF_INT == sizeof(int) && SIZEOF_LONG == sizeof(long) && SIZEOF_LONG_LONG == sizeof(long long));
static_assert(SIZEOF_VOID_P == sizeof(void*) && SIZEOF_SIZE_T == sizeof(size_t) && SIZEOF_WCHAR_T == sizeof(wchar_t));
static_assert(SIZEOF_PID_T == sizeof(pid_t) && SIZEOF_TIME_T == sizeof(time_t) && SIZEOF__BOOL == sizeof(bool));
static_assert(SIZEOF_UINTPTR_T == sizeof(uintptr_t) && SIZEOF_PTHREAD_T == sizeof(pthread_t));
static_assert(__DARWIN_C_LEVEL == __DARWIN_C_FULL);
#ifdef WORDS_BIGENDIAN
#error big endian
#endif
"""


def compiler(built, *arguments):
    command = [built[1] / "kit/bin/c++", "-std=c++20", "-O1", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def test_pythons_headers_fit_the_target(built, tmp_path):
    source = tmp_path / "sizes.cpp"
    source.write_text(PYTHON_SIZES)
    done = compiler(built, f"-I{sysconfig.get_path('include')}", "-c", source, "-o", tmp_path / "sizes.o")
    assert done.returncode == 0, done.stderr


def test_a_name_that_no_library_has_does_not_link(built, tmp_path):
    source = tmp_path / "fault.cpp"
    source.write_text("#include <string>\nvoid no_such_function(std::string);\nvoid f() { no_such_function({}); }\n")
    assert compiler(built, "-c", source, "-o", tmp_path / "fault.o").returncode == 0
    done = compiler(built, "-dynamiclib", tmp_path / "fault.o", "-o", tmp_path / "fault.dylib")
    assert done.returncode != 0
    assert "undefined symbol: no_such_function" in done.stderr
    assert done.stderr.count("undefined symbol") == 1
