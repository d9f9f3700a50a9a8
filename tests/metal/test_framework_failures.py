"""What the mps engine does where Apple's frameworks give something else than they promise.

It runs on the stand-in, where any method can be made to give nil, to raise, or to do what another does.
"""

import importlib.util
import json
import logging
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
from mps_support import add, losses_expected, method_replaced, needs_stand_in, undisturbed  # noqa: F401  a fixture
from support import counting

import mpsgraph_native as mg
from mpsgraph_native._core import testing

pytestmark = [needs_stand_in, pytest.mark.usefixtures("undisturbed")]

ADDITION = "additionWithPrimaryTensor:secondaryTensor:name:"
GRU = "GRUWithSourceTensor:recurrentWeight:inputWeight:bias:initState:mask:secondaryBias:descriptor:name:"
COMPILE = "compileWithDevice:feeds:targetTensors:targetOperations:compilationDescriptor:"
LOAD = "initWithMPSGraphPackageAtURL:compilationDescriptor:"


def gru():
    return mg.gru(counting(2, 1, 6), recurrent_weight=counting(6, 2), descriptor=mg.GRUDescriptor(), device="mps")


def row_plus_column():
    return add(counting(1, 3), counting(3, 1))


@pytest.mark.parametrize(
    "selector, replacement, call, message",
    [
        (ADDITION, "standInNothing", row_plus_column, "addition: MPSGraph gives no result"),
        (
            ADDITION,
            "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:",
            row_plus_column,
            r"addition: MPSGraph infers a result of shape \(1, 1\) .*expected \(3, 3\)",
        ),
        (ADDITION, "equalWithPrimaryTensor:secondaryTensor:name:", row_plus_column, "infers a result .* and type"),
        (GRU, "standInNothing", gru, "gru: MPSGraph must give 1 results, got 0"),
        (COMPILE, "standInNothing", row_plus_column, "MPSGraph compiles no executable"),
        ("feedTensors", "targetTensors", row_plus_column, "a tensor of its own"),
        ("targetTensors", "standInNothing", row_plus_column, "has 0 results, expected 1"),
    ],
)
def test_compilations(selector, replacement, call, message):
    with method_replaced(selector, replacement), pytest.raises(mg.CompileError, match=message):
        call()
    assert isinstance(call(), np.ndarray)


@pytest.mark.parametrize(
    "selector, replacement, problem",
    [
        (LOAD, "standInNothing", "MPSGraph does not read it"),
        (LOAD, "noSuchMethod", "unrecognized selector"),
    ],
)
def test_kept_executables_that_cannot_be_loaded(tmp_path, caplog, selector, replacement, problem):
    mg.set_compiled_storage(tmp_path)
    row_plus_column()
    mg.clear_cache()
    with caplog.at_level(logging.WARNING), method_replaced(selector, replacement), losses_expected():
        np.testing.assert_array_equal(row_plus_column(), counting(1, 3) + counting(3, 1))
    assert problem in caplog.text


def test_a_kept_executable_that_takes_other_feeds(tmp_path, caplog):
    mg.set_compiled_storage(tmp_path)
    row_plus_column()
    mg.clear_cache()
    with (
        caplog.at_level(logging.WARNING),
        method_replaced("feedTensors", "targetTensors"),
        pytest.raises(mg.CompileError, match="of its own"),  # nor can it be compiled anew
    ):
        row_plus_column()
    assert "another number of feeds" in caplog.text


def test_executables_that_cannot_be_written(tmp_path, caplog):
    mg.set_compiled_storage(tmp_path)
    with (
        caplog.at_level(logging.WARNING),
        method_replaced("serializeToMPSGraphPackageAtURL:descriptor:", "noSuchMethod"),
    ):
        np.testing.assert_array_equal(row_plus_column(), counting(1, 3) + counting(3, 1))
    assert "executables are not kept" in caplog.text
    assert not list(tmp_path.iterdir())


DISCOVERY = """
    import ctypes, json, sys
    core = ctypes.CDLL(sys.argv[1])  # before the package looks for devices
    exec(sys.argv[2])
    import numpy as np, mpsgraph_native as mg
    device = next(device for device in mg.devices() if device.name == "mps")
    try:
        mg.addition(np.ones(3, np.float32), np.ones(3, np.float32), device="mps")
        error = None
    except mg.DeviceError as raised:
        error = str(raised)
    print(json.dumps([device.available, device.reason, device.description, error]))
"""


@pytest.mark.parametrize(
    "preparation, reason",
    [
        ("core.stand_in_set_device_present(0)", "Metal finds no device"),
        ("core.stand_in_replace_method(b'newCommandQueue', b'standInNothing')", "gives no command queue"),
        ("core.stand_in_replace_method(b'deviceWithMTLDevice:', b'standInNothing')", "gives no command queue"),
        ("core.stand_in_replace_method(b'newCommandQueue', b'noSuchMethod')", "unrecognized selector"),
    ],
)
def test_a_device_that_cannot_be_used(preparation, reason):
    environment = {name: value for name, value in os.environ.items() if name != "MPSGRAPH_NATIVE_ENGINE"}
    (place,) = importlib.util.find_spec("mpsgraph_native").submodule_search_locations
    (core,) = Path(place).rglob("libmpsgraph_native_core.so")
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(DISCOVERY), core, preparation],
        capture_output=True, text=True, timeout=120, check=True, env=environment,
    )  # fmt: skip
    available, given, description, error = json.loads(done.stdout)
    assert not available
    assert reason in given
    assert not description
    assert error is not None and "device mps is not available" in error and reason in error


@pytest.mark.parametrize("permutation", [(1, 0, 2), (2, 0, 1), (0, 1, 2), (2, 1, 0)])
def test_transposition_before_macos_13(permutation):
    testing.set_macos_version(12, 6)
    array = counting(2, 3, 4)
    with method_replaced("transposeTensor:permutation:name:", "noSuchMethod"):
        result = mg.transpose(array, permutation=permutation, device="mps")
    np.testing.assert_array_equal(result, array.transpose(permutation))


def test_what_a_strided_slice_would_need_in_between():
    """Zeros between and behind elements that lie two gigabytes apart."""
    graph = mg.Graph()
    gradient = graph.placeholder((2,), "float32", name="gradient")
    stride = (1 << 29) + 1
    target = graph.slice_gradient(
        gradient, fwd_in_shape=(stride + 1,), starts=(0,), ends=(stride + 1,), strides=(stride,)
    )
    with pytest.raises(mg.ShapeError, match="strides must keep what device mps holds in between"):
        graph.compile(feeds=[gradient], targets=[target], device="mps")


def pooling_gradient_of_constant(indices):
    graph = mg.Graph()
    gradient = graph.placeholder((1, 1, 1, 2), "float32", name="gradient")
    window = mg.Pooling2DDescriptor(
        kernel_height=2, kernel_width=2, stride_in_x=2, return_indices_mode="GlobalFlatten2D"
    )
    target = graph.max_pooling_2d_gradient(
        gradient,
        indices=graph.constant(np.array(indices, np.int32).reshape(1, 1, 1, 2)),
        output_shape=(1, 1, 2, 4),
        descriptor=window,
    )
    return graph.compile(feeds=[gradient], targets=[target], device="mps")


def test_indices_that_the_graph_holds():
    (result,) = pooling_gradient_of_constant([5, 2]).run([np.array([[[[3, 4]]]], np.float32)])
    np.testing.assert_array_equal(result, [[[[0, 0, 4, 0], [0, 3, 0, 0]]]])
    with pytest.raises(mg.ShapeError, match="indices must lie inside"):
        pooling_gradient_of_constant([5, 8])
