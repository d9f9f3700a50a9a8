"""Builds the wheel for macOS on Linux through the ordinary build backend; only the toolchain is another.

zig's clang compiles, LLVM's linker links, and a kit made here stands for what a Mac has: an SDK of text stubs, a compiler
command, and the headers of numpy's own macOS wheel. CPython's headers are this machine's: pymacconfig.h takes the sizes
from the compiler on a Mac as well, and the compiler command has pyconfig.h's one macro that matters beside them.
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import tomllib
import zipfile
from pathlib import Path

from metal import commands, text_stubs, zig

# Architecture for Apple, and for zig.
ARCHITECTURES = {"arm64": "aarch64", "x86_64": "x86_64"}
LINKER = "ld64.lld-19"
DRIVER = "clang++-19"
LIBCXX, LIBSYSTEM = "/usr/lib/libc++.1.dylib", "/usr/lib/libSystem.B.dylib"

COMPILER = """#!/bin/sh
# Compiles with zig, links with LLVM's linker.
for argument in "$@"; do
  case $argument in
  -c | -E) exec {zig} c++ {target} {compile_options} "$@" ;;
  *.cpp | *.mm) echo "$0 compiles and links in two steps" >&2; exit 1 ;;
  esac
done
exec {driver} --target={architecture}-apple-macos{macos} -fuse-ld=lld -isysroot {sdk} "$@" {runtime}
"""

COMPILE_OPTIONS = [
    # As Apple's libc++ does, refuses what the oldest macOS lacks.
    *zig.LIBCXX_OPTIONS,
    # Apple's pyconfig.h has it; this machine's asks for POSIX alone.
    "-D_DARWIN_C_SOURCE",
    "-Wunguarded-availability-new",
    # zig adds debugging information unasked, with the names of this machine's folders.
    "-g0",
    f"-isystem{zig.DECLARATIONS}",
]

# What the compiler's own library does, as libclang_rt.osx.a has it on a Mac.
COMPILER_RUNTIME = """
#include <stdbool.h>
#include <stdint.h>
struct version { uint32_t platform, number; };
bool _availability_version_check(uint32_t count, struct version versions[]);
__attribute__((visibility("hidden")))
int32_t __isPlatformVersionAtLeast(uint32_t platform, uint32_t major, uint32_t minor, uint32_t subminor) {
  struct version wanted = {platform, major << 16 | minor << 8 | subminor};
  return _availability_version_check(1, &wanted);
}
"""


def missing():
    """What this machine lacks for it; empty if nothing."""
    absent = [name for name in (LINKER, DRIVER) if not shutil.which(name)]
    if zig.executable() is None:
        absent.append("zig (pip install ziglang==0.17.1)")
    if importlib.util.find_spec("lief") is None:
        absent.append("lief (pip install lief==1.0.0)")
    return absent


def run(*command, **environment):
    commands.run(*command, cwd=zig.ROOT, env=os.environ | environment)


def archive_symbols(path):
    """What a static library defines, from the table with which it begins."""
    data = path.read_bytes()
    assert data[:8] == b"!<arch>\n" and data[68:77] == b"__.SYMDEF", f"{path} has no table of symbols"
    table = 68 + int(data[11:24])
    names = table + 8 + int.from_bytes(data[table : table + 4], "little")
    size = int.from_bytes(data[names - 4 : names], "little")
    return {name.decode() for name in data[names : names + size].split(b"\0") if name}


def libcxx_symbols(architecture, directory):
    """What libc++ exports: zig builds it from LLVM's sources. The headers' own marks say what the oldest macOS lacks."""
    source = directory / "probe.cpp"
    source.write_text("")
    command = ["-v", "-shared", source, "-o", directory / "probe.dylib"]
    line = zig.run(*zig.target(ARCHITECTURES[architecture]), *command).stderr.splitlines()[-1]
    archives = [Path(word) for word in line.split() if word.endswith(("libc++.a", "libc++abi.a"))]
    assert len(archives) == 2, f"zig's link command should name libc++.a and libc++abi.a: {line}"
    return sorted(set.union(*map(archive_symbols, archives)))


def plain_targets(match):
    """arm64 for arm64e, which alone is what zig's stub of libSystem names; without what LLVM's linker does not know."""
    targets = [target.strip().replace("arm64e-", "arm64-") for target in match.group(1).split(",")]
    return f" [ {', '.join(target for target in targets if '.x1' not in target)} ]"


def write_sdk(directory, architecture):
    text_stubs.write(directory)
    libraries = directory / "usr/lib"
    system = (zig.executable().parent / "lib/libc/darwin/libSystem.tbd").read_text()
    (libraries / "libSystem.tbd").write_text(re.sub(r"(?<=targets:)\s*\[([^]]*)\]", plain_targets, system))
    symbols = libcxx_symbols(architecture, directory)
    (libraries / "libc++.tbd").write_text(text_stubs.Library("", LIBCXX, symbols=symbols).text())


def write_kit(kit, architecture):
    sdk = kit / "sdk"
    write_sdk(sdk, architecture)
    target = zig.target(ARCHITECTURES[architecture])
    runtime = kit / "libclang_rt.osx.a"
    source = kit / "compiler_runtime.c"
    source.write_text(COMPILER_RUNTIME)
    run(zig.executable(), "cc", *target, "-O2", "-g0", "-c", source, "-o", source.with_suffix(".o"))
    run(zig.executable(), "ar", "rcs", runtime, source.with_suffix(".o"))
    compiler = kit / "bin/c++"
    compiler.parent.mkdir(exist_ok=True)
    compiler.write_text(
        COMPILER.format(
            zig=zig.executable(),
            target=" ".join(target),
            compile_options=" ".join(COMPILE_OPTIONS),
            driver=shutil.which(DRIVER),
            architecture=architecture,
            macos=zig.OLDEST_MACOS,
            sdk=sdk,
            runtime=runtime,
        )
    )
    compiler.chmod(0o755)
    download_numpy_headers(kit, architecture)


def build_environment(directory):
    """An interpreter with what the build needs: pip's own isolation would install it for macOS."""
    run(sys.executable, "-m", "venv", directory)
    python = directory / "bin/python"
    project = tomllib.loads((zig.ROOT / "pyproject.toml").read_text())
    run(python, "-m", "pip", "install", "cmake", "ninja", *project["build-system"]["requires"])
    return python


