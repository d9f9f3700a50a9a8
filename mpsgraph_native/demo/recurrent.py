"""A GRU that reads each image as a sequence of rows, trained with array functions, one call per operation."""

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.demo.data import CLASSES

__all__ = ["GRUClassifier"]

UNITS = 64
ROW = 8

DESCRIPTOR = mg.GRUDescriptor(training=True, reset_after=True)


class GRUClassifier:
    """The last state of a GRU, classified by a dense layer."""

    title = "GRU classifier"

    def __init__(self, device: str) -> None:
        self._device = device
        rng = np.random.default_rng(2)

        def normal(*shape: int, fan_in: int) -> np.ndarray:
            return np.asarray(rng.standard_normal(shape) / np.sqrt(fan_in), np.float32)

        self._parameters: dict[str, np.ndarray] = {
            "recurrent_weight": normal(3 * UNITS, UNITS, fan_in=UNITS),
            "input_weight": normal(3 * UNITS, ROW, fan_in=ROW),
            "bias": np.zeros(3 * UNITS, np.float32),
            "secondary_bias": np.zeros(UNITS, np.float32),
            "dense_weights": normal(UNITS, CLASSES, fan_in=UNITS),
            "dense_bias": np.zeros((1, CLASSES), np.float32),
        }
        self._learning_rate = np.array(0, np.float32)

    def set_epoch(self, epoch: int, epochs: int) -> None:
        """The learning rate falls along half a cosine."""
        self._learning_rate = np.array(0.3 * 0.5 * (1 + np.cos(np.pi * epoch / epochs)), np.float32)

    def _forward(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        parameters = self._parameters
        output, z_state = mg.gru(
            rows,
            recurrent_weight=parameters["recurrent_weight"],
            input_weight=parameters["input_weight"],
            bias=parameters["bias"],
            secondary_bias=parameters["secondary_bias"],
            descriptor=DESCRIPTOR,
            device=self._device,
        )
        product = mg.matrix_multiplication(output[-1], parameters["dense_weights"], device=self._device)
        return output, z_state, mg.addition(product, parameters["dense_bias"], device=self._device)

    def step(self, images: np.ndarray, labels: np.ndarray) -> float:
        """One step of gradient descent on a batch; gives its mean loss."""
        parameters, device = self._parameters, self._device
        rows = images.transpose(1, 0, 2)  # [N, rows, columns] to the GRU's [T, N, I]
        output, z_state, logits = self._forward(rows)
        loss = mg.softmax_cross_entropy(logits, labels, axis=1, reduction_type="Mean", device=device)
        d_logits = mg.softmax_cross_entropy_gradient(
            np.ones_like(loss), logits, labels, axis=1, reduction_type="Mean", device=device
        )
        d_state = mg.matrix_multiplication(d_logits, parameters["dense_weights"].T, device=device)
        gru = mg.gru_gradients(
            rows,
            recurrent_weight=parameters["recurrent_weight"],
            source_gradient=None,  # only the last state reaches the loss
            z_state=z_state,
            output_fwd=output,
            state_gradient=d_state,
            input_weight=parameters["input_weight"],
            bias=parameters["bias"],
            secondary_bias=parameters["secondary_bias"],
            descriptor=DESCRIPTOR,
            device=device,
        )
        gradients = {
            "recurrent_weight": gru.recurrent_weight,
            "input_weight": gru.input_weight,
            "bias": gru.bias,
            "secondary_bias": gru.secondary_bias,
            "dense_weights": mg.matrix_multiplication(output[-1].T, d_logits, device=device),
            "dense_bias": mg.reduction_sum(d_logits, axes=0, device=device),
        }
        for name, gradient in gradients.items():
            assert gradient is not None  # each of these operands was given
            parameters[name] = mg.stochastic_gradient_descent(
                self._learning_rate, parameters[name], gradient, device=device
            )
        return float(loss)

    def predict(self, images: np.ndarray) -> np.ndarray:
        """The most likely class of each image."""
        _, _, logits = self._forward(images.transpose(1, 0, 2))
        return mg.reduction_arg_maximum(logits, axis=1, device=self._device).ravel()
