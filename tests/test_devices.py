"""Devices: what this machine has, and why it lacks the rest."""

import numpy as np
import pytest
from support import counting, names

import mpsgraph_native as mg

UNKNOWN = (ValueError, mg.DeviceError)


def by_name(name):
    return next((device for device in mg.devices() if device.name == name), None)


def metal_is_missing():
    metal = by_name("mps")
    return metal is None or not metal.available


without_metal = pytest.mark.skipif(not metal_is_missing(), reason="this machine has Metal")


@pytest.fixture(autouse=True)
def same_default():
    before = mg.default_device()
    yield
    mg.set_default_device(before)


def test_the_cpu_is_always_there():
    cpu = by_name("cpu")
    assert cpu is not None
    assert cpu.available
    assert not cpu.reason


def test_every_device_says_why_it_is_missing():
    for device in mg.devices():
        assert isinstance(device.name, str)
        assert isinstance(device.available, bool)
        assert device.available or device.reason
        assert device.name in repr(device)


def test_names_are_unique():
    found = [device.name for device in mg.devices()]
    assert len(set(found)) == len(found)


def test_the_default_is_available():
    assert mg.default_device().available


def test_setting_the_default():
    mg.set_default_device("cpu")
    assert mg.default_device().name == "cpu"
    assert "cpu" in str(mg.empty((1,), "float32").device)


@pytest.mark.parametrize("given", ["abacus", "", "CPU0"])
def test_unknown_names(given):
    before = mg.default_device().name
    with pytest.raises(UNKNOWN, match=names("device")):
        mg.set_default_device(given)
    assert mg.default_device().name == before
    with pytest.raises(UNKNOWN, match=names("device")):
        mg.addition(counting(3), counting(3), device=given)


@pytest.mark.parametrize("given", [3, 1.5, b"cpu"])
def test_devices_are_names(given):
    with pytest.raises((TypeError, ValueError), match=names("device")):
        mg.addition(counting(3), counting(3), device=given)


def test_the_message_says_what_there_is():
    with pytest.raises(UNKNOWN, match=names("cpu")):
        mg.set_default_device("abacus")


@without_metal
def test_metal_is_listed_with_its_reason():
    metal = by_name("mps")
    assert metal is not None
    assert not metal.available
    assert metal.reason


@without_metal
@pytest.mark.parametrize("use", ["call", "default", "compile", "empty"])
def test_metal_on_a_machine_without(use):
    """actions/runner-images#1779, pytorch/executorch#6746: no device is an exception with the reason, no crash."""
    graph = mg.Graph()
    x = graph.placeholder((3,), "float32", name="x")
    target = graph.square(x)
    actions = {
        "call": lambda: mg.addition(counting(3), counting(3), device="mps"),
        "default": lambda: mg.set_default_device("mps"),
        "compile": lambda: graph.compile(feeds=[x], targets=[target], device="mps"),
        "empty": lambda: mg.empty((3,), "float32", device="mps"),
    }
    with pytest.raises(mg.DeviceError) as caught:
        actions[use]()
    assert by_name("mps").reason in str(caught.value)


@without_metal
def test_without_a_device_the_cpu_computes():
    mg.set_default_device("cpu")
    for device in (None, "cpu"):
        np.testing.assert_array_equal(mg.addition(counting(3), counting(3), device=device), 2 * counting(3))


def test_errors_have_one_family():
    for error, builtin in (
        (mg.ShapeError, ValueError), (mg.DTypeError, TypeError), (mg.DeviceError, RuntimeError),
        (mg.CompileError, RuntimeError),
    ):  # fmt: skip
        assert issubclass(error, mg.MPSGraphError)
        assert issubclass(error, builtin)


def test_instruction_set_can_be_chosen():
    available, before = mg.instruction_sets()
    source = np.linspace(-3, 3, 101, dtype=np.float32)
    try:
        for name in available:
            mg.set_instruction_set(name)
            assert mg.instruction_sets()[1] == name
            np.testing.assert_allclose(mg.tanh(source), np.tanh(source.astype(np.float64)), rtol=1e-6)
        with pytest.raises(mg.DeviceError, match=names("name")):
            mg.set_instruction_set("mmx")
    finally:
        mg.set_instruction_set(before)
