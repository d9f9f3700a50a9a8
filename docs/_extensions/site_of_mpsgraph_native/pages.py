"""Pages of the repository on the site, links that lead out of docs/, and names in prose as links to the reference."""

import os
import re
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

import mpsgraph_native

DOCS = Path(__file__).parents[2]
ROOT = DOCS.parent
# Pages that only say where a file of the repository lies; the site shows the file. One that is absent leaves the page.
SHOWN = {"benchmarks": "benchmarks/README.md", "changelog": "CHANGELOG.md", "contributing": "CONTRIBUTING.md"}
_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)]*)?\)")


def _page_of(path):
    """The page that shows this file, or None."""
    if path.suffix == ".md" and path.is_relative_to(DOCS):
        return path
    return next((DOCS / f"{page}.md" for page, shown in SHOWN.items() if path == ROOT / shown), None)


def rebased(text, source, page):
    """Markdown of `source` with its relative links as they have to be on `page`; those without a page are text."""

    def link(match):
        target = Path(os.path.normpath(source.parent / match[2]))
        shown = _page_of(target)
        return match[1] if shown is None else f"[{match[1]}]({os.path.relpath(shown, page.parent)}{match[3] or ''})"

    return _LINK.sub(link, text)


def folded(text):
    """Long runs of notes about rows that a peer is left out of, behind a line that opens them."""

    def fold(match):
        count = match[0].count("\n")
        return f"<details><summary>{count} notes on peers that were left out</summary>\n\n{match[0]}\n</details>\n"

    return re.sub(r"(?:^\* .*: left out\n){10,}", fold, text, flags=re.MULTILINE)


def _read(app, docname, content):
    page = DOCS / f"{docname}.md"
    source = ROOT / SHOWN[docname] if docname in SHOWN and (ROOT / SHOWN[docname]).exists() else page
    content[0] = folded(rebased(source.read_text() if source != page else content[0], source, page))


def _target_of(text):
    """The object of the package that this literal names, or None."""
    name = text.removeprefix("mg.").removeprefix("mpsgraph_native.").split("(")[0]
    first, _, rest = name.partition(".")
    if not re.fullmatch(r"\w+(\.\w+)?", name) or first not in mpsgraph_native.__all__:
        return None
    if rest:
        return f"mpsgraph_native.{name}" if hasattr(getattr(mpsgraph_native, first), rest) else None
    # Words such as `slice` and `mean` are arguments and plain English too.
    return f"mpsgraph_native.{name}" if "_" in name or name[0].isupper() or text != name else None


def _link_names(app, doctree):
    for literal in list(doctree.findall(nodes.literal)):
        target = _target_of(literal.astext())
        if target is None or any(isinstance(above, (nodes.reference, nodes.title, addnodes.pending_xref))
                                 for above in _ancestors(literal)):  # fmt: skip
            continue
        link = addnodes.pending_xref(
            "", refdomain="py", reftype="obj", reftarget=target, refexplicit=True, refwarn=False,
            refdoc=app.env.current_document.docname)  # fmt: skip
        literal.replace_self(link)
        link += literal


def _ancestors(node):
    while (node := node.parent) is not None:
        yield node


def setup(app):
    app.connect("source-read", _read)
    app.connect("doctree-read", _link_names)
