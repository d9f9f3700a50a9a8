"""Pictures. matplotlib is imported when one is wanted."""

import itertools

COLOURS = {"convolution": "C0", "depthwise_convolution": "C1", "pooling": "C2", "recurrent": "C3"}


def _pyplot():
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("--plot needs matplotlib") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def ratios(document, path):
    """One bar per row, one panel per number of threads: the best peer's time over ours."""
    pyplot = _pyplot()
    runs = document["runs"]
    count = max(len(run["rows"]) for run in runs)
    figure, panels = pyplot.subplots(
        1, len(runs), figsize=(6 + 5 * len(runs), 1.5 + 0.17 * count), sharey=True, squeeze=False, layout="constrained"
    )
    for panel, run in zip(panels[0], runs, strict=True):
        rows = [row for row in run["rows"] if row["ratio"]]
        panel.set_xscale("log")
        for family in dict.fromkeys(row["family"] for row in rows):
            members = [row for row in rows if row["family"] == family]
            # Bars begin at 1: to the left a peer is faster.
            panel.barh(
                [row["name"] for row in members], [row["ratio"] - 1 for row in members], left=1,
                color=COLOURS[family], label=family,
            )  # fmt: skip
        panel.axvline(1, color="black", linewidth=1)
        panel.set_title(f"{run['threads']} thread(s)")
        panel.set_xlabel("time of the best peer / ours")
        panel.tick_params(axis="y", labelsize=6)
        panel.grid(axis="x", which="both", alpha=0.3)
        panel.margins(y=0.005)
    panels[0][0].invert_yaxis()
    panels[0][0].legend(fontsize=7)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)


def lines(panels, path, *, x_label, y_label, reference):
    """`panels`: title to {label: (xs, ys)}, on logarithmic axes; `reference` is drawn as the line of slope 1."""
    pyplot = _pyplot()
    columns = min(3, len(panels))
    height = -(-len(panels) // columns)
    figure, axes = pyplot.subplots(
        height, columns, figsize=(5 * columns, 4 * height), squeeze=False, layout="constrained"
    )
    for axis, (title, curves) in itertools.zip_longest(axes.flat, panels.items(), fillvalue=(None, {})):
        if title is None:
            axis.axis("off")
            continue
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        for label, (xs, ys) in curves.items():
            axis.plot(xs, ys, marker="o", markersize=3, label=label)
        xs = sorted({x for curve, _ in curves.values() for x in curve})
        axis.plot(xs, [x / xs[0] for x in xs], color="grey", linestyle=":", label=reference)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel(x_label)
        axis.set_ylabel(y_label)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=6)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
