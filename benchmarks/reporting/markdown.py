"""Sections of docs/performance.md, each between two comments that name it."""

from pathlib import Path

from measuring.machine import warning

from .figures import losses

FAMILY_TITLES = {
    "convolution": "Convolution",
    "depthwise_convolution": "Depthwise convolution",
    "pooling": "Max pooling",
    "recurrent": "Recurrent networks",
}


def write_section(path, name, lines):
    """Puts the lines between `<!-- begin name -->` and `<!-- end name -->`; a new file gets both comments."""
    path = Path(path)
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    text = path.read_text() if path.exists() else f"{begin}\n{end}\n"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(begin) > text.index(end):
        if path.exists() and begin not in text and end not in text and text.startswith("<!-- begin "):
            text += f"\n{begin}\n{end}\n"  # a file that holds sections alone
        else:
            raise SystemExit(f"{path} must hold the lines {begin} and {end} once, in this order")
    before, after = text[: text.index(begin) + len(begin)], text[text.index(end) :]
    path.write_text(f"{before}\n" + "\n".join(lines) + f"\n{after}")


def table(heads, rows, left=1):
    """The first `left` columns are text, the others numbers."""
    yield f"| {' | '.join(heads)} |"
    yield "|" + "---|" * left + "---:|" * (len(heads) - left)
    for row in rows:
        yield f"| {' | '.join(row)} |"


def milliseconds(seconds):
    """Three significant digits, two of the shortest."""
    value = seconds * 1e3
    decimals = next((places for limit, places in ((0.1, 4), (1, 3), (10, 2), (100, 1)) if value < limit), 0)
    return f"{value:.{decimals}f}"


def _or_dash(value, form):
    return "–" if value is None else format(value, form)


def machine_lines(machine):
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    yield f"{machine['date'][:10]}, {machine['cpu']}, {machine['processors']} processors, {machine['system']}; {versions}."
    if warning(machine):
        yield f"**Not to be quoted: {warning(machine)}.**"


def _threads(count):
    return f"{count} thread{'s' if count > 1 else ''}"


def _mean_table(runs):
    groups = list(runs[0]["geometric_means"])
    heads = ["gradients"]
    for run in runs:
        heads += [f"best peer, {_threads(run['threads'])}", f"torch, {_threads(run['threads'])}"]
    rows = []
    for group in groups:
        cells = [FAMILY_TITLES.get(group, group)]
        for run in runs:
            means = run["geometric_means"][group]
            cells += [_or_dash(means["ratio"], ".2f"), _or_dash(means["ratio_to_torch"], ".2f")]
        rows.append(cells)
    return table(heads, rows)


def _family_table(rows):
    peers = list(dict.fromkeys(name for row in rows for name in row["seconds"] if name != "ours"))
    heads = ["row", "ours ms", rows[0]["unit"], "of limit", *(f"{peer} ms" for peer in peers), "ratio", "scratch MiB"]
    body = []
    for row in rows:
        seconds = {name: spread["median"] for name, spread in row["seconds"].items()}
        body.append(
            [
                row["name"], milliseconds(seconds["ours"]), f"{row['rate']:.1f}", _or_dash(row["share"], ".0%"),
                *(milliseconds(seconds[peer]) if peer in seconds else "–" for peer in peers),
                _or_dash(row["ratio"], ".2f"), f"{row['scratch_bytes'] / 2**20:.3f}",
            ]
        )  # fmt: skip
    return table(heads, body)


def comparison_lines(document):
    yield from machine_lines(document["machine"])
    yield f"Medians of {document['settings']['rounds']} round(s)."
    yield ""
    yield "Geometric means of the ratios over the gradient rows; above 1 this package is faster:"
    yield ""
    yield from _mean_table(document["runs"])
    for run in document["runs"]:
        yield ""
        yield f"### {_threads(run['threads']).capitalize()}"
        yield ""
        facts = f"Instruction set {run['instruction_set']}, precision {run['precision']}."
        if run["limits"]:
            multiply_add, triad = run["limits"]["multiply_add"] / 1e9, run["limits"]["triad"] / 1e9
            facts += f" Limits at the start: {multiply_add:.0f} GFLOP/s multiply-add, {triad:.1f} GB/s triad."
        yield facts
        notes = [*run["notes"], *(f"{row['name']}: {note}" for row in run["rows"] for note in row["notes"])]
        if notes:
            yield ""
            yield from (f"* {note}" for note in notes)
        for family in dict.fromkeys(row["family"] for row in run["rows"]):
            yield ""
            yield f"#### {FAMILY_TITLES[family]}, {_threads(run['threads'])}"
            yield ""
            yield from _family_table([row for row in run["rows"] if row["family"] == family])


def loss_lines(document):
    for run in document["runs"]:
        rows = losses(run)
        compared = sum(row["ratio"] is not None for row in run["rows"])
        yield f"{_threads(run['threads'])}: a peer is faster in {len(rows)} of {compared} rows."
        yield ""
        if rows:
            body = [
                [row["name"], row["best_peer"], f"{row['ratio']:.2f}", _or_dash(row["share"], ".0%")] for row in rows
            ]
            yield from table(["row", "faster peer", "ratio", "of limit"], body, left=2)
            yield ""
