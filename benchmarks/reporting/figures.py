"""Rates, shares of the machine's limits and ratios to the peers, from what was measured."""

import statistics


def derived(row):
    """A measured row's figures; None where nothing was measured to compare with."""
    seconds = {name: spread["median"] for name, spread in row["seconds"].items()}
    ours = seconds.pop("ours")
    figures = {"rate": row["bytes" if row["unit"] == "GB/s" else "flops"] / ours / 1e9, "bound": None, "share": None}
    if row["limits"]:
        least = {
            "compute": row["flops"] / row["limits"]["multiply_add"],
            "memory": row["bytes"] / row["limits"]["triad"],
        }
        figures["bound"] = max(least, key=least.get)
        figures["share"] = least[figures["bound"]] / ours
    best = min(seconds, key=seconds.get, default=None)
    figures["best_peer"] = best
    figures["ratio"] = seconds[best] / ours if best else None
    figures["ratio_to_torch"] = seconds["torch"] / ours if "torch" in seconds else None
    return figures


def geometric_means(rows):
    """Over the gradient rows, together and by family: the ratio to the best peer and to torch as people call it."""
    gradients = [row for row in rows if row["gradient"]]
    groups = {"all gradients": gradients}
    for row in gradients:
        groups.setdefault(row["family"], []).append(row)
    means = {}
    for group, members in groups.items():
        means[group] = {}
        for name in ("ratio", "ratio_to_torch"):
            values = [row[name] for row in members if row[name]]
            means[group][name] = statistics.geometric_mean(values) if values else None
            means[group][f"{name}_rows"] = len(values)
    return means


def losses(run):
    """The rows on which a peer is faster, the worst first."""
    return sorted((row for row in run["rows"] if row["ratio"] and row["ratio"] < 1), key=lambda row: row["ratio"])
