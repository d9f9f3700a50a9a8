# /// script
# dependencies = ["lief==1.0.0"]
# ///
"""Looks into finished wheels, for Linux and for macOS: contents, size, what they load, what they show.

    python examine.py WHEEL...          or, with lief fetched for it:  pipx run examine.py WHEEL...

Ends with 1 and a line for each thing that is wrong.
"""

import re
import sys
import tempfile
import zipfile
from pathlib import Path

import lief

LARGEST = 25_000_000
# What every Linux and every macOS has; manylinux's own list is longer.
LINUX_LIBRARIES = re.compile(r"(libc|libm|libpthread|libstdc\+\+|libgcc_s|libc\.musl-\w+|ld-linux[-\w]*)\.so(\.\d+)?")
MACOS_LIBRARIES = re.compile(r"/usr/lib/lib(System\.B|c\+\+\.1|objc\.A)\.dylib|/System/Library/Frameworks/.*")
CORE = "libmpsgraph_native_core"
OWN_NAMESPACE = "15mpsgraph_native"
# No other threads than our own, no interpreter that is linked in, no code of a sanitizer.
FORBIDDEN = re.compile(r"_?(GOMP_|omp_|kmpc_|tbb_|Py_Main|__asan|__tsan|__ubsan|mkl_|cblas_.*_64)")
SOURCES = {".pyx", ".cpp", ".hpp", ".mm", ".txt", ".o", ".a"}


def contents(archive):
    """What is wrong with the list of files."""
    names = archive.namelist()
    if not any(name == "mpsgraph_native/py.typed" for name in names):
        yield "py.typed is missing"
    if not any(name.startswith(f"mpsgraph_native/_core/{CORE}") for name in names):
        yield f"{CORE} is missing"
    modules = {Path(name).name.split(".")[0] for name in names if name.endswith(".so")} - {CORE}
    stubs = {Path(name).stem for name in names if name.startswith("mpsgraph_native/_core/") and name.endswith(".pyi")}
    if modules - stubs:
        yield f"extension modules without a stub: {sorted(modules - stubs)}"
    for name in names:
        top = name.split("/")[0]
        if top != "mpsgraph_native" and not top.endswith(".dist-info"):
            yield f"{name} lies outside of the package"
        if Path(name).suffix in SOURCES and ".dist-info" not in top:
            yield f"{name} is no file of an installed package"


def binaries(directory):
    return sorted((directory / "mpsgraph_native/_core").glob("*.so")) + sorted(
        (directory / "mpsgraph_native/_core").glob("*.dylib")
    )


def exports(path, exported):
    if path.name.startswith(CORE):
        return [name for name in exported if OWN_NAMESPACE not in name]
    initializer = f"PyInit_{path.name.split('.')[0]}"
    return [name for name in exported if name.removeprefix("_") != initializer]


def elf(path):
    binary = lief.ELF.parse(path)
    libraries = [name for name in binary.libraries if not name.startswith(CORE)]
    if strange := [name for name in libraries if not LINUX_LIBRARIES.fullmatch(name)]:
        yield f"loads {strange}"
    tags = lief.ELF.DynamicEntry.TAG
    paths = [entry for entry in binary.dynamic_entries if entry.tag in (tags.RPATH, tags.RUNPATH)]
    places = [getattr(entry, "runpath", None) or getattr(entry, "rpath", "") for entry in paths]
    if strange := [place for place in places if place not in ("", "$ORIGIN")]:
        yield f"looks for libraries in {strange}"
    if strange := exports(path, {symbol.name for symbol in binary.exported_symbols}):
        yield f"shows {sorted(strange)[:5]}"
    if strange := [symbol.name for symbol in binary.symbols if FORBIDDEN.match(symbol.name)]:
        yield f"uses {sorted(set(strange))[:5]}"
    segments = {segment.type.name: segment for segment in binary.segments}
    if "GNU_STACK" not in segments or segments["GNU_STACK"].has(lief.ELF.Segment.FLAGS.X):
        yield "asks for an executable stack"
    if "GNU_RELRO" not in segments:
        yield "has no read-only relocations"


def mach_o(path, oldest):
    fat = lief.MachO.parse(path)
    for binary in (fat.at(k) for k in range(fat.size)):
        kind = lief.MachO.LoadCommand.TYPE
        libraries = [library.name for library in binary.libraries if library.command != kind.ID_DYLIB]
        if strange := [name for name in libraries if CORE not in name and not MACOS_LIBRARIES.fullmatch(name)]:
            yield f"loads {strange}"
        if strange := [rpath.path for rpath in binary.rpaths if rpath.path != "@loader_path"]:
            yield f"looks for libraries in {strange}"
        version = tuple(binary.build_version.minos[:2])
        if version > oldest:
            yield f"needs macOS {version}, the wheel's name says {oldest}"
        if strange := exports(path, {symbol.name for symbol in binary.exported_symbols}):
            yield f"shows {sorted(strange)[:5]}"
        if strange := [symbol.name for symbol in binary.symbols if FORBIDDEN.match(symbol.name)]:
            yield f"uses {sorted(set(strange))[:5]}"


def faults(wheel):
    """Everything that is wrong with one wheel, as text."""
    tag = wheel.stem.split("-")[-1]
    if wheel.stat().st_size > LARGEST:
        yield f"{wheel.stat().st_size} bytes, at most {LARGEST} are wanted"
    if not re.match(r"(manylinux_2_|musllinux_1_|macosx_)", tag):
        yield f"the tag {tag} is no platform that an index takes"
    if not zipfile.is_zipfile(wheel):
        yield "is no wheel: it cannot be read as a zip file"
        return
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as directory:
        yield from contents(archive)
        archive.extractall(directory)
        found = binaries(Path(directory))
        if len(found) < 2:
            yield "holds no binaries"
        for path in found:
            if tag.startswith("macosx_"):
                major, minor = re.match(r"macosx_(\d+)_(\d+)_", tag).groups()
                problems = mach_o(path, (int(major), int(minor)))
            else:
                problems = elf(path)
            yield from (f"{path.name} {problem}" for problem in problems)


def main(wheels):
    if not wheels:
        print(__doc__)
        return 2
    failed = False
    for wheel in map(Path, wheels):
        found = list(faults(wheel))
        failed |= bool(found)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB, {len(found)} fault(s)")
        for fault in found:
            print(f"  {fault}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
