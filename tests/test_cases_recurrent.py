"""Public reports about recurrent operations: see `cases/recurrent.py` for the numbers."""

import os
from pathlib import Path

import numpy as np
import pytest
from cases import recurrent as table
from cases.recurrent_sweep import GRU, full
from support import WIDEST, names

import mpsgraph_native as mg

MEGABYTE = 1 << 20


def operands(case):
    arrays = {
        "source": table.SOURCE,
        "recurrent_weight": table.RECURRENT_WEIGHT,
        "input_weight": table.INPUT_WEIGHT,
        "bias": table.BIAS,
        "init_state": table.INIT_STATE,
    }
    arrays |= {"secondary_bias": table.SECONDARY_BIAS} if case.secondary_bias else {}
    return {name: array.astype(WIDEST) for name, array in arrays.items()}


@pytest.mark.parametrize("case", table.GRU_CASES, ids=str)
def test_gru_variants(case):
    descriptor = mg.GRUDescriptor(training=True, **case.options)
    arrays = operands(case)
    h, z_state = mg.gru(**arrays, descriptor=descriptor)
    np.testing.assert_allclose(h.ravel(), case.h, rtol=0, atol=table.TOLERANCE)
    gradients = mg.gru_gradients(
        **arrays,
        source_gradient=table.SOURCE_GRADIENT.astype(WIDEST),
        z_state=z_state,
        output_fwd=h,
        descriptor=descriptor,
    )
    for name, expected in case.gradients.items():
        np.testing.assert_allclose(getattr(gradients, name).ravel(), expected, rtol=0, atol=table.TOLERANCE)


def test_gate_order_is_a_permutation_of_the_rows():
    """LBANN/lbann#1796: [r, z, o] with permuted weights equals [z, r, o] exactly."""
    case = table.GRU_CASES[0]
    arrays = operands(case)
    permuted = {name: arrays[name][[1, 0, 2]] for name in ("recurrent_weight", "input_weight", "bias")}
    default, default_z_state = mg.gru(**arrays, descriptor=mg.GRUDescriptor(training=True))
    first = mg.GRUDescriptor(training=True, reset_gate_first=True)
    h, z_state = mg.gru(**(arrays | permuted), descriptor=first)
    np.testing.assert_array_equal(h, default)
    np.testing.assert_array_equal(z_state, default_z_state[..., [1, 0, 2]])


def test_batch_first_operands_are_refused():
    """pytorch/pytorch#87579, pytorch/pytorch#95137, pytorch/pytorch#80306.

    x [5, 3, 10] has N = 3, so a state for 5 sequences cannot belong to it; the message says what would.
    """
    rng = np.random.default_rng(0)
    x, r, w = (rng.normal(size=shape).astype(np.float32) for shape in ((5, 3, 10), (60, 20), (60, 10)))
    with pytest.raises(ValueError, match=names("init_state")) as caught:
        mg.gru(x, r, input_weight=w, init_state=np.zeros((5, 20), np.float32), descriptor=mg.GRUDescriptor())
    assert "3" in str(caught.value)
    assert "20" in str(caught.value)


@pytest.mark.parametrize("z_state", [None, np.zeros((3, 2, 7), np.float32)], ids=["missing", "of an inference"])
def test_backward_without_a_training_forward(z_state):
    """apache/mxnet#19333."""
    case = full(GRU)
    h = mg.gru(**case.arrays(), descriptor=case.descriptor(training=False))
    with pytest.raises(ValueError, match=names("z_state")):
        mg.gru_gradients(
            **case.arrays(), **case.incoming(), z_state=z_state, output_fwd=h, descriptor=case.descriptor()
        )


def test_two_gradients_of_one_forward():
    """tensorflow/tensorflow#26331: the second call gives the same, and neither touches its operands."""
    case = full(GRU)
    arrays = case.arrays() | case.incoming()
    descriptor = case.descriptor()
    h, z_state = mg.gru(**case.arrays(), descriptor=descriptor)
    arrays |= {"output_fwd": h, "z_state": z_state}
    before = {name: array.copy() for name, array in arrays.items()}
    for array in arrays.values():
        array.setflags(write=False)
    first, second = (mg.gru_gradients(**arrays, descriptor=descriptor) for _ in range(2))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, before[name])


def test_mask_is_not_a_time_mask():
    """tensorflow/tensorflow#60192: it multiplies the state, so its shape is [N, H]."""
    case = full(GRU, shape=(5, 3, 4, 6))
    arrays = case.arrays() | {"mask": np.ones((5, 3), np.float32)}
    with pytest.raises(ValueError, match=names("mask")):
        mg.gru(**arrays, descriptor=case.descriptor())


def resident_bytes():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_memory_of_many_gradients_is_flat():
    """pytorch/pytorch#145374."""
    case = full(GRU, shape=(10, 16, 8, 32))
    arrays = case.arrays()
    h, z_state = mg.gru(**arrays, descriptor=case.descriptor())
    arrays |= case.incoming() | {"output_fwd": h, "z_state": z_state}

    def loop(count):
        for _ in range(count):
            mg.gru_gradients(**arrays, descriptor=case.descriptor())

    # The stand-in of Apple's frameworks computes a thousand times slower.
    warm, many = (500, 10_000) if mg.default_device().name == "cpu" else (5, 100)
    loop(warm)
    before = resident_bytes()
    loop(many)
    assert resident_bytes() - before < 5 * MEGABYTE
