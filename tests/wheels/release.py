"""Builds the sdist, from it alone the wheel, and installs that where there is neither compiler nor index."""

import os
import shutil
import sys
import tarfile
from pathlib import Path

from metal import commands

ROOT = Path(__file__).parents[2]


def run(*command, **options):
    """What a command prints; where it fails, an AssertionError holds that."""
    return commands.run(*command, **options).stdout


def only(paths):
    (path,) = paths
    return path


def package_files():
    """What a wheel takes over from a checkout, by its name in the wheel."""
    kinds = {".py", ".pxd", ".pyi", ".typed", ".c"}
    homes = {"mpsgraph_native": "mpsgraph_native", "benchmarks": "mpsgraph_native/_bench/benchmarks"}
    return {
        f"{home}/{path.relative_to(ROOT / folder).as_posix()}"
        for folder, home in homes.items()
        for path in (ROOT / folder).rglob("*")
        if path.suffix in kinds
    }


def sdist(directory):
    run(sys.executable, "-m", "build", "--sdist", "--outdir", directory, ROOT)
    return only(directory.glob("*.tar.gz"))


def unpacked(archive, directory):
    with tarfile.open(archive) as file:
        file.extractall(directory, filter="data")
    return only(directory.iterdir())


def wheel(source, directory):
    """The wheel from an unpacked sdist; its objects stay in source/build/release."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", directory, "-C", "build-dir=build/release", source)
    return only(directory.glob("*.whl"))


def repaired(built, directory):
    """What auditwheel makes of it: the tag of the oldest glibc that it runs on."""
    run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", directory, built)
    return only(directory.glob("*.whl"))


def dependencies(directory):
    """NumPy's wheel, fetched while there still is an index."""
    run(sys.executable, "-m", "pip", "download", "--only-binary=:all:", "--dest", directory, "numpy>=2")


def bare_environment(folder):
    """No compiler, no index, no settings of this one's package."""
    path = folder / "no_programs"
    path.mkdir()
    kept = {name: os.environ[name] for name in ("HOME", "TMPDIR", "LANG") if name in os.environ}
    return kept | {"PATH": str(path), "PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull}


def installed(built, wheels, directory):
    """A virtual environment with the wheel; gives its interpreter and the environment variables to run it with."""
    run(sys.executable, "-m", "venv", directory / "venv")
    python = directory / "venv/bin/python"
    environment = bare_environment(directory)
    assert shutil.which("c++", path=environment["PATH"]) is None
    run(python, "-m", "pip", "install", "--no-index", "--find-links", wheels, built, env=environment)
    return python, environment
