"""The smoke test of wheels, against the package that is installed here."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from process_support import TIMEOUT
from wheels import founding

SMOKE = Path(__file__).with_name("smoke.py")


def test_the_stored_values_are_the_references():
    stored, referenced = founding.stored(), founding.referenced()
    assert stored.keys() == referenced.keys()
    for name, value in referenced.items():
        np.testing.assert_allclose(stored[name], value, rtol=1e-13, atol=1e-13, err_msg=name)


def test_every_founding_gradient_is_stored():
    names = {name.split(".")[0] for name in founding.stored()}
    assert names == {
        *("convolution_2d_data_gradient", "convolution_2d_weights_gradient"),
        *("depthwise_convolution_2d_data_gradient", "depthwise_convolution_2d_weights_gradient"),
        *("max_pooling_4d_gradient", "gru_gradients", "lstm_gradients", "single_gate_rnn_gradients"),
    }


def test_the_package_gives_them():
    founding.compare(founding.computed(), founding.stored())


@pytest.mark.parametrize("name", founding.stored())
def test_a_wrong_value_is_found(name):
    results = founding.stored()
    results[name] = results[name].copy()
    results[name].flat[-1] += 1e-3 * max(1, np.abs(results[name]).max())
    with pytest.raises(AssertionError, match=name):
        founding.compare(results, founding.stored())


def smoke(*arguments):
    environment = os.environ | {"MPSGRAPH_NATIVE_ENGINE": "cpu"}
    command = [sys.executable, "-P", SMOKE, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, env=environment)


def test_it_passes():
    done = smoke()
    assert done.returncode == 0, done.stderr


def test_it_fails_for_a_package_in_a_forbidden_place():
    done = smoke("--forbid", sys.prefix)
    assert done.returncode == 1
    assert "not from what was installed" in done.stderr


def test_it_fails_for_another_processor():
    done = smoke("--expect-instruction-set", "none")
    assert done.returncode == 1
