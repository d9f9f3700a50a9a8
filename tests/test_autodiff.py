"""graph.gradients on whole networks against central differences, which the cpu engine computes in float64."""

import numpy as np
import pytest
from support import WIDEST, WIDEST_TOLERANCE, central_differences, seeded

import mpsgraph_native as mg

STEP = 1e-6


class Network:
    """Parameters as placeholders, a loss, and both kinds of derivative."""

    def __init__(self, build, shapes, fixed=()):
        rng = seeded("autodiff", sorted(shapes))
        self.values = {name: 0.5 * rng.standard_normal(shape) for name, shape in shapes.items()}
        self.values |= dict(fixed)
        self.graph, self.tensors, self.loss = self.built(build, WIDEST)
        graph, tensors, loss = self.built(build, "float64")
        self.executable = graph.compile(feeds=list(tensors.values()), targets=[loss], device="cpu")

    def built(self, build, dtype):
        graph = mg.Graph()
        tensors = {name: graph.placeholder(value.shape, dtype, name=name) for name, value in self.values.items()}
        return graph, tensors, build(graph, tensors)

    def feeds(self):
        return {tensor: self.values[name].astype(WIDEST) for name, tensor in self.tensors.items()}

    def loss_at(self, **moved):
        (value,) = self.executable.run([(self.values | moved)[name] for name in self.tensors])
        assert value.size == 1
        return value.sum()

    def check(self, *wanted):
        gradients = self.graph.gradients(self.loss, [self.tensors[name] for name in wanted])
        values = self.graph.run(feeds=self.feeds(), targets=gradients)
        for name, value in zip(wanted, values, strict=True):
            expected = central_differences(
                lambda moved, name=name: self.loss_at(**{name: moved}), self.values[name], 1.0, STEP
            )
            assert value.shape == self.values[name].shape
            np.testing.assert_allclose(value, expected, **WIDEST_TOLERANCE, err_msg=name)


def image_classifier(graph, t):
    """Convolution, depthwise convolution, max pooling, dense layer, softmax cross entropy."""
    geometry = mg.Convolution2DDescriptor(padding_style="TF_SAME")
    depthwise = mg.DepthwiseConvolution2DDescriptor(padding_style="TF_SAME")
    pooling = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 2, 2), strides=(1, 1, 2, 2))
    hidden = graph.addition(graph.convolution_2d(t["x"], t["w"], descriptor=geometry), t["b"])
    hidden = graph.depthwise_convolution_2d(graph.tanh(hidden), t["dw"], descriptor=depthwise)
    hidden = graph.max_pooling_4d(hidden, descriptor=pooling)
    dense = graph.matrix_multiplication(graph.reshape(hidden, shape=(2, -1)), t["dense"])
    return graph.softmax_cross_entropy(graph.addition(dense, t["db"]), t["labels"], axis=1, reduction_type="Mean")


def test_image_classifier():
    shapes = {"x": (2, 2, 4, 4), "w": (3, 2, 3, 3), "b": (3, 1, 1), "dw": (2, 3, 3, 3), "dense": (24, 5), "db": (5,)}
    labels = np.eye(5)[[1, 4]]
    Network(image_classifier, shapes, {"labels": labels}).check(*shapes)


def test_average_pooling_and_transposes():
    def build(graph, t):
        pooling = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 3, 3), strides=(1, 1, 1, 1))
        pooled = graph.avg_pooling_4d(t["x"], descriptor=pooling)
        turned = graph.transpose(pooled, permutation=(0, 2, 3, 1))
        return graph.reduction_sum(graph.square(graph.sigmoid(turned)), axes=None)

    Network(build, {"x": (1, 2, 5, 4)}).check("x")


@pytest.mark.parametrize("bidirectional", [False, True], ids=["unidirectional", "bidirectional"])
@pytest.mark.parametrize("reset_after", [False, True])
def test_gru(bidirectional, reset_after):
    t, n, i, h = 3, 2, 3, 4
    d, leading = (2, (2,)) if bidirectional else (1, ())
    shapes = {
        "x": (t, n, i), "r": (*leading, 3 * h, h), "w": (3 * h * d, i), "b": (3 * h * d,), "h0": (n, d * h),
    }  # fmt: skip
    if reset_after:
        shapes["b2"] = (d * h,)
    descriptor = mg.GRUDescriptor(training=True, bidirectional=bidirectional, reset_after=reset_after)

    def build(graph, tensors):
        out, _ = graph.gru(
            tensors["x"], tensors["r"], input_weight=tensors["w"], bias=tensors["b"], init_state=tensors["h0"],
            secondary_bias=tensors.get("b2"), descriptor=descriptor,
        )  # fmt: skip
        return graph.mean(graph.square(out), axes=None)

    Network(build, shapes).check(*shapes)


