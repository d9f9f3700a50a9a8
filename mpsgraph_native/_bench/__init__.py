"""`mpsgraph-native bench`: the comparison with other libraries, by the programs that a wheel brings along beside this file."""

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path

__all__ = ["main"]

PROGRAMS = Path(__file__).with_name("benchmarks")
# Some rows of every family in a minute or two; the full run takes many.
SHORT = (
    *("--threads", "1", "--rounds", "5", "--patience", "0.3"),
    *("--rows", "256→256 14²", "C384 14²", "C64 56² k2", "T50 N32 I128 H256", "N1 "),
)


def main(arguments: argparse.Namespace) -> int:
    """Runs the comparison; its exit status. `arguments`: output, short, and rest for the comparison itself."""
    rest = arguments.rest
    if not {"-h", "--help", "--plot", "--from"} & {word.split("=")[0] for word in rest}:
        if importlib.util.find_spec("matplotlib") is None:
            print("The picture needs matplotlib: pip install 'mpsgraph-native[benchmark]'", file=sys.stderr)
            return 2
        folder = Path(arguments.output)
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            print(f"--output: {error}", file=sys.stderr)
            return 2
        rest = ["--json", str(folder / "comparison.json"), "--plot", str(folder / "comparison.png"), *rest]
    # The programs find their own modules beside them, as when they are run from a checkout.
    sys.path.insert(0, str(PROGRAMS))
    compare = importlib.import_module("compare")
    return int(compare.main([*(SHORT if arguments.short else ()), *rest], prog="mpsgraph-native bench"))
