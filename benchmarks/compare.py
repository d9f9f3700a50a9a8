"""This package beside torch, jax and MLX on one machine: medians of interleaved rounds. See README.md."""

import argparse
import dataclasses
import sys

from measuring import machine
from measuring.process import Settings, measured
from peers import NAMES
from reporting import figures, markdown, plots, program, text
from rows import all_rows

FORMAT = 1


def parse(arguments, prog=None):
    parser = argparse.ArgumentParser(prog=prog, description=__doc__)
    parser.add_argument(
        "--threads", type=program.thread_count, nargs="+", help="numbers of threads; 1 and 2, where there are 2"
    )
    parser.add_argument("--rounds", type=int, default=Settings.rounds)
    parser.add_argument("--seconds", type=float, default=Settings.seconds, help="least time of one round of fast rows")
    parser.add_argument(
        "--patience", type=float, default=Settings.patience, help="seconds that a peer's first call may take"
    )
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help="rows whose name holds one of the words")
    parser.add_argument("--peers", nargs="*", default=list(NAMES), choices=NAMES, metavar="PEER", help=", ".join(NAMES))
    parser.add_argument("--json", metavar="FILE", help="everything that was measured")
    parser.add_argument("--plot", metavar="FILE", help="the ratios as a picture (needs matplotlib)")
    parser.add_argument("--markdown", metavar="FILE", help="the tables, written into their sections of this file")
    parser.add_argument("--from", dest="source", metavar="FILE", help="measure nothing; take this --json file")
    return parser, parser.parse_args(arguments)


def run_with(threads, rows, settings):
    """One number of threads, printed while it is measured."""
    messages = measured(rows, dataclasses.replace(settings, threads=threads))
    run = next(messages)[1] | {"rows": []}
    print("\n".join(text.run_lines(run)), flush=True)
    for _, row in messages:
        row |= figures.derived(row)
        run["rows"].append(row)
        print(text.row_line(row), flush=True)
    run["geometric_means"] = figures.geometric_means(run["rows"])
    print("\n".join(text.mean_lines(run)), end="\n\n", flush=True)
    return run


def measure(arguments, rows):
    threads = arguments.threads or [count for count in (1, 2) if count <= len(machine.processors())]
    settings = Settings(
        threads=0, rounds=arguments.rounds, seconds=arguments.seconds, patience=arguments.patience,
        peers=tuple(arguments.peers),
    )  # fmt: skip
    place = machine.describe()
    print("\n".join(text.machine_lines(place)))
    print("ours writes into out=; torch, jax and MLX allocate their results, as their calls do\n")
    runs = [run_with(count, rows, settings) for count in threads]
    return {
        "format": FORMAT,
        "machine": place,
        "settings": {name: getattr(settings, name) for name in ("rounds", "seconds", "patience")},
        "runs": runs,
    }


def main(arguments=None, prog=None):
    parser, arguments = parse(arguments, prog)
    document = program.document(
        parser, arguments, FORMAT, lambda: measure(arguments, program.chosen(parser, all_rows(), arguments.rows))
    )
    sections = {"comparison": markdown.comparison_lines, "losses": markdown.loss_lines}
    program.deliver(document, arguments, sections, plots.ratios)
    return program.status([row for run in document["runs"] for row in run["rows"]])


if __name__ == "__main__":
    sys.exit(main())
