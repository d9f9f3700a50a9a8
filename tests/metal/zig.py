"""Compiles and links for macOS on any machine, with zig's clang and the hand-written declarations."""

import atexit
import functools
import importlib.util
import os
import re
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from metal import commands

ROOT = Path(__file__).parents[2]
NATIVE = ROOT / "native"
METAL = NATIVE / "metal"
DECLARATIONS = ROOT / "tests" / "metal" / "declarations"

ARCHITECTURES = ("aarch64", "x86_64")
OLDEST_MACOS = "13.0"
MISSING = "needs zig as a cross compiler: pip install ziglang==0.17.1"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wunguarded-availability-new"]
# zig takes its own libc++ along; a Mac has its system's, whose headers refuse what the oldest macOS lacks.
LIBCXX_OPTIONS = [
    "-U_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS",
    "-D_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=1",
    "-U_LIBCPP_DISABLE_VISIBILITY_ANNOTATIONS",
    "-U_LIBCXXABI_DISABLE_VISIBILITY_ANNOTATIONS",
]
OBJCXX = ["-x", "objective-c++", "-fobjc-arc", "-fblocks", "-fexceptions", "-fobjc-exceptions"]


def executable():
    """Where zig lives; None without it."""
    found = importlib.util.find_spec("ziglang")
    return Path(found.origin).parent / "zig" if found else None


def target(architecture):
    return ["-target", f"{architecture}-macos.{OLDEST_MACOS}"]


def run(*arguments):
    """Runs zig's clang; the error holds what it printed."""
    return commands.run(executable(), "c++", *arguments)


def compile_object(source, output, architecture):
    language = OBJCXX if source.suffix == ".mm" else []
    run(
        *target(architecture),
        *language,
        *LIBCXX_OPTIONS,
        "-std=c++20",
        "-fvisibility=hidden",
        "-O0",  # what optimization adds is no question of this rung
        *("-g0", "-fno-sanitize=undefined"),  # which zig adds unasked
        *WARNINGS,
        f"-isystem{DECLARATIONS}",
        f"-I{NATIVE}",
        "-c",
        source,
        "-o",
        output,
    )
    return output


def cmake_list(name):
    """The files of one list in native/CMakeLists.txt."""
    text = (NATIVE / "CMakeLists.txt").read_text()
    return re.search(rf"set\({name}\s+([^)]*)\)", text).group(1).split()


def metal_sources():
    """Every source of the Metal engine, as the build has them."""
    names = [*cmake_list("portable_metal_sources"), *cmake_list("metal_sources")]
    return [METAL / name for name in [*names, *(f"{family}.mm" for family in cmake_list("families"))]]


@functools.cache
def scratch_directory():
    directory = Path(tempfile.mkdtemp(prefix="mpsgraph_native_zig_"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return directory


@functools.cache
def attempts(architecture):
    """Each source of the Metal engine with its object, or with the error that it met."""

    def attempt(source):
        output = scratch_directory() / f"{source.name}.{architecture}.o"
        try:
            return source.name, compile_object(source, output, architecture)
        except AssertionError as error:
            return source.name, error

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(attempt, metal_sources()))


def compiled(source, architecture):
    """The source's object. All sources are compiled together, once a session."""
    result = attempts(architecture)[source.name]
    if isinstance(result, AssertionError):
        raise result
    return result


def metal_objects(architecture):
    return [compiled(source, architecture) for source in metal_sources()]
