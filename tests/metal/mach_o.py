"""What a 64-bit Mach-O file says of itself, read by lief."""

import importlib.util
from dataclasses import dataclass

MISSING = "needs lief to read Mach-O files: pip install lief==1.0.0"
APPLE_NAMES = {"aarch64": "ARM64", "x86_64": "X86_64"}


def available():
    return importlib.util.find_spec("lief") is not None


@dataclass
class File:
    architecture: str
    kind: str
    oldest_macos: tuple[int, int] | None  # None in an object that no linker has seen
    identity: str | None  # what others load it as
    libraries: dict[str, bool]  # each with whether it may be missing
    rpaths: list[str]
    undefined: dict[str, str | None]  # each symbol's library; None where it would be looked up anywhere
    exported: set[str]
    signed: bool


def read(path):
    import lief

    kind = lief.MachO.LoadCommand.TYPE
    # Everything below is a view into this.
    fat = lief.MachO.parse(path)
    assert fat is not None and fat.size == 1, f"{path} should be Mach-O for one architecture"
    binary = fat.at(0)
    libraries = [library for library in binary.libraries if library.command != kind.ID_DYLIB]
    identities = [library.name for library in binary.libraries if library.command == kind.ID_DYLIB]
    # lief names a symbol's library itself, but not in every file that zig's linker wrote.
    undefined = {
        symbol.name: libraries[ordinal - 1].name if 0 < (ordinal := symbol.library_ordinal) <= len(libraries) else None
        for symbol in binary.symbols
        if symbol.category == lief.MachO.Symbol.CATEGORY.UNDEFINED
    }
    version = binary.build_version
    return File(
        architecture=binary.header.cpu_type.name,
        kind=binary.header.file_type.name,
        oldest_macos=tuple(version.minos[:2]) if version and version.platform.name == "MACOS" else None,
        identity=identities[0] if identities else None,
        libraries={library.name: library.command == kind.LOAD_WEAK_DYLIB for library in libraries},
        rpaths=[rpath.path for rpath in binary.rpaths],
        undefined=undefined,
        exported={symbol.name for symbol in binary.exported_symbols},
        signed=binary.has_code_signature,
    )
