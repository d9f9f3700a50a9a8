"""A convolutional network as one compiled graph per batch size, with every gradient operation spelled out."""

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.demo.data import CLASSES
from mpsgraph_native.demo.training import BATCH

__all__ = ["ConvolutionalNetwork"]

CHANNELS = 16
MULTIPLIER = 2
FEATURES = CHANNELS * MULTIPLIER * 4 * 4

CONVOLUTION = mg.Convolution2DDescriptor(padding_style="TF_SAME")
DEPTHWISE = mg.DepthwiseConvolution2DDescriptor(padding_style="TF_SAME")
POOLING = mg.Pooling2DDescriptor(
    kernel_width=2, kernel_height=2, stride_in_x=2, stride_in_y=2, return_indices_mode="GlobalFlatten2D"
)

# Parameters in the order in which the graph takes and gives them; biases broadcast over the batch and the plane.
SHAPES = {
    "convolution_weights": (CHANNELS, 1, 3, 3),
    "convolution_bias": (1, CHANNELS, 1, 1),
    "depthwise_weights": (MULTIPLIER, CHANNELS, 3, 3),
    "depthwise_bias": (1, CHANNELS * MULTIPLIER, 1, 1),
    "dense_weights": (FEATURES, CLASSES),
    "dense_bias": (1, CLASSES),
}
FAN_IN = {"convolution_weights": 9, "depthwise_weights": 9, "dense_weights": FEATURES}


class ConvolutionalNetwork:
    """Convolution, depthwise convolution, max pooling with indices and a dense layer, trained by gradient descent."""

    title = "convolutional network"

    def __init__(self, device: str) -> None:
        self._device = device
        rng = np.random.default_rng(1)
        self._parameters: list[np.ndarray] = [
            (rng.standard_normal(shape) * np.sqrt(2 / FAN_IN[name]) if name in FAN_IN else np.zeros(shape)).astype(
                np.float32
            )
            for name, shape in SHAPES.items()
        ]
        self._learning_rate = np.array(0, np.float32)
        self._train = self._compile_training_step(BATCH)
        self._inference: dict[int, mg.Executable] = {}

    def set_epoch(self, epoch: int, epochs: int) -> None:
        """The learning rate falls along half a cosine."""
        self._learning_rate = np.array(0.1 * 0.5 * (1 + np.cos(np.pi * epoch / epochs)), np.float32)

    def step(self, images: np.ndarray, labels: np.ndarray) -> float:
        """One step of gradient descent on a batch; gives its mean loss."""
        loss, *self._parameters = self._train.run([images[:, None], labels, self._learning_rate, *self._parameters])
        return float(loss)

    def predict(self, images: np.ndarray) -> np.ndarray:
        """The most likely class of each image."""
        executable = self._inference.get(len(images))
        if executable is None:
            executable = self._inference[len(images)] = self._compile_inference(len(images))
        (classes,) = executable.run([images[:, None], *self._parameters])
        return classes.ravel()

    @staticmethod
    def _placeholders(graph: mg.Graph, batch: int) -> tuple[mg.Tensor, list[mg.Tensor]]:
        images = graph.placeholder((batch, 1, 8, 8), "float32", name="images")
        return images, [graph.placeholder(shape, "float32", name=name) for name, shape in SHAPES.items()]

    @staticmethod
    def _forward(graph: mg.Graph, images: mg.Tensor, parameters: list[mg.Tensor]) -> dict[str, mg.Tensor]:
        convolution_weights, convolution_bias, depthwise_weights, depthwise_bias, dense_weights, dense_bias = parameters
        layers = {}
        layers["convolved"] = graph.addition(
            graph.convolution_2d(images, convolution_weights, descriptor=CONVOLUTION), convolution_bias
        )
        layers["activated"] = graph.relu(layers["convolved"])
        layers["filtered"] = graph.addition(
            graph.depthwise_convolution_2d(layers["activated"], depthwise_weights, descriptor=DEPTHWISE), depthwise_bias
        )
        layers["features"] = graph.relu(layers["filtered"])
        layers["pooled"], layers["indices"] = graph.max_pooling_2d_return_indices(
            layers["features"], descriptor=POOLING
        )
        layers["flat"] = graph.reshape(layers["pooled"], shape=(images.shape[0], FEATURES))
        layers["logits"] = graph.addition(graph.matrix_multiplication(layers["flat"], dense_weights), dense_bias)
        return layers

    def _compile_inference(self, batch: int) -> mg.Executable:
        graph = mg.Graph()
        images, parameters = self._placeholders(graph, batch)
        classes = graph.reduction_arg_maximum(self._forward(graph, images, parameters)["logits"], axis=1)
        return graph.compile(feeds=[images, *parameters], targets=[classes], device=self._device)

    def _compile_training_step(self, batch: int) -> mg.Executable:
        graph = mg.Graph()
        images, parameters = self._placeholders(graph, batch)
        labels = graph.placeholder((batch, CLASSES), "float32", name="labels")
        learning_rate = graph.placeholder((), "float32", name="learning_rate")
        layers = self._forward(graph, images, parameters)
        _, _, depthwise_weights, _, dense_weights, _ = parameters

        loss = graph.softmax_cross_entropy(layers["logits"], labels, axis=1, reduction_type="Mean")
        d_logits = graph.softmax_cross_entropy_gradient(
            graph.constant(1.0, shape=loss.shape), layers["logits"], labels, axis=1, reduction_type="Mean"
        )
        d_dense_weights = graph.matrix_multiplication(graph.transpose(layers["flat"], permutation=(1, 0)), d_logits)
        d_flat = graph.matrix_multiplication(d_logits, graph.transpose(dense_weights, permutation=(1, 0)))
        d_features = graph.max_pooling_2d_gradient(
            graph.reshape(d_flat, shape=layers["pooled"].shape),
            indices=layers["indices"],
            output_shape=layers["features"].shape,
            descriptor=POOLING,
        )
        d_filtered = graph.relu_gradient(d_features, layers["filtered"])
        d_depthwise_weights = graph.depthwise_convolution_2d_weights_gradient(
            d_filtered, layers["activated"], output_shape=SHAPES["depthwise_weights"], descriptor=DEPTHWISE
        )
        d_activated = graph.depthwise_convolution_2d_data_gradient(
            d_filtered, depthwise_weights, output_shape=layers["activated"].shape, descriptor=DEPTHWISE
        )
        d_convolved = graph.relu_gradient(d_activated, layers["convolved"])
        d_convolution_weights = graph.convolution_2d_weights_gradient(
            d_convolved, images, output_shape=SHAPES["convolution_weights"], descriptor=CONVOLUTION
        )
        gradients = [
            d_convolution_weights,
            graph.reduction_sum(d_convolved, axes=(0, 2, 3)),
            d_depthwise_weights,
            graph.reduction_sum(d_filtered, axes=(0, 2, 3)),
            d_dense_weights,
            graph.reduction_sum(d_logits, axes=0),
        ]
        updated = [
            graph.stochastic_gradient_descent(learning_rate, values, gradient)
            for values, gradient in zip(parameters, gradients, strict=True)
        ]
        return graph.compile(
            feeds=[images, labels, learning_rate, *parameters], targets=[loss, *updated], device=self._device
        )
