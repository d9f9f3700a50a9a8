"""The wheel for 64-bit ARM Linux, cross-built and run under an emulator: `python -m wheels.arm DIRECTORY [pytest's arguments]`.

Needs Debian's g++-aarch64-linux-gnu and qemu-user-static, apt for ARM's packages and pip for NumPy's wheel. Runs the smoke
test and then pytest, by default on the kernels' tests; what is fetched and built stays in DIRECTORY.
"""

import os
import shutil
import sys
import zipfile
from pathlib import Path

from wheels.release import ROOT, only, run

EMULATOR = "qemu-aarch64-static"
COMPILER = "aarch64-linux-gnu-g++"
PYTHON = "python3.11"  # of Debian 12; the interpreter that runs this has to be the same version
PACKAGES = (PYTHON, "libpython3.11-stdlib", "libstdc++6", "libgcc-s1", "libc6")
KERNELS = [*(ROOT / "tests/kernels.txt").read_text().split(), "tests/test_half_precision.py"]
# They start a process of their own, which the emulator does not take along.
LEFT_OUT = ("tests/test_precision.py::test_precision_from_the_environment",)


def missing():
    """What this machine lacks for it; empty if nothing."""
    absent = [name for name in (EMULATOR, COMPILER, "apt-get", "dpkg-deb") if not shutil.which(name)]
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return absent if version == PYTHON else [*absent, f"{PYTHON} instead of {version}"]


def file_system(directory):
    """Debian's ARM packages, unpacked; with apt's state in the directory, so that the machine's own stays as it is."""
    state, root = directory / "apt", directory / "root"
    for path in (state / "lists/partial", state / "archives/partial", root):
        path.mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    (state / "sources.list").write_text("deb http://deb.debian.org/debian bookworm main\n")
    options = {
        "APT::Architecture": "arm64",
        "APT::Architectures": "arm64",
        "APT::Install-Recommends": "0",
        "Debug::NoLocking": "1",
        "Dir::State": state,
        "Dir::State::status": state / "status",
        "Dir::State::lists": state / "lists",
        "Dir::Cache": state,
        "Dir::Cache::archives": state / "archives",
        "Dir::Etc::sourcelist": state / "sources.list",
        "Dir::Etc::sourceparts": "/dev/null",
    }
    apt = ["apt-get", "-qq", *(word for name, value in options.items() for word in ("-o", f"{name}={value}"))]
    run(*apt, "update")
    run(*apt, "install", "--yes", "--download-only", *PACKAGES)
    for package in (state / "archives").glob("*.deb"):
        run("dpkg-deb", "--extract", package, root)
    return root


def build(directory):
    """The wheel, by the ordinary build with Debian's cross compiler."""
    run(
        *(sys.executable, "-m", "pip", "wheel", ROOT, "--no-deps", "--wheel-dir", directory / "wheels"),
        *("-C", f"build-dir={directory / 'build'}", "-C", "logging.level=WARNING"),
        *("-C", f"cmake.define.CMAKE_TOOLCHAIN_FILE={ROOT / 'cmake/aarch64_from_linux.cmake'}"),
        *("-C", "cmake.define.MPSGRAPH_NATIVE_WERROR=ON"),
        env=os.environ
        | {
            "_PYTHON_HOST_PLATFORM": "linux-aarch64",
            "SETUPTOOLS_EXT_SUFFIX": f".cpython-{sys.version_info.major}{sys.version_info.minor}-aarch64-linux-gnu.so",
        },
    )
    return only((directory / "wheels").glob("mpsgraph_native-*.whl"))


def install(directory, wheel):
    """Wheel, NumPy and pytest unpacked into a folder: pip cannot install for another machine."""
    platform = ("--only-binary=:all:", "--platform", "manylinux_2_28_aarch64", "--platform", "manylinux2014_aarch64")
    fetched = directory / "fetched"
    packages = ("numpy>=2", "pytest>=8", "ml_dtypes>=0.5", "hypothesis>=6.100")
    run(sys.executable, "-m", "pip", "download", *platform, "--dest", fetched, *packages)
    site = directory / "site"
    for archive in (wheel, *fetched.glob("*.whl")):
        with zipfile.ZipFile(archive) as file:
            file.extractall(site)
    return site


def main(folder, *arguments):
    if absent := missing():
        print(f"needs {', '.join(absent)}", file=sys.stderr)
        return 2
    directory = Path(folder).resolve()
    root = file_system(directory)
    site = install(directory, build(directory))
    python = [EMULATOR, "-L", str(root), str(root / "usr/bin" / PYTHON), "-P"]
    environment = os.environ | {"PYTHONPATH": str(site), "PYTHONDONTWRITEBYTECODE": "1"}
    print(run(*python, ROOT / "tests/wheels/smoke.py", "--no-processes", "--forbid", ROOT, env=environment), flush=True)
    tests = arguments or [str(ROOT / name) for name in KERNELS]
    left_out = [word for name in LEFT_OUT for word in ("--deselect", name)]
    command = [*python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(ROOT), *left_out, *tests]
    os.chdir(directory)
    os.execvpe(command[0], command, environment)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
