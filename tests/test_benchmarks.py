"""The benchmark programs on their smallest rows: what they write, and the figures in it. Nothing here judges a speed."""

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent
BENCHMARKS = ROOT / "benchmarks"
QUICK = ("--threads", "1", "--rounds", "1", "--seconds", "0.001")
WITH_TORCH = importlib.util.find_spec("torch") is not None


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """The programs' own modules, found from the test as they are from a program."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))


def run(program, *arguments, folder, status=0):
    done = subprocess.run(
        [sys.executable, str(BENCHMARKS / program), *map(str, arguments)], capture_output=True, text=True, timeout=120,
        check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == status, done.stdout + done.stderr
    return done


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    """The output and the JSON of every family's smallest rows, beside torch alone."""
    folder = tmp_path_factory.mktemp("comparison")
    # A peer that is not installed is left out with a note, so that torch may be named anyway.
    done = run("compare.py", *QUICK, "--rows", "N1 ", "--peers", "torch", "--json", "found.json", folder=folder)
    return done.stdout, json.loads((folder / "found.json").read_text()), folder / "found.json"


def test_comparison_is_complete(comparison):
    output, document, _ = comparison
    assert document["format"] == 1
    assert {"date", "cpu", "processors", "busy", "system", "versions"} <= set(document["machine"])
    assert {"mpsgraph-native", "numpy", "python"} <= set(document["machine"]["versions"])
    assert document["settings"]["rounds"] == 1
    (found,) = document["runs"]
    assert found["threads"] == 1
    assert found["peers"] == (["torch"] if WITH_TORCH else [])
    assert bool(found["notes"]) == (not WITH_TORCH or not found["limits"])
    assert {row["family"] for row in found["rows"]} == {
        "convolution", "depthwise_convolution", "pooling", "recurrent"
    }  # fmt: skip
    assert len(found["rows"]) == 6 + 6 + 4 + 6
    for row in found["rows"]:
        assert row["name"] in output
        assert row["scratch_bytes"] > 0
        assert row["bytes"] > 0
        assert row["unit"] in ("GFLOP/s", "GB/s")
        for spread in row["seconds"].values():
            assert 0 < spread["fastest"] <= spread["median"] <= spread["slowest"]
            assert spread["rounds"] == 1


def test_comparison_checks_the_peers(comparison):
    rows = comparison[1]["runs"][0]["rows"]
    for row in rows:
        assert row["wrong"] == []
        if WITH_TORCH:
            assert row["differences"]["torch"] < 1e-4
            assert set(row["differences"]) == set(row["seconds"]) - {"ours"}
    if WITH_TORCH:
        # Sums in another order: had nothing been compared, every difference would be zero.
        assert any(row["differences"]["torch"] > 0 for row in rows)


def test_figures_follow_from_the_medians(comparison):
    (found,) = comparison[1]["runs"]
    for row in found["rows"]:
        medians = {name: spread["median"] for name, spread in row["seconds"].items()}
        ours = medians.pop("ours")
        work = row["bytes"] if row["unit"] == "GB/s" else row["flops"]
        assert row["rate"] == pytest.approx(work / ours / 1e9)
        assert (row["share"] is None) == (not found["limits"])
        if WITH_TORCH:
            assert row["ratio"] == pytest.approx(min(medians.values()) / ours)
            assert row["ratio_to_torch"] == pytest.approx(medians["torch"] / ours)
        else:
            assert row["ratio"] is None
    means = found["geometric_means"]["all gradients"]
    ratios = [row["ratio"] for row in found["rows"] if row["gradient"] and row["ratio"]]
    assert means["ratio_rows"] == len(ratios) == (13 if WITH_TORCH else 0)
    if ratios:
        assert means["ratio"] == pytest.approx(math.exp(sum(map(math.log, ratios)) / len(ratios)))


def test_markdown_is_made_from_the_json(comparison, tmp_path):
    _, document, source = comparison
    page = tmp_path / "page.md"
    page.write_text("# Mine\n<!-- begin comparison -->\nold\n<!-- end comparison -->\nkept\n"
                    "<!-- begin losses -->\n<!-- end losses -->\n")  # fmt: skip
    for _ in range(2):
        run("compare.py", "--from", source, "--markdown", page, folder=tmp_path)
    text = page.read_text()
    assert text.startswith("# Mine\n<!-- begin comparison -->\n")
    assert "\nkept\n" in text
    assert "old" not in text
    tables, losses = text.split("kept")
    for row in document["runs"][0]["rows"]:
        assert tables.count(row["name"]) == 1
        assert (row["name"] in losses) == (row["ratio"] is not None and row["ratio"] < 1)


