"""Compiles small programs with the Objective-C runtime and the Foundation of the stand-in, on Linux and with clang."""

import atexit
import functools
import os
import platform
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from metal import commands

METAL = Path(__file__).parent
COMPILER = os.environ.get("OBJCXX", "clang++-19")

RUNTIME = [METAL / "runtime" / f"{name}.cpp" for name in ("blocks", "classes", "exceptions", "image", "objects")]
ASSEMBLY = METAL / "runtime" / f"msgsend_{platform.machine()}.S"
FOUNDATION = [
    METAL / "stand_in" / name
    for name in (
        "NSData.mm", "NSError.mm", "NSNumber.mm", "NSObject.mm", "NSString.mm", "assertion.cpp", "collections.mm",
    )
]  # fmt: skip
OBJCXX = [
    "-fobjc-runtime=macosx-13.0", "-fblocks", "-fexceptions", "-fobjc-exceptions", "-isystem", METAL / "declarations",
    "-I", METAL / "stand_in",
]  # fmt: skip


def environment():
    """Without the sanitizer of the surrounding tests and its options: neither compiler nor program has that one."""
    own = ("LD_PRELOAD", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS")
    return {name: value for name, value in os.environ.items() if name not in own}


def run(*command):
    """Runs the compiler; the error holds what it printed."""
    commands.run(*command, env=environment())


def general_options(sanitizers):
    options = ["-std=c++20", "-O1", "-g", "-fno-omit-frame-pointer", "-w"]
    return [*options, f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all"] if sanitizers else options


def compile_object(source, output, sanitizers):
    language = []
    if source.suffix == ".mm":
        # The root class counts references by hand.
        language = [*OBJCXX, "-fno-objc-arc" if source.name == "NSObject.mm" else "-fobjc-arc"]
    elif source.suffix == ".cpp":
        language = ["-fno-strict-aliasing"]
    run(COMPILER, *general_options(sanitizers), *language, "-c", source, "-o", output)
    return output


@functools.cache
def library(sanitizers):
    """The objects of runtime and Foundation, compiled once a session."""
    directory = Path(tempfile.mkdtemp(prefix="mpsgraph_native_programs_"))
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    sources = [*RUNTIME, ASSEMBLY, *FOUNDATION]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(
            pool.map(lambda source: compile_object(source, directory / f"{source.name}.o", sanitizers), sources)
        )


def build(source, directory, sanitizers=""):
    """The program of one source."""
    objects = [compile_object(source, directory / "program.o", sanitizers), *library(sanitizers)]
    run(COMPILER, *general_options(sanitizers), *objects, "-pthread", "-o", directory / "program")
    return directory / "program"


def execute(program):
    return subprocess.run([program], capture_output=True, text=True, timeout=60, env=environment(), check=False)
