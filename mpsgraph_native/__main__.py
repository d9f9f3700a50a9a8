"""The command line: `mpsgraph-native` or `python -m mpsgraph_native`."""

import argparse
import sys
from collections.abc import Sequence

import mpsgraph_native
from mpsgraph_native import _information


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mpsgraph-native", description="MPSGraph's gradient operations from Python.", allow_abbrev=False
    )
    parser.add_argument("--version", action="version", version=mpsgraph_native.__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    info = commands.add_parser("info", help="versions, engines, threads, cache and settings of this installation")
    info.add_argument("--json", action="store_true", help="print one JSON object")
    info.set_defaults(run=_information.main)

    cache = commands.add_parser("cache", help="the compiled executables that mps keeps on disk")
    actions = cache.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, run, text in (
        ("list", _list_stored, "what is kept, and how much of its limit it takes; exits with 1 when it cannot be read"),
        ("clear", _clear_stored, "remove everything; exits with 1 when something cannot be removed"),
    ):
        action = actions.add_parser(name, help=text, description=text)
        action.add_argument("--json", action="store_true", help="print one JSON object")
        action.set_defaults(run=run)

    demo = commands.add_parser(
        "demo",
        help="train two classifiers of handwritten digits",
        description="Trains a convolutional network and a GRU on scikit-learn's handwritten digits, every gradient "
        "coming from this package's operations, and draws learning curves and predictions. Exits with 1 when a test "
        "accuracy stays below 96 %% (not checked with --short).",
    )
    demo.add_argument("--short", action="store_true", help="a few epochs only, to see that everything works")
    demo.add_argument("--output", default="mpsgraph_native_demo", help="folder for the pictures (default: %(default)s)")
    demo.add_argument("--device", default=None, help="the engine: mps or cpu (default: the default device)")
    demo.set_defaults(run=_demo)

    verify = commands.add_parser(
        "verify",
        help="check every operation on every engine of this machine against float64",
        description="Runs every operation on every available engine over seeded data, compares with plain float64 "
        "references, and answers the questions that Apple's documentation leaves open. Exits with 0 when every engine "
        "passes, with 1 when a row or a question fails, with 2 for unusable arguments.",
    )
    verify.add_argument("--json", metavar="FILE", default=None, help="write the report as JSON too")
    verify.add_argument("--device", metavar="NAME", default=None, help="one engine alone: mps or cpu (default: all)")
    verify.add_argument("--quick", action="store_true", help="small shapes only: seconds instead of a minute")
    verify.set_defaults(run=_verify)

    bench = commands.add_parser(
        "bench",
        help="compare this machine's speed with torch, jax and MLX",
        description="Measures this package beside torch, jax and MLX, those that are installed, in interleaved rounds, and "
        "draws the ratios. Everything behind `--` goes to the comparison itself: `mpsgraph-native bench -- --help`. "
        "Exits with 0, with 1 when a peer's results differ, with 2 for unusable arguments or a missing matplotlib.",
    )
    bench.add_argument(
        "--short", action="store_true", help="a few rows of every family, one thread: minutes, not half an hour"
    )
    bench.add_argument(
        "--output",
        default="mpsgraph_native_bench",
        help="folder for comparison.json and comparison.png (default: %(default)s)",
    )
    bench.add_argument(
        "rest", nargs="*", metavar="-- OPTION", help="options of the comparison: --rows, --peers, --threads, ..."
    )
    bench.set_defaults(run=_bench)
    return parser


def _list_stored(arguments: argparse.Namespace) -> int:
    from mpsgraph_native._storage import show

    return show(arguments)


def _clear_stored(arguments: argparse.Namespace) -> int:
    from mpsgraph_native._storage import clear

    return clear(arguments)


def _demo(arguments: argparse.Namespace) -> int:
    try:
        from mpsgraph_native.demo import main
    except ModuleNotFoundError as error:
        print(f"The demo needs {error.name}: pip install 'mpsgraph-native[demo]'", file=sys.stderr)
        return 2
    return main(arguments)


def _bench(arguments: argparse.Namespace) -> int:
    from mpsgraph_native._bench import main

    return main(arguments)


def _verify(arguments: argparse.Namespace) -> int:
    from mpsgraph_native.verify.main import main  # its references are of no use elsewhere

    return main(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    parsed = _parser().parse_args(arguments)
    try:
        status: int = parsed.run(parsed)
        return status
    except mpsgraph_native.MPSGraphError as error:
        print(f"mpsgraph-native {parsed.command}: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
