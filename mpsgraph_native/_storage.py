"""`mpsgraph-native cache`: the executables that the mps engine keeps on disk."""

import collections
import datetime
import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import Any

import mpsgraph_native as mg
from mpsgraph_native._core.cache import clear_stored_executables, stored_executables

__all__ = ["clear", "show"]

_nowhere = (
    "mps keeps no executables on disk here: MPSGRAPH_NATIVE_CACHE is 0, or MPSGRAPH_NATIVE_CACHE_DIR is not set where "
    "there is no ~/Library/Caches"
)


def _engine() -> str:
    """Why no engine of this machine writes there; empty when one does."""
    return next(device for device in mg.devices() if device.name == "mps").reason


def _counted(kinds: Iterable[str]) -> str:
    return ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in collections.Counter(kinds).items())


def _lines(document: dict[str, Any]) -> Iterator[str]:
    directory, entries = document["directory"], document["entries"]
    if directory is None:
        yield _nowhere
        return
    yield f"{directory}: {len(entries)} executables, {document['bytes']} bytes; at most {document['limit_bytes']} bytes"
    if document["engine"]:
        yield f"mps, which keeps them, is not available: {document['engine']}"
    for entry in entries:
        contents = "damaged" if entry["operations"] is None else _counted(entry["operations"])
        yield f"  {entry['key']}  {entry['bytes']:>12} bytes  last used {entry['last_used']}  {contents}"


def _print(arguments: Namespace, document: dict[str, Any], lines: Iterable[str]) -> int:
    if arguments.json:
        json.dump(document, sys.stdout, indent=2)
        print()
    else:
        print("\n".join(lines))
    return 0


def _failed(error: OSError) -> int:
    print(f"mpsgraph-native cache: {error}", file=sys.stderr)
    return 1


def show(arguments: Namespace) -> int:
    """0 when everything there was listed, 1 when it cannot be read."""
    try:
        stored = stored_executables()
    except OSError as error:
        return _failed(error)
    entries = [
        {
            **entry._asdict(),
            "last_used": datetime.datetime.fromtimestamp(entry.last_used, datetime.UTC).isoformat(timespec="seconds"),
        }
        for entry in stored
    ]
    document = {
        "directory": mg.compiled_storage(),
        "limit_bytes": mg.compiled_storage_limit(),
        "bytes": sum(entry.bytes for entry in stored),
        "engine": _engine(),
        "entries": entries,
    }
    return _print(arguments, document, _lines(document))


def clear(arguments: Namespace) -> int:
    """0 when nothing is left there, 1 when something cannot be removed."""
    try:
        removed = clear_stored_executables()
    except OSError as error:
        return _failed(error)
    directory = mg.compiled_storage()
    document = {"directory": directory, "removed": removed}
    return _print(
        arguments, document, [_nowhere if directory is None else f"{directory}: {removed} executables removed"]
    )