def numpy_headers(kit):
    return kit / "numpy/_core/include"


def download_numpy_headers(kit, architecture):
    platform = {"arm64": "macosx_11_0_arm64", "x86_64": "macosx_10_13_x86_64"}[architecture]
    version = importlib.metadata.version("numpy")
    options = ["--no-deps", "--only-binary=:all:", "--platform", platform, "--dest", kit]
    run(sys.executable, "-m", "pip", "download", *options, f"numpy=={version}")
    (wheel,) = kit.glob("numpy-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(kit, [name for name in archive.namelist() if name.startswith("numpy/_core/include/")])


def build(directory, architecture="arm64"):
    """Builds the wheel; gives its path."""
    kit = directory / "kit"
    kit.mkdir()
    write_kit(kit, architecture)
    defines = {
        "CMAKE_TOOLCHAIN_FILE": zig.ROOT / "cmake/macos_from_linux.cmake",
        "MPSGRAPH_NATIVE_CROSS_KIT": kit,
        "MPSGRAPH_NATIVE_CROSS_ARCHITECTURE": architecture,
        "MPSGRAPH_NATIVE_WERROR": "ON",
        # It is examined, never run: a better optimization would show nothing.
        "CMAKE_CXX_FLAGS_RELEASE": "-O1 -DNDEBUG",
        "CMAKE_OBJCXX_FLAGS_RELEASE": "-O1 -DNDEBUG",
        "MPSGRAPH_NATIVE_KERNEL_OPTIMIZATION": "-O1",
        "Python_NumPy_INCLUDE_DIR": numpy_headers(kit),
    }
    platform = f"macosx-{zig.OLDEST_MACOS}-{architecture}"
    suffix = f".cpython-{sys.version_info.major}{sys.version_info.minor}-darwin.so"
    run(
        *(build_environment(kit / "venv"), "-m", "pip", "wheel", "."),
        *("--no-deps", "--no-build-isolation", "--wheel-dir", directory),
        *("-C", f"build-dir={directory / 'build'}", "-C", "install.strip=false", "-C", "logging.level=INFO"),
        *(argument for name, value in defines.items() for argument in ("-C", f"cmake.define.{name}={value}")),
        _PYTHON_HOST_PLATFORM=platform,
        SETUPTOOLS_EXT_SUFFIX=suffix,
    )
    (wheel,) = directory.glob("*.whl")
    return wheel


if __name__ == "__main__":
    print(build(Path(sys.argv[1]).resolve(), *sys.argv[2:]))