def test_lstm():
    shapes = {"x": (3, 2, 3), "r": (16, 4), "w": (16, 3), "b": (16,), "h0": (2, 4), "c0": (2, 4)}

    def build(graph, tensors):
        out, *_ = graph.lstm(
            tensors["x"], tensors["r"], input_weight=tensors["w"], bias=tensors["b"], init_state=tensors["h0"],
            init_cell=tensors["c0"], descriptor=mg.LSTMDescriptor(training=True, produce_cell=True),
        )  # fmt: skip
        return graph.mean(graph.square(out), axes=None)

    Network(build, shapes).check(*shapes)


def test_single_gate_rnn():
    shapes = {"x": (3, 2, 3), "r": (4, 4), "w": (4, 3), "b": (4,), "h0": (2, 4)}

    def build(graph, tensors):
        descriptor = mg.SingleGateRNNDescriptor(training=True, activation="Tanh")
        out, _ = graph.single_gate_rnn(
            tensors["x"], tensors["r"], input_weight=tensors["w"], bias=tensors["b"], init_state=tensors["h0"],
            descriptor=descriptor,
        )  # fmt: skip
        return graph.mean(graph.square(out), axes=None)

    Network(build, shapes).check(*shapes)


def test_a_tensor_used_twice_collects_both_paths():
    def build(graph, t):
        return graph.reduction_sum(graph.multiplication(graph.tanh(t["x"]), graph.addition(t["x"], t["x"])), axes=None)

    Network(build, {"x": (2, 3)}).check("x")


def test_gradient_of_an_intermediate_tensor():
    graph = mg.Graph()
    x = graph.placeholder((3,), WIDEST, name="x")
    y = graph.square(x)
    loss = graph.reduction_sum(graph.multiplication(y, y), axes=None)
    to_y, to_x = graph.gradients(loss, [y, x])
    values = np.arange(1.0, 4.0).astype(WIDEST)
    at_y, at_x = graph.run(feeds={x: values}, targets=[to_y, to_x])
    np.testing.assert_array_equal(at_y, 2 * values**2)
    np.testing.assert_array_equal(at_x, 4 * values**3)


def test_gradient_of_a_gradient():
    graph = mg.Graph()
    x = graph.placeholder((3,), WIDEST, name="x")
    (first,) = graph.gradients(graph.reduction_sum(graph.exponent(x), axes=None), [x])
    (second,) = graph.gradients(graph.reduction_sum(graph.square(first), axes=None), [x])
    values = np.array([0.0, 0.5, -1.0], WIDEST)
    (actual,) = graph.run(feeds={x: values}, targets=[second])
    np.testing.assert_allclose(actual, 2 * np.exp(2 * values), rtol=10 * np.finfo(WIDEST).eps)


def test_a_training_step_lowers_the_loss():
    """Stochastic gradient descent on its own gradients: v − rate·g."""
    shapes = {"x": (8, 3), "w": (3, 2)}

    def build(graph, t):
        scores = graph.matrix_multiplication(t["x"], t["w"])
        return graph.softmax_cross_entropy(scores, t["labels"], axis=1, reduction_type="Mean")

    network = Network(build, shapes, {"labels": np.eye(2)[[0, 1] * 4]})
    graph, weights = network.graph, network.tensors["w"]
    (gradient,) = graph.gradients(network.loss, [weights])
    rate = graph.constant(0.5, dtype=WIDEST)
    updated = graph.stochastic_gradient_descent(rate, weights, gradient)
    losses = [network.loss_at()]
    for _ in range(5):
        (moved,) = graph.run(feeds=network.feeds(), targets=[updated])
        network.values["w"] = moved.astype(np.float64)
        losses.append(network.loss_at())
    assert losses == sorted(losses, reverse=True)
