"""mpsgraph-native verify: its report, its exit status, and that it notices what is wrong."""

import inspect
import itertools
import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
from support import dtype

import mpsgraph_native as mg
from mpsgraph_native import ops
from mpsgraph_native.__main__ import main
from mpsgraph_native.verify import report
from mpsgraph_native.verify.check import compare, refusal
from mpsgraph_native.verify.probes import PROBES
from mpsgraph_native.verify.probes.probe import agree
from mpsgraph_native.verify.reference import Expected, elementwise
from mpsgraph_native.verify.table import cases
from mpsgraph_native.verify.tolerance import FLOAT_DTYPES, relative_errors, ulp_errors

OPERATIONS = {name for name in ops.__all__ if inspect.isfunction(getattr(mg, name))}
ENGINES = [device.name for device in mg.devices() if device.available]
PROBE_KEYS = {
    "engine",
    "name",
    "question",
    "answers",
    "documented",
    "promised",
    "value",
    "answer",
    "passed",
    "message",
    "needs_macos",
}
ROW_KEYS = {
    "engine", "operation", "case", "dtype", "passed", "max_error_ulp", "max_error_relative_to_tolerance",
    "seconds_per_call", "message", "needs_macos",
}  # fmt: skip
HEAD_KEYS = {
    "schema",
    "schema_version",
    "quick",
    "versions",
    "operating_system",
    "machine",
    "threads",
    "engines",
    "scope",
}


def refuse_constant(text):
    raise AssertionError(f"{text} is not JSON")


def read(path):
    return json.loads(path.read_text(), parse_constant=refuse_constant)


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """(finished process, report, seconds) of a quick run from another folder."""
    folder = tmp_path_factory.mktemp("verify")
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "mpsgraph_native", "verify", "--quick", "--json", "report.json"],
        capture_output=True, text=True, timeout=300, check=False, cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    return done, read(folder / "report.json"), time.perf_counter() - start


def run(tmp_path, *arguments):
    """(exit status, report) of a quick run in this process."""
    path = tmp_path / "report.json"
    status = main(["verify", "--quick", "--device", "cpu", "--json", str(path), *arguments])
    return status, read(path)


def test_the_report(quick):
    _, whole, _ = quick
    assert set(whole) == HEAD_KEYS | {"skipped", "rows", "probes", "summary", "passed"}
    assert (whole["schema"], whole["schema_version"], whole["quick"]) == ("mpsgraph_native.verify", 2, True)
    assert whole["passed"] is True
    assert {engine["name"] for engine in whole["engines"]} == {device.name for device in mg.devices()}
    assert [engine["name"] for engine in whole["engines"] if engine["ran"]] == ENGINES
    assert all(set(row) == ROW_KEYS and row["passed"] for row in whole["rows"])
    assert all(set(entry) == PROBE_KEYS for entry in whole["probes"])
    assert [entry["engine"] for entry in whole["summary"]] == ENGINES
    for row in whole["rows"]:
        assert row["max_error_relative_to_tolerance"] <= 1 and row["seconds_per_call"] > 0 and not row["message"]


def test_every_operation_appears(quick):
    _, whole, _ = quick
    for engine in ENGINES:
        assert {row["operation"] for row in whole["rows"] if row["engine"] == engine} == OPERATIONS


def test_every_dtype_appears(quick):
    _, whole, _ = quick
    for engine in ENGINES:
        tested = {row["dtype"] for row in whole["rows"] if row["engine"] == engine}
        skipped = {entry["dtype"] for entry in whole["skipped"] if entry["engine"] == engine}
        assert tested | skipped == {*FLOAT_DTYPES, "int32"} and not tested & skipped


def test_questions_are_answered_as_documented(quick):
    _, whole, _ = quick
    answers = {entry["name"]: entry for entry in whole["probes"] if entry["engine"] == "cpu"}
    assert set(answers) == {probe.name for probe in PROBES}
    for name, entry in answers.items():
        assert entry["answer"] == entry["documented"] == entry["answers"][0]["answer"], name
    assert answers["gru_flip_z_off"]["answer"].startswith("z: h = z∘h⁻")
    assert answers["max_pooling_empty_window"]["value"] == [-1.0, -3.0, "-inf"]


def test_the_text_says_what_ran_and_what_follows(quick):
    done, whole, seconds = quick
    head = done.stdout.split("\n\n")[0]
    for engine in whole["engines"]:
        assert (
            f"engine {engine['name']}: {'ran: ' + engine['description'] if engine['ran'] else 'not available'}" in head
        )
    assert whole["operating_system"] in head
    if not any(engine["apple_hardware"] for engine in whole["engines"]):
        assert "Nothing about Apple hardware follows" in head
    assert done.stdout.splitlines()[-1].startswith(f"{ENGINES[-1]}: passed; ")
    assert not done.stderr
    assert seconds < 60 or ENGINES != ["cpu"]


