"""Docstrings as reST.

They are written to be read by help(): names in single backticks, formulas as indented lines after a colon, and a last
paragraph that names MPSGraph's selectors. Sections (Args, Returns, Raises) are napoleon's.
"""

import inspect
import re
from importlib import import_module

_SECTIONS = ("Args:", "Returns:", "Raises:", "Yields:", "Note:")
_SELECTOR = re.compile(r"(?:\w+:)+name:")
_LITERAL = re.compile(r"(``.+?``)")
_FIELD = re.compile(r"^    (\w+): .*?  # (.+)$", re.MULTILINE)
_NAMES = re.compile(r"`([^`]+)`")


def _indent(line):
    return len(line) - len(line.lstrip())


def _joined(lines):
    """The lines of a paragraph as one, with selectors that were broken behind a colon whole again."""
    text = lines[0]
    for line in lines[1:]:
        broken = re.search(r"\w:$", text) and not text.endswith("MPSGraph:")
        text += line.strip() if broken else f" {line.strip()}"
    return text


def _selectors_of(paragraph):
    found = []
    pending = []
    leading = paragraph.startswith("MPSGraph (macOS")  # the version stands before its selectors, else behind them
    version = None
    for match in re.finditer(rf"macOS (\d+\.\d+)|({_SELECTOR.pattern})", paragraph):
        if match[2] is not None:
            found.append([match[2], version])
            pending.append(found[-1])
        elif leading:
            version = match[1]
        else:
            for entry in pending:
                entry[1] = match[1]
            pending = []
    return [tuple(entry) for entry in found]


def selectors(documented):
    """(selector, macOS) for each of MPSGraph's methods that the docstring of `documented` names."""
    for paragraph in (inspect.getdoc(documented) or "").split("\n\n"):
        if paragraph.startswith("MPSGraph") and _SELECTOR.search(paragraph):
            return _selectors_of(_joined(paragraph.split("\n")))
    return []


def _prose(line):
    """A line of prose: names as literals, characters that mean something to reST escaped."""
    parts = _LITERAL.split(_NAMES.sub(r"``\1``", line) if "``" not in line else line)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"([*|])", r"\\\1", parts[index])
        parts[index] = re.sub(r"(?<=\w)_(?!\w)", r"\\_", parts[index])
    return "".join(parts)


def as_rest(lines):
    """The lines of a docstring as reST."""
    result = []
    position = 0
    while position < len(lines):
        line = lines[position]
        position += 1
        if line.startswith("MPSGraph") and _SELECTOR.search(_joined(lines[position - 1 :])):
            paragraph = [line]
            while position < len(lines) and lines[position].strip():
                paragraph.append(lines[position])
                position += 1
            named = [f"``{selector}`` (macOS {version})" for selector, version in _selectors_of(_joined(paragraph))]
            result.append(f":MPSGraph: {', '.join(named)}")
            continue
        following = next((rest for rest in lines[position:] if rest.strip()), "")
        begins = line.rstrip().endswith(":") and lines[position : position + 1] != [following]
        if begins and line.strip() not in _SECTIONS and _indent(following) > _indent(line):
            if line.strip() != "::":
                line = _prose(line.rstrip().rstrip(":")) + "::"
            result.append(line)
            while position < len(lines) and (not lines[position].strip() or _indent(lines[position]) > _indent(line)):
                result.append(lines[position].replace("`", ""))
                position += 1
            continue
        result.append(_prose(line))
    return result


def field_words(owner):
    """{field: its comment} of a named tuple that is written in Python."""
    try:
        source = inspect.getsource(owner)
    except (OSError, TypeError):
        return {}
    return {name: words for name, words in _FIELD.findall(source) if name in owner._fields}


_members = {}


def _process(app, what, name, documented, options, lines):
    owner_name, _, member = name.rpartition(".")
    if what in ("attribute", "property"):
        if lines and lines[0].startswith("Alias for field number"):
            owner = _object_named(owner_name)
            lines[:] = [field_words(owner).get(member, "")]
        _members[name] = lines[:] = as_rest(lines)
    else:
        lines[:] = as_rest(lines)


def _restore(app, what, name, documented, options, lines):
    """Napoleon takes what stands before a colon for a type."""
    if name in _members:
        lines[:] = _members.pop(name)


def _object_named(name):
    module, _, attribute = name.rpartition(".")
    return getattr(import_module(module), attribute)


def setup(app):
    app.connect("autodoc-process-docstring", _process, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", _restore, priority=600)
