"""How the time of the founding gradients grows with batch, channels, image, time and units. See README.md."""

import argparse
import dataclasses
import sys

import numpy as np
from measuring import machine
from measuring.process import Settings, measured
from reporting import markdown, plots, program, text
from rows import ConvolutionRow, PoolingRow, RecurrentRow

FORMAT = 1
CONVOLUTION = ConvolutionRow("weights_gradient", "NCHW", 8, 32, 64, 56, 3, 1)
DEPTHWISE = ConvolutionRow("weights_gradient", "NCHW", 8, 64, 64, 56, 3, 1, depthwise=True)
POOLING = PoolingRow(True, "NCHW", 8, 64, 56, 3, 2, 1)
RECURRENT = RecurrentRow("gru", True, 32, 32, 64, 128, 1)
# The row to start from, the fields that grow, their axis in words, and their values.
SERIES = [
    (CONVOLUTION, ("batch",), "N", (1, 2, 4, 8, 16, 32)),
    (CONVOLUTION, ("inputs",), "input channels", (16, 32, 64, 128, 256)),
    (CONVOLUTION, ("outputs",), "output channels", (16, 32, 64, 128, 256)),
    (CONVOLUTION, ("image",), "image side", (14, 28, 56, 112)),
    (DEPTHWISE, ("batch",), "N", (1, 2, 4, 8, 16, 32)),
    (DEPTHWISE, ("inputs", "outputs"), "channels", (16, 32, 64, 128, 256)),
    (DEPTHWISE, ("image",), "image side", (14, 28, 56, 112)),
    (POOLING, ("batch",), "N", (1, 2, 4, 8, 16, 32)),
    (POOLING, ("channels",), "channels", (16, 32, 64, 128, 256)),
    (POOLING, ("image",), "image side", (14, 28, 56, 112)),
    (RECURRENT, ("batch",), "N", (8, 16, 32, 64, 128)),
    (RECURRENT, ("time",), "T", (8, 16, 32, 64, 128)),
    (RECURRENT, ("units",), "units", (64, 128, 256, 512)),
]


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=program.thread_count, default=1)
    parser.add_argument("--rounds", type=int, default=Settings.rounds)
    parser.add_argument("--seconds", type=float, default=Settings.seconds, help="least time of one round of fast rows")
    parser.add_argument(
        "--series", nargs="*", default=[], metavar="WORD", help="operations whose name holds one of the words"
    )
    parser.add_argument("--json", metavar="FILE", help="everything that was measured")
    parser.add_argument("--plot", metavar="FILE", help="time against work as a picture (needs matplotlib)")
    parser.add_argument("--markdown", metavar="FILE", help="the table, written into its section of this file")
    parser.add_argument("--from", dest="source", metavar="FILE", help="measure nothing; take this --json file")
    return parser, parser.parse_args(arguments)


def rows_of(start, fields, values):
    return [dataclasses.replace(start, **dict.fromkeys(fields, value)) for value in values]


def exponent(work, seconds):
    """The slope of log time over log work: 1 is linear growth, less where a fixed cost weighs on small sizes."""
    return float(np.polyfit(np.log(work), np.log(seconds), 1)[0])


def measure(arguments, chosen):
    place = machine.describe()
    print("\n".join(text.machine_lines(place)))
    rows = [row for start, fields, _, values in chosen for row in rows_of(start, fields, values)]
    settings = Settings(threads=arguments.threads, rounds=arguments.rounds, seconds=arguments.seconds, limits=False)
    messages = measured(rows, settings)
    run = next(messages)[1]
    measurements = iter([row for _, row in messages])
    series = []
    for start, _, axis, values in chosen:
        found = [next(measurements) for _ in values]
        work = [row["bytes" if row["unit"] == "GB/s" else "flops"] for row in found]
        seconds = [row["seconds"]["ours"]["median"] for row in found]
        series.append(
            {
                "operation": start.operation, "from": start.sizes, "axis": axis, "values": list(values), "work": work,
                "work_unit": "bytes" if start.unit == "GB/s" else "operations", "seconds": seconds,
                "exponent": exponent(work, seconds),
            }
        )  # fmt: skip
    del run["limits"]
    return {
        "format": FORMAT, "machine": place, "settings": {"rounds": arguments.rounds}, "run": run,
        "series": series,
    }  # fmt: skip


def table_rows(document):
    for series in document["series"]:
        span = f"{series['values'][0]} to {series['values'][-1]}"
        grown = f"{series['work'][-1] / series['work'][0]:.3g}"
        longer = f"{series['seconds'][-1] / series['seconds'][0]:.3g}"
        yield [
            series["operation"], series["from"], f"{series['axis']} {span}", f"{grown} × {series['work_unit']}",
            f"{longer} × time", f"{series['exponent']:.2f}",
        ]  # fmt: skip


HEADS = ["operation", "from", "growing", "work", "time", "exponent"]


def print_table(document):
    print("\n".join(text.aligned([HEADS, *table_rows(document)])))


def section(document):
    yield from markdown.machine_lines(document["machine"])
    yield f"Medians of {document['settings']['rounds']} round(s), {document['run']['threads']} thread(s)."
    yield ""
    yield from markdown.table(HEADS, list(table_rows(document)), left=3)


def plot(document, path):
    panels = {}
    for series in document["series"]:
        work = [value / series["work"][0] for value in series["work"]]
        seconds = [value / series["seconds"][0] for value in series["seconds"]]
        label = f"{series['axis']}, exponent {series['exponent']:.2f}"
        panels.setdefault(series["operation"], {})[label] = (work, seconds)
    plots.lines(panels, path, x_label="work, of the smallest", y_label="time, of the smallest", reference="linear")


def chosen(parser, words):
    found = [series for series in SERIES if not words or any(word in series[0].operation for word in words)]
    if not found:
        parser.error(f"--series: no operation's name holds one of {words}")
    return found


def main(arguments=None):
    parser, arguments = parse(arguments)
    document = program.document(parser, arguments, FORMAT, lambda: measure(arguments, chosen(parser, arguments.series)))
    print_table(document)
    program.deliver(document, arguments, {"scaling over sizes": section}, plot)


if __name__ == "__main__":
    sys.exit(main())
