"""Reads of a 64-bit Mach-O library which symbols it lacks and where it expects them."""

import struct

MAGIC = 0xFEEDFACF
LOAD_DYLIB, LOAD_WEAK_DYLIB, REEXPORT_DYLIB, SYMTAB = 0xC, 0x80000018, 0x8000001F, 0x2
STAB, TYPE, UNDEFINED = 0xE0, 0x0E, 0x00
# Library ordinals of symbols without a library; zig writes the first where it should write the second.
SELF, DYNAMIC_LOOKUP = 0x00, 0xFE

CPU_TYPES = {"aarch64": 0x0100000C, "x86_64": 0x01000007}


def kind(path):
    """Magic number and CPU type."""
    return struct.unpack("<II", path.read_bytes()[:8])


def undefined_symbols(path):
    """Each undefined symbol's library; None where it would be looked up anywhere."""
    data = path.read_bytes()
    magic, _, _, _, count = struct.unpack_from("<IIIII", data)
    assert magic == MAGIC
    libraries, symbols, offset = [], (0, 0, 0), 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, offset)
        if command in (LOAD_DYLIB, LOAD_WEAK_DYLIB, REEXPORT_DYLIB):
            (name,) = struct.unpack_from("<I", data, offset + 8)
            libraries.append(data[offset + name : offset + size].split(b"\0")[0].decode())
        elif command == SYMTAB:
            symbols = struct.unpack_from("<IIII", data, offset + 8)[:3]
        offset += size
    table, number, strings = symbols
    found = {}
    for i in range(number):
        name, flags, _, description, _ = struct.unpack_from("<IBBHQ", data, table + 16 * i)
        if flags & STAB or flags & TYPE != UNDEFINED:
            continue
        start = strings + name
        text = data[start : data.index(b"\0", start)].decode()
        ordinal = description >> 8
        found[text] = None if ordinal in (SELF, DYNAMIC_LOOKUP) else libraries[ordinal - 1]
    return found
