"""python -m mpsgraph_native, run from another directory."""

import json

import pytest

import mpsgraph_native as mg


def json_info(command, **keywords):
    done = command("info", "--json", **keywords)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_info(command):
    done = command("info")
    assert done.returncode == 0, done.stderr
    assert mg.__version__ in done.stdout
    assert "cpu" in done.stdout
    assert "ms beside NumPy" in done.stdout
    assert not done.stderr


def test_info_as_json(command):
    info = json_info(command)
    assert {"versions", "engines", "threads", "cache"} <= set(info)
    assert info["import_seconds"] > 0
    engines = {engine["name"]: engine for engine in info["engines"]}
    assert engines["cpu"]["available"] is True
    assert set(engines) == {device.name for device in mg.devices()}
    for engine in engines.values():
        assert {"name", "available", "reason"} <= set(engine)
        assert engine["available"] or engine["reason"]
    assert mg.__version__ in info["versions"].values()


def test_info_shows_the_environment(command):
    done = command("info", environment={"MPSGRAPH_NATIVE_THREADS": "3"})
    assert "MPSGRAPH_NATIVE_THREADS" in done.stdout


def test_demo(command, tmp_path):
    """The full demo reaches its accuracy, says which engine ran and leaves its pictures."""
    # On the stand-in of Apple's frameworks the whole demo would take many minutes.
    short = [] if mg.default_device().name == "cpu" else ["--short"]
    done = command("demo", "--output", str(tmp_path), *short)
    assert done.returncode == 0, done.stdout + done.stderr
    for word in (
        f"engine: {mg.default_device().name}",
        "convolutional network",
        "GRU classifier",
        "test accuracy",
        "executable cache",
    ):
        assert word in done.stdout
    for picture in ("learning_curves.png", "predictions.png"):
        assert (tmp_path / picture).stat().st_size > 10_000


@pytest.mark.parametrize("arguments", [("abacus",), ("info", "--yaml"), ()], ids=" ".join)
def test_unknown_commands(command, arguments):
    done = command(*arguments)
    assert done.returncode == 2
    assert "usage" in done.stderr
    assert "Traceback" not in done.stderr


def test_help(command):
    done = command("--help")
    assert done.returncode == 0
    for name in ("info", "cache", "demo", "verify"):
        assert name in done.stdout


@pytest.mark.parametrize("value", ["abc", "0", "-1", "3x"])
def test_bad_environment_is_named(command, value):
    done = command("info", environment={"MPSGRAPH_NATIVE_THREADS": value})
    assert done.returncode != 0
    assert "MPSGRAPH_NATIVE_THREADS" in done.stderr


def test_bench(command, tmp_path):
    """The comparison from the installed package: figures, picture, and its own options behind `--`."""
    folder = tmp_path / "bench"
    options = ("--threads", "1", "--rounds", "1", "--seconds", "0.001", "--peers", "torch", "--rows", "N1 8→8")
    done = command("bench", "--output", str(folder), "--", *options)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = json.loads((folder / "comparison.json").read_text())["runs"][0]["rows"]
    assert len(rows) == 6
    assert all(row["name"] in done.stdout for row in rows)
    assert (folder / "comparison.png").stat().st_size > 10_000


def test_bench_explains_its_own_options(command):
    done = command("bench", "--", "--help")
    assert done.returncode == 0
    assert "usage: mpsgraph-native bench" in done.stdout
    assert "--patience" in done.stdout


def test_bench_refuses_rows_that_do_not_exist(command, tmp_path):
    done = command("bench", "--output", str(tmp_path), "--", "--rows", "no such row")
    assert done.returncode == 2
    assert "no row's name" in done.stderr


@pytest.mark.parametrize("threads", ["0", "-1", "two", "100000"])
def test_bench_refuses_threads_that_it_cannot_have(command, tmp_path, threads):
    done = command("bench", "--output", str(tmp_path), "--", f"--threads={threads}")
    assert done.returncode == 2
    assert "--threads: from 1 to the" in done.stderr and repr(threads) in done.stderr


def test_bench_refuses_a_folder_that_cannot_be(command, tmp_path):
    (tmp_path / "file").touch()
    done = command("bench", "--output", str(tmp_path / "file" / "folder"))
    assert done.returncode == 2
    assert done.stderr.startswith("--output: ")
