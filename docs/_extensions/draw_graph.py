"""Draws docs/graph.svg, the graph of the Python blocks of docs/concepts.md, with Graphviz."""

import hashlib
import re
import subprocess
from pathlib import Path

DOCS = Path(__file__).parents[1]
PICTURE = DOCS / "graph.svg"


def dot_of_the_page():
    """What graph.to_dot() gives behind the page's first block."""
    namespace = {}
    block = re.search(r"^```python\n(.*?)^```", (DOCS / "concepts.md").read_text(), re.MULTILINE | re.DOTALL)[1]
    exec(compile(block, "concepts.md", "exec"), namespace)
    return namespace["graph"].to_dot()


def mark_of(dot):
    """By which the picture tells what it was drawn from."""
    return f"<!-- SHA-256 of the DOT: {hashlib.sha256(dot.encode()).hexdigest()} -->"


def main():
    dot = dot_of_the_page()
    drawn = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, text=True, check=True).stdout
    PICTURE.write_text(drawn + mark_of(dot) + "\n")


if __name__ == "__main__":
    main()
