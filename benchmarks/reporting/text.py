"""Tables for the terminal, row by row as they come."""

from measuring.machine import warning

NAME_WIDTH = 76


def _number(value, form, missing="-"):
    return missing if value is None else format(value, form)


def aligned(rows):
    """A line for each row of cells, in columns."""
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    for row in rows:
        yield "".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()


def machine_lines(machine):
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield f"{machine['cpu']}, {machine['processors']} processors, {machine['system']}, {machine['date']}"
    yield versions
    if warning(machine):
        yield f"note: {warning(machine)}"


def run_lines(run):
    """The head of one number of threads."""
    yield f"{run['threads']} thread(s), instruction set {run['instruction_set']}, precision {run['precision']}"
    if run["limits"]:
        multiply_add, triad = run["limits"]["multiply_add"] / 1e9, run["limits"]["triad"] / 1e9
        yield f"limits at the start: {multiply_add:.0f} GFLOP/s multiply-add, {triad:.1f} GB/s triad"
    for note in run["notes"]:
        yield f"note: {note}"
    yield (f"{'row':<{NAME_WIDTH}}{'ours ms':>10}{'rate':>16}{'of limit':>10}{'ratio':>7}{'scratch MiB':>13}  peers ms")


def row_line(row):
    seconds = {name: spread["median"] for name, spread in row["seconds"].items()}
    ours = seconds.pop("ours")
    peers = ", ".join(f"{name} {value * 1e3:.4g}" for name, value in seconds.items())
    notes = "".join(f"\n  note: {note}" for note in row["notes"])
    rate = f"{row['rate']:.1f} {row['unit']}"
    return (
        f"{row['name']:<{NAME_WIDTH}}{ours * 1e3:>10.4f}{rate:>16}{_number(row['share'], '10.0%', '-'.rjust(10))}"
        f"{_number(row['ratio'], '7.2f', '-'.rjust(7))}{row['scratch_bytes'] / 2**20:>13.3f}  {peers}{notes}"
    )


def mean_lines(run):
    yield "geometric means of the ratios, gradients only (above 1 this package is faster):"
    for group, means in run["geometric_means"].items():
        best, torch = _number(means["ratio"], ".2f"), _number(means["ratio_to_torch"], ".2f")
        yield (
            f"  {group:<24} best peer {best} ({means['ratio_rows']} rows), torch as people call it {torch} "
            f"({means['ratio_to_torch_rows']} rows)"
        )