def test_the_full_table_has_more_of_the_same_operations():
    table, short = list(cases()), list(cases(quick=True))
    assert {case.operation for case in table} == {case.operation for case in short} == OPERATIONS
    assert len(table) > 2 * len(short)
    assert len({(case.operation, case.name) for case in table}) == len(table)


def test_names_and_answers_of_questions_differ():
    assert len({probe.name for probe in PROBES}) == len(PROBES)
    for probe in PROBES:
        for one, other in itertools.combinations(probe.answers.values(), 2):
            assert not agree(one, other), probe.name


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda result: result + np.float32(1e-3).astype(result.dtype), "of the tolerance"),
        (lambda result: result * np.asarray(np.nan, result.dtype), "of the tolerance"),
        (lambda result: result.ravel(), "expected float32 (3, 5), got float32 (15,)"),
        (lambda result: result.astype(np.float32), "expected float64 (3, 5), got float32 (3, 5)"),
        (lambda result: (result, result), "expected 1 results, got 2"),
        (lambda result: 1 // 0, "ZeroDivisionError"),
    ],
    ids=["value", "NaN", "shape", "dtype", "count", "exception"],
)
def test_a_wrong_result_fails(wrong, message, monkeypatch, tmp_path, capsys):
    right = mg.tanh
    monkeypatch.setattr(mg, "tanh", lambda *arguments, **keywords: wrong(right(*arguments, **keywords)))
    status, whole = run(tmp_path)
    failed = [row for row in whole["rows"] if not row["passed"]]
    assert status == 1 and whole["passed"] is False
    assert {row["operation"] for row in failed} == {"tanh"}
    assert any(message in row["message"] for row in failed)
    assert (
        f"FAILED: cpu tanh, {failed[0]['case']}, {failed[0]['dtype']}: {failed[0]['message']}"
        in capsys.readouterr().out
    )
    assert whole["summary"][0]["rows_failed"] == len(failed)


def test_a_wrong_reference_fails(monkeypatch, tmp_path):
    monkeypatch.setitem(elementwise.FUNCTIONS, "square", np.abs)
    status, whole = run(tmp_path)
    assert status == 1
    assert {row["operation"] for row in whole["rows"] if not row["passed"]} == {"square"}


def test_another_answer_than_the_documented_one_fails(monkeypatch, tmp_path, capsys):
    """Maxima that skip NaN."""
    right = mg.max_pooling_2d

    def skip(source, **keywords):
        return right(np.nan_to_num(source, nan=-np.inf, neginf=-np.inf, posinf=np.inf), **keywords)

    monkeypatch.setattr(mg, "max_pooling_2d", skip)
    status, whole = run(tmp_path)
    failed = [entry for entry in whole["probes"] if not entry["passed"]]
    assert status == 1
    assert [(entry["name"], entry["answer"]) for entry in failed] == [("max_pooling_nan", "the largest number")]
    assert "FAILED: cpu max_pooling_nan: documented 'NaN', came out 'the largest number'" in capsys.readouterr().out


def test_a_question_that_raises_fails(monkeypatch, tmp_path):
    def broken(*arguments, **keywords):
        raise RuntimeError("lost")

    monkeypatch.setattr(mg, "l2_norm_pooling_4d", broken)
    status, whole = run(tmp_path)
    failed = {entry["name"]: entry["message"] for entry in whole["probes"] if not entry["passed"]}
    assert status == 1 and failed == {"l2_norm_pooling_count": "RuntimeError: lost"}


@pytest.mark.parametrize(
    ("refusal", "needs"),
    [
        ("tanh: device mps needs macOS 27.1 or newer for tanhWithTensor:name:, got macOS 26.0", "27.1"),
        ("tanh: tensor must not be large on device mps before macOS 27.0, got float32 of shape (3, 5)", "27.0"),
        ("device mps: the command buffer failed: macOS 26.0 is tired", None),
        ("device mps is not available", None),
    ],
)
def test_what_needs_a_newer_macos_is_counted_apart(refusal, needs, monkeypatch, tmp_path, capsys):
    def refuse(*arguments, **keywords):
        raise mg.DeviceError(refusal)

    for operation in ("tanh", "l2_norm_pooling_4d"):
        monkeypatch.setattr(mg, operation, refuse)
    status, whole = run(tmp_path)
    rows = [row for row in whole["rows"] if row["passed"] is not True]
    probes = [probe for probe in whole["probes"] if probe["passed"] is not True]
    assert {row["operation"] for row in rows} == {"tanh", "l2_norm_pooling_4d"}
    assert [probe["name"] for probe in probes] == ["l2_norm_pooling_count"]
    for entry in (*rows, *probes):
        assert entry["needs_macos"] == needs and refusal in entry["message"]
        assert entry["passed"] is (None if needs else False)
    counts = {key: whole["summary"][0][key] for key in ("rows_failed", "rows_not_available")}
    text = capsys.readouterr().out
    if needs:
        assert status == 0 and whole["passed"] is True and whole["summary"][0]["passed"] is True
        assert counts == {"rows_failed": 0, "rows_not_available": len(rows)}
        assert whole["summary"][0]["probes_not_available"] == 1 and whole["summary"][0]["probes_failed"] == 0
        assert text.count(f"not available (needs macOS {needs})") == len(rows) + 1
        assert f"0 failed, {len(rows)} not available on this macOS;" in text.splitlines()[-1]
        assert "FAILED" not in text
    else:
        assert status == 1 and whole["passed"] is False
        assert counts == {"rows_failed": len(rows), "rows_not_available": 0}