def test_a_page_without_the_section_is_refused(comparison, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Mine\n")
    done = run("compare.py", "--from", comparison[2], "--markdown", page, folder=tmp_path, status=1)
    assert "<!-- begin comparison -->" in done.stderr
    assert page.read_text() == "# Mine\n"


def test_the_performance_page_has_every_section():
    text = (ROOT / "docs" / "performance.md").read_text()
    for name in ("comparison", "losses", "scaling over threads", "scaling over sizes", "call overhead"):
        assert text.count(f"<!-- begin {name} -->") == text.count(f"<!-- end {name} -->") == 1


@pytest.mark.skipif(not WITH_TORCH, reason="torch is not installed: there is no ratio to draw")
def test_picture(comparison, tmp_path):
    pytest.importorskip("matplotlib")
    run("compare.py", "--from", comparison[2], "--plot", "ratios.png", folder=tmp_path)
    assert (tmp_path / "ratios.png").read_bytes().startswith(b"\x89PNG")


def test_wrong_results_end_with_status_1(comparison, tmp_path):
    document = json.loads(comparison[2].read_text())
    row = document["runs"][0]["rows"][3]
    row["wrong"] = ["torch"]
    (tmp_path / "found.json").write_text(json.dumps(document))
    done = run("compare.py", "--from", "found.json", folder=tmp_path, status=1)
    assert row["name"] in done.stderr


def test_no_row_has_that_name(tmp_path):
    assert "abacus" in run("compare.py", "--rows", "abacus", folder=tmp_path, status=2).stderr


def test_differences():
    from measuring.timing import difference

    ours = {"source": np.array([1.0, -4.0]), "bias": np.zeros(2)}
    assert difference(ours, {"source": np.array([1.5, -4.0])}) == 0.125
    assert difference(ours, {"bias": np.array([0.0, 0.5])}) == 0.5
    assert difference(ours, {"source": np.array([np.nan, -4.0])}) == math.inf
    with pytest.raises(ValueError, match="shape"):
        difference(ours, {"source": np.zeros((1, 2))})
    with pytest.raises(KeyError, match="weights"):
        difference(ours, {"weights": np.zeros(2)})
    with pytest.raises(KeyError):
        difference(ours, {})


def test_shares_of_the_limits():
    """Ten operations a byte on a machine that does five in the time of a byte: the operations bound."""
    from reporting.figures import derived

    row = {
        "unit": "GB/s", "flops": 10e9, "bytes": 1e9, "limits": {"multiply_add": 50e9, "triad": 10e9},
        "seconds": {"ours": {"median": 0.4}, "torch": {"median": 0.6}, "jax": {"median": 0.3}},
    }  # fmt: skip
    figures = derived(row)
    assert figures == {
        "rate": pytest.approx(2.5), "bound": "compute", "share": pytest.approx(0.5), "best_peer": "jax",
        "ratio": pytest.approx(0.75), "ratio_to_torch": pytest.approx(1.5),
    }  # fmt: skip
    assert derived(row | {"flops": 4e9})["bound"] == "memory"
    assert derived(row | {"flops": 4e9})["share"] == pytest.approx(0.25)


def test_operations_and_bytes_are_counted():
    from rows import ConvolutionRow, PoolingRow, RecurrentRow

    convolution = ConvolutionRow("weights_gradient", "NHWC", 2, 3, 5, 8, 3, 2)
    assert convolution.flops == 2 * (2 * 5 * 4 * 4) * 3 * 3 * 3
    assert convolution.bytes == 4 * (2 * 3 * 8 * 8 + 5 * 3 * 3 * 3 + 2 * 5 * 4 * 4)
    depthwise = ConvolutionRow("forward", "NCHW", 2, 6, 6, 8, 3, 1, depthwise=True)
    assert depthwise.flops == 2 * (2 * 6 * 8 * 8) * 9
    assert depthwise.bytes == 4 * (2 * (2 * 6 * 8 * 8) + 6 * 9)
    assert PoolingRow(True, "NCHW", 2, 3, 9, 3, 2, 1).bytes == 4 * (2 * 3 * 81 + 2 * (2 * 3 * 25))
    gru = RecurrentRow("gru", True, 7, 2, 5, 4, 2)
    assert gru.flops == 3 * 2 * 7 * 2 * 2 * (3 * 4) * (5 + 4)


def test_a_busy_machine_is_named():
    from measuring.machine import describe
    from reporting import markdown, text

    machine = describe()
    assert 0 <= machine["busy"] <= 1
    for lines in (text.machine_lines, markdown.machine_lines):
        assert "other work" not in "".join(lines(machine | {"busy": 0.1}))
        assert "took 60% of" in "".join(lines(machine | {"busy": 0.6}))


def test_exponents():
    from scaling_sizes import exponent

    work = np.array([1.0, 2.0, 8.0, 64.0])
    assert exponent(work, 3 * work**1.5) == pytest.approx(1.5)


def test_scaling_over_threads(tmp_path):
    run("scaling_threads.py", *QUICK, "--rows", "gru forward T50", "--json", "found.json", "--markdown", "page.md",
        folder=tmp_path)  # fmt: skip
    (found,) = json.loads((tmp_path / "found.json").read_text())["runs"]
    assert found["threads"] == 1
    (row,) = found["rows"]
    assert row["name"] in (tmp_path / "page.md").read_text()


def test_scaling_over_sizes(tmp_path):
    done = run("scaling_sizes.py", *QUICK, "--series", "pooling", "--json", "found.json", "--markdown", "page.md",
               folder=tmp_path)  # fmt: skip
    series = json.loads((tmp_path / "found.json").read_text())["series"]
    assert [found["axis"] for found in series] == ["N", "channels", "image side"]
    for found in series:
        assert len(found["work"]) == len(found["seconds"]) == len(found["values"])
        assert found["work"] == sorted(found["work"])
        assert f"{found['exponent']:.2f}" in done.stdout


STAGES = {"empty", "python", "arguments", "look-up", "places", "lock", "engine", "results", "whole", "torch"}


def test_call_overhead(tmp_path):
    done = run("call_overhead.py", "--rounds", "1", "--seconds", "0.0005", "--json", "found.json", "--markdown", "page.md",
               folder=tmp_path)  # fmt: skip
    rows = json.loads((tmp_path / "found.json").read_text())["run"]["rows"]
    operations = {
        *(f"{kind}convolution_2d_{of}_gradient" for kind in ("", "depthwise_") for of in ("data", "weights")),
        "max_pooling_2d_gradient",
        *(f"{cell} gradients" for cell in ("gru", "lstm", "single_gate_rnn")),
    }
    assert {row["operation"] for row in rows} == operations
    page = (tmp_path / "page.md").read_text()
    for row in rows:
        assert row["name"] in done.stdout and page.count(row["name"]) == 1
        assert row["wrong"] == []
        assert set(row["nanoseconds"]) == STAGES
        assert (row["nanoseconds"]["torch"] is not None) == WITH_TORCH
    assert "abacus" in run("call_overhead.py", "--rows", "abacus", folder=tmp_path, status=2).stderr


def test_wrong_results_of_a_call_end_with_status_1(tmp_path):
    spent = dict.fromkeys(STAGES, 1.0)
    row = {"name": "one", "wrong": ["torch"], "nanoseconds": spent}
    machine = {"date": "2026-12-01", "cpu": "", "processors": 1, "system": "", "versions": {}, "busy": 0}
    document = {"format": 1, "machine": machine, "settings": {"rounds": 1}, "run": {"notes": [], "rows": [row]}}
    (tmp_path / "found.json").write_text(json.dumps(document))
    assert "one" in run("call_overhead.py", "--from", "found.json", folder=tmp_path, status=1).stderr


def test_stages_add_up_to_the_whole():
    from measuring.stages import by_stage

    ends = {"arguments": 10.0, "look-up": 15.0, "places": 35.0, "run": 100.0, "results": 108.0}
    found = by_stage({"empty": 3.0, **ends, "engine": 60.0, "whole": 150.0})
    assert found == {
        "empty": 3.0, "python": 42.0, "arguments": 10.0, "look-up": 5.0, "places": 20.0, "lock": 5.0, "engine": 60.0,
        "results": 8.0, "whole": 150.0, "torch": None,
    }  # fmt: skip
    parts = STAGES - {"empty", "whole", "torch"}
    assert sum(found[name] for name in parts) == found["whole"]


def test_a_recurrent_row_of_gradients_alone():
    from rows import RecurrentRow

    both, alone = (RecurrentRow("gru", True, 3, 2, 4, 5, 1, forward=forward) for forward in (True, False))
    assert (both.operation, alone.operation) == ("gru forward + gradients", "gru gradients")
    assert 3 * alone.flops == 2 * both.flops
    arrays = alone.arrays()
    expected = both.ours(arrays)
    given = alone.ours(arrays)
    expected, given = expected.results(expected.call()), given.results(given.call())
    assert expected.keys() == given.keys()
    for name in expected:
        np.testing.assert_array_equal(given[name], expected[name])
