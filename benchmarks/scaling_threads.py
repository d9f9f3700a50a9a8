"""Time against the number of threads, this package beside torch, with the machine's own limits. See README.md."""

import argparse
import dataclasses
import sys

from measuring import machine
from measuring.process import Settings, measured
from reporting import markdown, plots, program, text
from rows import ConvolutionRow, PoolingRow, RecurrentRow

FORMAT = 1
COUNTS = (1, 2, 4, 8, 16)
KINDS = ("forward", "data_gradient", "weights_gradient")
ROWS = [
    *(ConvolutionRow(kind, "NCHW", 32, 64, 64, 56, 3, 1) for kind in KINDS),
    *(ConvolutionRow(kind, "NCHW", 32, 3, 64, 224, 7, 2) for kind in KINDS),
    *(ConvolutionRow(kind, "NCHW", 32, 256, 1024, 14, 1, 1) for kind in KINDS),
    *(ConvolutionRow(kind, "NCHW", 32, 96, 96, 56, 7, 1, depthwise=True) for kind in KINDS),
    *(PoolingRow(gradient, "NCHW", 32, 64, 112, 3, 2, 1) for gradient in (False, True)),
    *(RecurrentRow("gru", gradient, 50, 32, 128, 256, 1) for gradient in (False, True)),
]
CONTENDERS = ("ours", "torch")


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--threads", type=program.thread_count, nargs="+", help=f"{COUNTS}, as far as there are processors"
    )
    parser.add_argument("--rounds", type=int, default=Settings.rounds)
    parser.add_argument("--seconds", type=float, default=Settings.seconds, help="least time of one round of fast rows")
    parser.add_argument("--rows", nargs="*", default=[], metavar="WORD", help="rows whose name holds one of the words")
    parser.add_argument("--json", metavar="FILE", help="everything that was measured")
    parser.add_argument("--plot", metavar="FILE", help="speed-ups as a picture (needs matplotlib)")
    parser.add_argument("--markdown", metavar="FILE", help="the table, written into its section of this file")
    parser.add_argument("--from", dest="source", metavar="FILE", help="measure nothing; take this --json file")
    return parser, parser.parse_args(arguments)


def measure(arguments, rows):
    place = machine.describe()
    print("\n".join(text.machine_lines(place)))
    available = len(machine.processors())
    counts = sorted({1, *(arguments.threads or [count for count in COUNTS if count <= available])})
    settings = Settings(threads=0, rounds=arguments.rounds, seconds=arguments.seconds, patience=60.0, peers=("torch",))
    runs = []
    for count in counts:
        messages = measured(rows, dataclasses.replace(settings, threads=count))
        run = next(messages)[1] | {"rows": []}
        for note in run["notes"]:
            print(f"note: {note}")
        for _, row in messages:
            run["rows"].append(row)
            print(f"{count} thread(s): {row['name']} {row['seconds']['ours']['median'] * 1e3:.3f} ms", flush=True)
        runs.append(run)
    return {"format": FORMAT, "machine": place, "settings": {"rounds": arguments.rounds}, "runs": runs}


def speed_ups(document):
    """(row, contender, milliseconds with one thread, speed-ups in the order of the runs)."""
    for index, row in enumerate(document["runs"][0]["rows"]):
        for contender in CONTENDERS:
            medians = [run["rows"][index]["seconds"].get(contender, {}).get("median") for run in document["runs"]]
            if None not in medians:
                yield row["name"], contender, medians[0], [medians[0] / median for median in medians]


def limit_lines(document):
    """The machine's own rates with each number of threads, as (name, unit, rates)."""
    for name, unit in (("multiply_add", "GFLOP/s"), ("triad", "GB/s")):
        rates = [run["limits"].get(name) for run in document["runs"]]
        if None not in rates:
            yield name.replace("_", "-"), unit, [rate / 1e9 for rate in rates]


def print_table(document):
    counts = [run["threads"] for run in document["runs"]]
    print(f"\n{'speed-up against one thread':<72}{'':<8}{'1 thread':>12}" + "".join(f"{count:>8}" for count in counts))
    for name, unit, rates in limit_lines(document):
        one = f"{rates[0]:.1f} {unit}"
        print(f"{name:<72}{'limit':<8}{one:>12}" + "".join(f"{rate / rates[0]:>8.2f}" for rate in rates))
    for name, contender, seconds, ratios in speed_ups(document):
        print(f"{name:<72}{contender:<8}{seconds * 1e3:>9.2f} ms" + "".join(f"{ratio:>8.2f}" for ratio in ratios))


def section(document):
    yield from markdown.machine_lines(document["machine"])
    yield f"Medians of {document['settings']['rounds']} round(s); speed-ups against one thread."
    yield ""
    counts = [run["threads"] for run in document["runs"]]
    rows = [
        [name, "limit", f"{rates[0]:.1f} {unit}", *(f"{rate / rates[0]:.2f}" for rate in rates[1:])]
        for name, unit, rates in limit_lines(document)
    ]
    for name, contender, seconds, ratios in speed_ups(document):
        one = f"{markdown.milliseconds(seconds)} ms"
        rows.append([name, contender, one, *(f"{ratio:.2f}" for ratio in ratios[1:])])
    yield from markdown.table(["row", "", "1 thread", *(f"{count}" for count in counts[1:])], rows, left=2)


def plot(document, path):
    counts = [run["threads"] for run in document["runs"]]
    limits = {
        f"limit: {name}": (counts, [rate / rates[0] for rate in rates]) for name, _, rates in limit_lines(document)
    }
    panels = {}
    for name, contender, _, ratios in speed_ups(document):
        panels.setdefault(name, dict(limits))[contender] = (counts, ratios)
    plots.lines(panels, path, x_label="threads", y_label="speed-up", reference="one per thread")


def main(arguments=None):
    parser, arguments = parse(arguments)
    document = program.document(
        parser, arguments, FORMAT, lambda: measure(arguments, program.chosen(parser, ROWS, arguments.rows))
    )
    print_table(document)
    program.deliver(document, arguments, {"scaling over threads": section}, plot)


if __name__ == "__main__":
    sys.exit(main())
