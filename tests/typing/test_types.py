"""The package's types as mypy and pyright see them: programs that are right, mistakes, the package, its stubs."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PROGRAMS = HERE / "programs"
REJECTED = PROGRAMS / "rejected.py"
ACCEPTED = sorted(set(PROGRAMS.glob("*.py")) - {REJECTED})

pytestmark = pytest.mark.types
MARK = re.compile(r"  # (type|pyright): ignore\[([\w, -]+)\]")


def python(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-P", *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=600, check=False
    )


def mypy(*arguments, cwd):
    """Elsewhere than in the checkout it sees the installed package, as a user's does."""
    return python("-m", "mypy", "--cache-dir", cwd / "mypy", "--no-error-summary", *arguments, cwd=cwd)


def pyright(folder, *, cwd):
    """What pyright finds in the programs of a folder; basedpyright is pyright in a wheel that brings its Node.js."""
    settings = json.loads((HERE / "pyrightconfig.json").read_text()) | {"include": [str(folder)]}
    project = cwd / "pyrightconfig.json"
    project.write_text(json.dumps(settings))
    done = python("-m", "basedpyright", "--outputjson", "-p", project, "--pythonpath", sys.executable, cwd=cwd)
    document = json.loads(done.stdout)
    assert document["summary"]["filesAnalyzed"] == len(list(folder.glob("*.py"))), done.stderr
    return [entry for entry in document["generalDiagnostics"] if entry["severity"] in ("error", "warning")]


def marked(checker):
    """The errors that the marks in rejected.py announce, by line."""
    found = {}
    for number, line in enumerate(REJECTED.read_text().splitlines(), 1):
        for which, codes in MARK.findall(line):
            if which == checker:
                found[number] = set(codes.split(", "))
    return found


@pytest.fixture
def unmarked(tmp_path):
    """A folder with rejected.py without its marks."""
    folder = tmp_path / "unmarked"
    folder.mkdir()
    (folder / REJECTED.name).write_text(MARK.sub("", REJECTED.read_text()))
    return folder


@pytest.mark.parametrize("program", ACCEPTED, ids=lambda path: path.stem)
def test_programs_run(program, tmp_path):
    done = python("-W", "error", program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_mypy_accepts_the_programs(tmp_path):
    # mypy takes a quarter of a minute to read torch; pyright looks at that one as well.
    done = mypy("--strict", *(program for program in ACCEPTED if program.name != "peers.py"), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_finds_each_mistake(tmp_path, unmarked):
    done = mypy("--strict", "--hide-error-context", unmarked / REJECTED.name, cwd=tmp_path)
    found = {}
    for line, code in re.findall(r"^\S+\.py:(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE):
        found.setdefault(int(line), set()).add(code)
    assert found == marked("type")


def test_pyright_accepts_the_programs(tmp_path):
    assert pyright(PROGRAMS, cwd=tmp_path) == []


def test_pyright_finds_each_mistake(tmp_path, unmarked):
    found = {}
    for entry in pyright(unmarked, cwd=tmp_path):
        found.setdefault(entry["range"]["start"]["line"] + 1, set()).add(entry["rule"])
    assert found == marked("pyright")


def test_there_are_mistakes_of_every_kind():
    assert len(marked("type")) == len(marked("pyright")) > 50


def test_mypy_accepts_the_package(tmp_path):
    done = mypy("--config-file", ROOT / "pyproject.toml", ROOT / "mpsgraph_native", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def stubtest(module, *, cwd):
    return python(
        "-m", "mypy.stubtest", module, "--concise", "--mypy-config-file", ROOT / "pyproject.toml",
        "--allowlist", HERE / "stubtest_allowlist.txt", "--ignore-unused-allowlist", cwd=cwd,
    )  # fmt: skip


def test_stubs_say_what_the_modules_are(tmp_path):
    done = stubtest("mpsgraph_native", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_stub_that_is_wrong_is_found(tmp_path, monkeypatch):
    copy = tmp_path / "stubs" / "mpsgraph_native"
    shutil.copytree(ROOT / "mpsgraph_native", copy, ignore=shutil.ignore_patterns("*.pyx", "*.pxd", "__pycache__"))
    stub = copy / "_core" / "device.pyi"
    text = stub.read_text()
    stub.write_text(text.replace("set_num_threads(count: SupportsIndex)", "set_num_threads(threads: SupportsIndex)"))
    assert stub.read_text() != text
    monkeypatch.setenv("MYPYPATH", str(copy.parent))
    done = stubtest("mpsgraph_native._core.device", cwd=tmp_path)
    assert done.returncode == 1
    (line,) = done.stdout.splitlines()
    assert "device.set_num_threads" in line and '"threads"' in line
