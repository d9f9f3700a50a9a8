"""What a call costs from Python to the kernel and back, stage by stage, beside torch's own call. See README.md."""

import argparse
import sys

from measuring import machine
from measuring.process import Settings, measured
from reporting import markdown, program, text
from rows import ConvolutionRow, PoolingRow, RecurrentRow

FORMAT = 1
# Every founding gradient on 8 x 8 inputs.
ROWS = [
    *(
        ConvolutionRow(kind, "NCHW", 1, 8, 8, 8, 3, 1, depthwise=depthwise)
        for depthwise in (False, True)
        for kind in ("data_gradient", "weights_gradient")
    ),
    PoolingRow(True, "NCHW", 1, 8, 8, 2, 2, 0),
    *(RecurrentRow(cell, True, 8, 1, 8, 8, 1, forward=False) for cell in ("gru", "lstm", "single_gate_rnn")),
]
STAGES = {
    "python": "Python", "arguments": "arguments", "look-up": "look-up", "places": "places", "lock": "lock",
    "engine": "engine", "results": "results",
}  # fmt: skip
HEADS = ["row", *STAGES.values(), "whole", "above empty", "without engine", "torch", "ratio"]


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.01, help="processor time of one stage in one round")
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help="rows whose name holds one of the words")
    parser.add_argument("--json", metavar="FILE", help="everything that was measured")
    parser.add_argument("--markdown", metavar="FILE", help="the table, written into its section of this file")
    parser.add_argument("--from", dest="source", metavar="FILE", help="measure nothing; take this --json file")
    return parser, parser.parse_args(arguments)


def measure(arguments, rows):
    place = machine.describe()
    print("\n".join(text.machine_lines(place)))
    settings = Settings(threads=1, rounds=arguments.rounds, seconds=arguments.seconds, peers=("torch",), limits=False)
    messages = measured(rows, settings, "measuring.stages")
    run = next(messages)[1] | {"rows": [row for _, row in messages]}
    return {"format": FORMAT, "machine": place, "settings": {"rounds": arguments.rounds}, "run": run}


def table_rows(document):
    """Nanoseconds by stage; the ratio is torch's whole call over this package's."""
    for row in document["run"]["rows"]:
        spent = row["nanoseconds"]
        torch, above_empty = spent["torch"], spent["whole"] - spent["empty"]
        yield [
            row["name"],
            *(f"{spent[name]:.0f}" for name in STAGES),
            f"{spent['whole']:.0f}",
            f"{above_empty:.0f}",
            f"{above_empty - spent['engine']:.0f}",
            "–" if torch is None else f"{torch:.0f}",
            "–" if torch is None else f"{torch / spent['whole']:.1f}",
        ]


def empty_call(document):
    spent = [row["nanoseconds"]["empty"] for row in document["run"]["rows"]]
    return sum(spent) / len(spent)


def print_table(document):
    for note in document["run"]["notes"]:
        print(f"note: {note}")
    print(f"nanoseconds; an empty call takes {empty_call(document):.0f}")
    print("\n".join(text.aligned([HEADS, *table_rows(document)])))


def section(document):
    yield from markdown.machine_lines(document["machine"])
    yield (
        f"Nanoseconds, medians of {document['settings']['rounds']} round(s), 1 thread. "
        f"An empty call takes {empty_call(document):.0f}."
    )
    yield ""
    yield from markdown.table(HEADS, list(table_rows(document)))


def main(arguments=None):
    parser, arguments = parse(arguments)
    document = program.document(
        parser, arguments, FORMAT, lambda: measure(arguments, program.chosen(parser, ROWS, arguments.rows))
    )
    print_table(document)
    program.deliver(document, arguments, {"call overhead": section})
    return program.status(document["run"]["rows"])


if __name__ == "__main__":
    sys.exit(main())
