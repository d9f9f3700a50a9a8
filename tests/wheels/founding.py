"""The founding gradients on small operands that any machine makes alike, for a wheel that has just been installed.

Needs NumPy and the package alone. The expected values lie in founding.json; `python founding.py` writes them anew, from the
float64 references.
"""

import json
from pathlib import Path

import numpy as np

import mpsgraph_native as mg

STORED = Path(__file__).with_suffix(".json")


def operand(*shape, phase=0):
    """Multiples of 1/8 between -1 and 1, exact in every dtype."""
    count = np.arange(np.prod(shape, dtype=int)) * 7 + phase * 5
    return ((count % 17 - 8) / 8).reshape(shape).astype(np.float32)


def convolution():
    descriptor = mg.Convolution2DDescriptor(
        stride_in_x=2, padding_left=1, padding_right=1, padding_top=1, padding_bottom=1
    )
    return {
        "source": operand(2, 3, 6, 7),
        "weights": operand(4, 3, 3, 3, phase=1),
        "incoming": operand(2, 4, 6, 4, phase=2),
        "descriptor": descriptor,
    }


def depthwise_convolution():
    descriptor = mg.DepthwiseConvolution2DDescriptor(padding_style="TF_SAME", data_layout="NHWC", weights_layout="HWIO")
    return {
        "source": operand(2, 5, 6, 3),
        "weights": operand(3, 3, 3, 2, phase=1),
        "incoming": operand(2, 5, 6, 6, phase=2),
        "descriptor": descriptor,
    }


def pooling():
    descriptor = mg.Pooling4DDescriptor(
        kernel_sizes=(1, 1, 3, 3),
        strides=(1, 1, 2, 2),
        padding_values=(0, 0, 0, 0, 1, 1, 1, 1),
        return_indices_mode="GlobalFlatten2D",
    )
    return {"source": operand(2, 3, 7, 8), "gradient": operand(2, 3, 4, 4, phase=3), "descriptor": descriptor}


RECURRENT = {
    "gru": (3, mg.GRUDescriptor(training=True, reset_after=True)),
    "lstm": (4, mg.LSTMDescriptor(training=True)),
    "single_gate_rnn": (1, mg.SingleGateRNNDescriptor(training=True)),
}


def recurrent(name):
    gates, descriptor = RECURRENT[name]
    steps, batch, inputs, units = 4, 2, 3, 5
    return {
        "source": operand(steps, batch, inputs),
        "recurrent_weight": operand(gates * units, units, phase=1) / 2,
        "input_weight": operand(gates * units, inputs, phase=2) / 2,
        "bias": operand(gates * units, phase=3) / 4,
        "source_gradient": operand(steps, batch, units, phase=4),
        "descriptor": descriptor,
    }


def recurrent_gradients(name, module):
    """Every gradient of the network by `module`: this package, or its float64 references."""
    operands = recurrent(name)
    incoming = operands.pop("source_gradient")
    given = dict(operands)
    places = [given.pop("source"), given.pop("recurrent_weight")]
    forward = getattr(module, name)(*places, **given)
    gradients = getattr(module, f"{name}_gradients")
    if name == "lstm":
        results = gradients(*places, incoming, forward[2], forward[1], **given)
    elif name == "gru":
        results = gradients(*places, incoming, forward[1], forward[0], **given)
    else:
        results = gradients(*places, incoming, forward[1], **given)
    return {f"{name}_gradients.{field}": value for field, value in results._asdict().items() if value is not None}


def computed(device=None):
    """Each gradient by this package, by name."""
    c, d, p = convolution(), depthwise_convolution(), pooling()
    results = {}
    for operation, o in (("convolution_2d", c), ("depthwise_convolution_2d", d)):
        how = {"descriptor": o["descriptor"], "device": device}
        gradient = getattr(mg, f"{operation}_data_gradient")
        results[f"{operation}_data_gradient"] = gradient(
            o["incoming"], o["weights"], output_shape=o["source"].shape, **how
        )
        gradient = getattr(mg, f"{operation}_weights_gradient")
        results[f"{operation}_weights_gradient"] = gradient(
            o["incoming"], o["source"], output_shape=o["weights"].shape, **how
        )
    how = {"descriptor": p["descriptor"], "device": device}
    _, indices = mg.max_pooling_4d_return_indices(p["source"], **how)
    results["max_pooling_4d_gradient"] = mg.max_pooling_4d_gradient(
        p["gradient"], indices=indices, output_shape=p["source"].shape, **how
    )
    for name in RECURRENT:
        results |= recurrent_gradients(name, mg)
    return results


def referenced():
    """The same by the float64 references."""
    from mpsgraph_native.verify.reference import convolution as dense
    from mpsgraph_native.verify.reference import depthwise_convolution as depthwise
    from mpsgraph_native.verify.reference import pooling as pools
    from mpsgraph_native.verify.reference import recurrent as networks

    results = {}
    for operation, reference, o in (
        ("convolution_2d", dense, convolution()),
        ("depthwise_convolution_2d", depthwise, depthwise_convolution()),
    ):
        incoming, source, weights = (o[name].astype(np.float64) for name in ("incoming", "source", "weights"))
        results[f"{operation}_data_gradient"] = reference.data_gradient(
            incoming, weights, source.shape, o["descriptor"]
        )
        results[f"{operation}_weights_gradient"] = reference.weights_gradient(
            incoming, source, weights.shape, o["descriptor"]
        )
    p = pooling()
    results["max_pooling_4d_gradient"] = pools.max_gradient_from_source(p["gradient"], p["source"], p["descriptor"])
    for name in RECURRENT:
        results |= recurrent_gradients(name, networks)
    return results


def stored():
    return {name: np.array(values) for name, values in json.loads(STORED.read_text()).items()}


def compare(results, expected):
    """Raises AssertionError unless every gradient is within the rounding of float32."""
    assert results.keys() == expected.keys(), results.keys() ^ expected.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(results[name], value, rtol=2e-5, atol=2e-5, err_msg=name)


if __name__ == "__main__":
    lines = (
        f"  {json.dumps(name)}: {json.dumps(np.asarray(value, np.float64).tolist())}"
        for name, value in referenced().items()
    )
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
