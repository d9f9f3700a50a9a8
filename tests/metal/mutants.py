"""Copies of the installed package whose Metal engine has one changed source, compiled and linked as the build did."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from metal import commands

import mpsgraph_native

ROOT = Path(__file__).parents[2]
METAL = ROOT / "native" / "metal"
LIBRARY = "native/libmpsgraph_native_core.so"
# run_stand_in.sh has the build beside the environment.
BUILD = Path(sys.prefix).parent / "build"
MISSING = f"needs the build of tests/metal/run_stand_in.sh in {BUILD}, without sanitizers"


@dataclass(frozen=True)
class Fault:
    """`right` of a file becomes `wrong`; `check` is the test that must fail, with `evidence` in what it prints."""

    file: str
    right: str
    wrong: str
    check: str
    evidence: str
    source: str = ""  # what is compiled where the file is a header

    @property
    def compiled(self):
        return self.source or self.file

    def text(self):
        text = (METAL / self.file).read_text()
        if text.count(self.right) != 1:
            raise AssertionError(f"{self.file} must hold this once, to be changed: {self.right}")
        return text.replace(self.right, self.wrong)


def available():
    return (BUILD / "build.ninja").exists() and "clang_rt" not in os.environ.get("LD_PRELOAD", "")


class Build:
    """The commands of the build, with which changed sources are compiled."""

    def __init__(self):
        ninja = Path(sys.executable).with_name("ninja")
        self.commands = commands.run(ninja, "-C", BUILD, "-t", "commands", LIBRARY).stdout.splitlines()

    def compile(self, source, output, include=None):
        """Compiles what stands in for a source of the engine, quickly."""
        (command,) = (line for line in self.commands if f"metal/{source.name}.o -c " in line)
        words = shlex.split(command)
        words[words.index("-o") + 1] = str(output)
        words[words.index("-MF") + 1] = f"{output}.d"
        words[words.index("-c") + 1] = str(source)
        first_include = next(index for index, word in enumerate(words) if word.startswith("-I"))
        words[first_include:first_include] = [f"-I{include}"] if include else []
        commands.run(*words, "-O0", "-w", cwd=BUILD)

    def link(self, objects, output):
        """Links the core library with other objects in place of those of the sources that name them."""
        (command,) = (line for line in self.commands if f"-o {LIBRARY} " in line)
        command = command.replace(f"-o {LIBRARY} ", f"-o {output} ")
        for source, changed in objects.items():
            command, count = re.subn(rf"\S*/metal/{re.escape(source)}\.o", str(changed), command)
            assert count == 1, source
        commands.run("sh", "-c", command, cwd=BUILD)

    def package(self, objects, directory):
        """A copy of the package with a core library of other objects."""
        shutil.copytree(
            Path(mpsgraph_native.__file__).parent,
            directory / "mpsgraph_native",
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (library,) = (directory / "mpsgraph_native").rglob(Path(LIBRARY).name)
        library.unlink()
        self.link(objects, library)
        return directory

    def package_with(self, fault, directory):
        changed = directory / "metal" / fault.file
        changed.parent.mkdir()
        changed.write_text(fault.text())
        source = METAL / fault.source if fault.source else changed
        self.compile(source, directory / "changed.o", include=directory)
        return self.package({fault.compiled: directory / "changed.o"}, directory)


def packages(faults, directory):
    """A copy of the package for each fault, by its name."""
    build = Build()

    def make(name):
        place = directory / re.sub(r"\W+", "_", name)
        place.mkdir()
        return name, build.package_with(faults[name], place)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(make, faults))


def unchanged_package(sources, directory):
    """The package with these sources compiled and linked in the same way, as they are."""
    build = Build()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = {source: directory / f"{source}.o" for source in sources}
        list(pool.map(lambda source: build.compile(METAL / source, objects[source]), sources))
    return build.package(objects, directory)


def check(place, *tests):
    """Runs tests with the package in `place`."""
    environment = os.environ | {"PYTHONPATH": str(place), "LLVM_PROFILE_FILE": os.devnull}
    return subprocess.run(
        [sys.executable, "-P", "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *tests],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
