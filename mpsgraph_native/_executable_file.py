"""The files of Executable.save: what is around the program's bytes, and how they reach the disk whole.

A file is a header of fixed size, then the program. All numbers are little-endian.

    8 bytes   magic
    uint32    format
    32 bytes  version of the package that wrote it, filled with zeros
    uint64    bytes of the program
    32 bytes  SHA-256 of everything before and of the program
"""

import contextlib
import hashlib
import os
import stat
import struct
from typing import TypeAlias

from mpsgraph_native.errors import CompileError, DTypeError, ShapeError

__all__ = ["read_body", "spelled", "write_body"]

Path: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]

_magic = b"\x89MPSGN\r\n"  # no text, and damaged by whoever takes it for text
_format = 1
_head = struct.Struct("<8sI32sQ")
_checksum_size = 32
_header_size = _head.size + _checksum_size


def _checked(path: Path, where: str) -> str | bytes:
    try:
        plain = os.fspath(path)
    except TypeError:
        raise DTypeError(f"{where}: path must be a string or a path, got {path!r}") from None
    if "\0" in os.fsdecode(plain):
        raise ShapeError(f"{where}: path must hold no null character, got {plain!r}")
    return plain


def spelled(path: Path) -> str:
    """The path as text."""
    return os.fsdecode(path)


def _checksum(head: bytes, body: bytes) -> bytes:
    digest = hashlib.sha256(head)
    digest.update(body)
    return digest.digest()


def write_body(path: Path, body: bytes) -> None:
    """Puts a file with this program at `path` in one step: a reader finds what was there before, or all of it."""
    import mpsgraph_native

    path = os.fsdecode(_checked(path, "save"))
    head = _head.pack(_magic, _format, mpsgraph_native.__version__.encode()[:32], len(body))
    beside = os.path.join(os.path.dirname(path), f".mpsgraph_native-{os.urandom(8).hex()}")
    try:
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(head)
                file.write(_checksum(head, body))
                file.write(body)
                file.flush()
                os.fsync(descriptor)
            os.replace(beside, path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(beside)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def read_body(path: Path) -> bytes:
    """The program of the file at `path`. CompileError where the file is not as `write_body` writes it."""
    path = os.fsdecode(_checked(path, "load"))

    def damaged(problem: str) -> CompileError:
        return CompileError(f"load: {path}: {problem}")

    # Not to be opened: that would wait for whoever writes to a pipe.
    if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
        raise damaged("it must be a regular file")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        header = file.read(_header_size)
        if not header:
            raise damaged("it is empty")
        if header[: len(_magic)] != _magic[: len(header)]:
            raise damaged("it is no executable that this package saved")
        if len(header) < _header_size:
            raise damaged(f"it is cut off: {len(header)} bytes, fewer than the header's {_header_size}")
        head, checksum = header[: _head.size], header[_head.size :]
        _, file_format, version, length = _head.unpack(head)
        if file_format != _format:
            writer = version.rstrip(b"\0").decode("ascii", "backslashreplace")
            raise damaged(
                f"it has format {file_format}, written by version {writer}; this version reads format {_format}"
            )
        if size != _header_size + length:
            raise damaged(f"it must have {_header_size + length} bytes, got {size}: it was cut off or written to")
        body = file.read(length)
    if len(body) != length or _checksum(head, body) != checksum:
        raise damaged("its checksum does not fit: it is damaged")
    return body
