"""What the programs do alike: choosing rows, measuring or reading a document, writing it down, the exit status."""

import argparse
import sys

from measuring.machine import processors

from . import documents, markdown


def thread_count(word):
    """A number of threads from the command line: each has a processor of its own."""
    most = len(processors())
    if not word.isdecimal() or not 1 <= int(word) <= most:
        raise argparse.ArgumentTypeError(f"from 1 to the {most} processor(s) that this process may use, got {word!r}")
    return int(word)


def chosen(parser, rows, words):
    """The rows whose name holds one of the words, without words all; ends the program when there is none."""
    found = [row for row in rows if not words or any(word in row.name for word in words)]
    if not found:
        parser.error(f"--rows: no row's name holds one of {words}")
    return found


def document(parser, arguments, version, measure):
    """What an earlier run stored, or else what `measure()` gives."""
    return documents.load(parser, arguments.source, version) if arguments.source else measure()


def deliver(document, arguments, sections, plot=None):
    """Writes the document to the files that were asked for. `sections`: by heading what makes its lines."""
    if arguments.json:
        documents.save(document, arguments.json)
    if arguments.markdown:
        for heading, lines in sections.items():
            markdown.write_section(arguments.markdown, heading, lines(document))
    if plot is not None and arguments.plot:
        plot(document, arguments.plot)


def status(rows):
    """1, and a line for the user, where peers gave other results; else 0."""
    wrong = [row["name"] for row in rows if row["wrong"]]
    if wrong:
        print(f"results differ in {len(wrong)} row(s): {', '.join(wrong)}", file=sys.stderr)
    return 1 if wrong else 0
