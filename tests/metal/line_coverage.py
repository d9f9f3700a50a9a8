"""Builds the package with the Metal engine on its stand-in, counting lines, runs the tests and demands that they reach the engine.

Usage: line_coverage.py [pytest arguments]. Environment: STAND_IN_DIRECTORY and PYTHON as run_stand_in.sh takes them.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "native" / "metal"
DEMANDED_PERCENT = 95
LLVM = ("llvm-profdata-19", "llvm-cov-19")


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def measured(library, profile):
    """The engine's files with their (lines, lines reached)."""
    exported = run(LLVM[1], "export", "-summary-only", f"-instr-profile={profile}", library, stdout=subprocess.PIPE)
    (report,) = json.loads(exported.stdout)["data"]
    files = {Path(entry["filename"]): entry["summary"]["lines"] for entry in report["files"]}
    return {
        path.relative_to(ENGINE): (lines["count"], lines["covered"])
        for path, lines in sorted(files.items())
        if path.is_relative_to(ENGINE)
    }


def missed_lines(library, profile, path):
    """The numbers of the lines that never ran, as ranges."""
    shown = run(LLVM[1], "show", f"-instr-profile={profile}", library, path, stdout=subprocess.PIPE, text=True).stdout
    missed = []
    for line in shown.splitlines():
        number, count, *_ = [*line.split("|"), "", ""]
        if count.strip() == "0" and number.strip().isdigit() and int(number) not in missed:
            missed.append(int(number))
    ranges = []
    for number in sorted(missed):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def percent(lines, reached):
    return 100 * reached / lines


def report(library, profile):
    """Prints the table; gives the percentage of all files."""
    files = measured(library, profile)
    sources = {path.name for path in ENGINE.iterdir() if path.suffix in (".mm", ".cpp")}
    if unmeasured := sources - {path.name for path in files}:
        raise SystemExit(f"not measured: {', '.join(sorted(unmeasured))}")
    width = max(len(str(path)) for path in files)
    for path, (lines, reached) in files.items():
        missed = missed_lines(library, profile, ENGINE / path) if reached < lines else ""
        print(f"{path!s:<{width}}  {reached:>5}/{lines:<5}  {percent(lines, reached):6.2f} %  {missed}".rstrip())
    total = [sum(column) for column in zip(*files.values(), strict=True)]
    print(f"{'native/metal':<{width}}  {total[1]:>5}/{total[0]:<5}  {percent(*total):6.2f} %")
    return percent(*total)


def main(arguments):
    if missing := [name for name in LLVM if shutil.which(name) is None]:
        raise SystemExit(f"needs {' and '.join(missing)} (Debian's llvm-19)")
    work = Path(os.environ.get("STAND_IN_DIRECTORY", ROOT / "build" / "stand_in_coverage")).absolute()
    profiles = work / "profiles"
    shutil.rmtree(profiles, ignore_errors=True)
    profiles.mkdir(parents=True)
    # One file per library, to which every process adds what it counted.
    settings = {"COVERAGE": "1", "STAND_IN_DIRECTORY": str(work), "LLVM_PROFILE_FILE": f"{profiles}/%m.profraw"}
    tests = subprocess.run([ROOT / "tests/metal/run_stand_in.sh", *arguments], env=os.environ | settings, check=False)
    if tests.returncode:
        return tests.returncode
    profile = profiles / "merged.profdata"
    run(LLVM[0], "merge", "-sparse", "-o", profile, *sorted(profiles.glob("*.profraw")))
    reached = report(work / "build" / "native" / "libmpsgraph_native_core.so", profile)
    if reached < DEMANDED_PERCENT:
        print(f"the tests reach {reached:.2f} % of native/metal, demanded are {DEMANDED_PERCENT} %", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