def test_only_a_refusal_of_the_device_is_no_failure(monkeypatch, tmp_path):
    def refuse(*arguments, **keywords):
        raise mg.CompileError("tanh: device mps needs macOS 27.1 or newer")

    monkeypatch.setattr(mg, "tanh", refuse)
    status, whole = run(tmp_path)
    assert status == 1
    assert all(row["passed"] is False for row in whole["rows"] if row["operation"] == "tanh")


def test_without_ml_dtypes_bfloat16_is_skipped(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    status, whole = run(tmp_path)
    assert status == 0
    assert whole["skipped"] == [{"engine": "cpu", "dtype": "bfloat16", "reason": "ml_dtypes is not installed"}]
    assert all(row["dtype"] != "bfloat16" for row in whole["rows"])


def test_a_dtype_that_an_engine_lacks_is_skipped_but_never_float32(monkeypatch):
    def refuse(*arguments, **keywords):
        raise mg.DTypeError("addition: primary must be float32")

    monkeypatch.setattr(mg, "addition", refuse)
    assert refusal("float64", "cpu") == "addition: primary must be float32"
    assert refusal("float32", "cpu") is None


@pytest.mark.parametrize(
    "arguments",
    [("--device", "abacus"), ("--json", "no/such/folder/report.json"), ("--fast",), ("--json",)],
    ids=" ".join,
)
def test_unusable_arguments(arguments, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        status = main(["verify", *arguments])
    except SystemExit as end:
        status = end.code
    assert status == 2
    message = capsys.readouterr()
    assert arguments[0] in message.err and not message.out


def test_an_engine_that_is_not_available_is_no_use(capsys):
    missing = [device for device in mg.devices() if not device.available]
    for device in missing:
        assert main(["verify", "--device", device.name]) == 2
        assert device.reason in capsys.readouterr().err


def test_a_terminal_without_greek_letters_is_enough(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "mpsgraph_native", "verify", "--quick", "--device", "cpu"], capture_output=True,
        timeout=300, check=False, cwd=tmp_path, env=os.environ | {"PYTHONIOENCODING": "ascii"},
    )  # fmt: skip
    assert done.returncode == 0 and not done.stderr
    assert done.stdout.isascii()


def test_only_metal_on_a_mac_is_apple_hardware(monkeypatch):
    metal = {"name": "mps", "description": "Apple M4"}
    assert not report.on_apple_hardware(metal) or sys.platform == "darwin"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert report.on_apple_hardware(metal)
    assert not report.on_apple_hardware({"name": "mps", "description": "stand-in of Apple's frameworks"})
    assert not report.on_apple_hardware({"name": "cpu", "description": "Apple M4"})


def test_the_package_does_not_import_it():
    code = "import sys, mpsgraph_native; print(any('verify' in name for name in sys.modules))"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize("name", FLOAT_DTYPES)
def test_units_in_the_last_place(name):
    one = np.ones(1, dtype(name))
    step = one + np.asarray(2.0 ** -{"float32": 23, "float64": 52, "float16": 10, "bfloat16": 7}[name], one.dtype)
    assert ulp_errors(step, [1.0]) == 1
    assert ulp_errors(one, [2.0]) == 1 / float(step[0] - one[0]) / 2
    special = np.array([np.nan, np.inf, -np.inf, 0]).astype(one.dtype)
    np.testing.assert_array_equal(ulp_errors(special, [np.nan, np.inf, np.inf, 0]), [0, 0, np.inf, 0])
    errors = relative_errors(special, [np.nan, np.inf, np.inf, 0], 1.0, 1)
    np.testing.assert_array_equal(errors, [0, 0, np.inf, 0])


def test_exact_results_are_compared_exactly():
    value = np.array([1.0, np.nan, -np.inf])
    assert compare(value.astype(np.float32), (Expected(value),), "float32") == (0, 0)
    near = np.nextafter(value.astype(np.float32), np.float32(2))
    assert compare(near, (Expected(value),), "float32")[1] == np.inf
    assert compare(np.int32([3]), (Expected(np.int32([5])),), "int32") == (2, np.inf)
