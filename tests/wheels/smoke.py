"""What a wheel must do where it has just been installed: with NumPy alone, no compiler, no index, no GPU.

    python smoke.py [--expect-instruction-set NAME] [--forbid DIRECTORY]

Ends with 0 and one line of JSON about what it found, or with the first thing that is wrong.
"""

import argparse
import json
import subprocess
import sys
import sysconfig
import time
from pathlib import Path


def arguments():
    parser = argparse.ArgumentParser(description="Checks an installed mpsgraph_native.")
    parser.add_argument("--expect-instruction-set", help="the widest one that the processor has")
    parser.add_argument(
        "--forbid", type=Path, action="append", default=[], help="a folder the package must not come from"
    )
    parser.add_argument("--no-processes", action="store_true", help="start no other process, as under an emulator")
    return parser.parse_args()


def imported():
    """The package, and how many milliseconds its import took after NumPy's."""
    import numpy  # noqa: F401

    begin = time.perf_counter()
    import mpsgraph_native

    return mpsgraph_native, (time.perf_counter() - begin) * 1000


def check_place(package, forbidden):
    place = Path(package.__file__).resolve()
    for directory in forbidden:
        assert directory.resolve() not in place.parents, f"imported from {place}, not from what was installed"
    assert (place.parent / "py.typed").exists(), "py.typed is missing"


def information():
    """What `mpsgraph-native info --json` prints."""
    command = Path(sysconfig.get_path("scripts")) / "mpsgraph-native"
    done = subprocess.run([command, "info", "--json"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_errors(package):
    import numpy as np

    array = np.ones((1, 1, 4, 4), np.float32)
    try:
        package.convolution_2d(array, np.ones((1, 2, 3, 3), np.float32), descriptor=package.Convolution2DDescriptor())
    except package.ShapeError as error:
        assert "weights" in str(error) or "source" in str(error), error
    else:
        raise AssertionError("weights for two channels were taken for a source of one")


def main():
    options = arguments()
    package, milliseconds = imported()
    check_place(package, options.forbid)
    sys.path.insert(0, str(Path(__file__).parent))
    import founding

    before = sys._is_gil_enabled() if hasattr(sys, "_is_gil_enabled") else True
    founding.compare(founding.computed("cpu"), founding.stored())
    check_errors(package)
    instruction_sets, _ = package.instruction_sets()
    if options.expect_instruction_set is not None:
        assert instruction_sets[-1] == options.expect_instruction_set, instruction_sets
    for name in instruction_sets:
        package.set_instruction_set(name)
        package.clear_cache()
        founding.compare(founding.computed("cpu"), founding.stored())
    after = sys._is_gil_enabled() if hasattr(sys, "_is_gil_enabled") else True
    assert after == before, "the import turned the GIL on"
    if not options.no_processes:
        told = information()
        assert told["versions"]["mpsgraph_native"] == package.__version__, told["versions"]
    print(
        json.dumps(
            {
                "version": package.__version__,
                "python": sys.version.split()[0],
                "gil": after,
                "import_milliseconds": round(milliseconds, 1),
                "instruction_sets": instruction_sets,
                "devices": {device.name: device.available for device in package.devices()},
            }
        )
    )


if __name__ == "__main__":
    main()
