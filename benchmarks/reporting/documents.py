"""The JSON files that the programs write and read."""

import json
from pathlib import Path


def load(parser, path, version):
    """The document of an earlier run; ends the program when it has another format."""
    document = json.loads(Path(path).read_text())
    if document.get("format") != version:
        parser.error(f"--from: format {version} expected, got {document.get('format')}")
    return document


def save(document, path):
    Path(path).write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
