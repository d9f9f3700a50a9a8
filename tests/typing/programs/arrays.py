"""Array functions of every family, with and without `out`."""

from typing import Any, assert_type

import numpy as np

import mpsgraph_native as mg

rng = np.random.default_rng(0)


def random(*shape: int) -> np.ndarray:
    return np.asarray(rng.standard_normal(shape), np.float32)


def convolutions() -> None:
    x, w = random(2, 3, 8, 8), random(4, 3, 3, 3)
    d = mg.Convolution2DDescriptor(padding_style="TF_SAME")
    y = mg.convolution_2d(x, w, descriptor=d)
    assert_type(y, np.ndarray)
    dw = mg.convolution_2d_weights_gradient(y, x, output_shape=w.shape, descriptor=d)
    dx = mg.convolution_2d_data_gradient(y, w, output_shape=list(x.shape), descriptor=d, out=np.empty_like(x))
    assert dw.shape == w.shape and dx.shape == x.shape

    m = random(2, 3, 3, 3)
    e = mg.DepthwiseConvolution2DDescriptor()
    z = mg.depthwise_convolution_2d(x, m, descriptor=e, device="cpu")
    mg.depthwise_convolution_2d_weights_gradient(z, x, output_shape=np.array(m.shape), descriptor=e)
    mg.depthwise_convolution_2d_data_gradient(z, m, output_shape=x.shape, descriptor=e)


def pooling() -> None:
    x = random(2, 3, 8, 8)
    d = mg.Pooling2DDescriptor(kernel_width=2, kernel_height=2, return_indices_mode="GlobalFlatten2D")
    values, indices = mg.max_pooling_2d_return_indices(x, descriptor=d)
    assert_type(values, np.ndarray)
    assert_type(indices, np.ndarray)
    kept = mg.empty(values.shape)
    into = mg.max_pooling_2d_return_indices(x, descriptor=d, out=(kept, indices))
    assert_type(into, tuple[mg.TensorData, np.ndarray])
    mg.max_pooling_2d_gradient(values, indices=indices, output_shape=x.shape, descriptor=d)
    mg.max_pooling_2d_gradient(values, source=x, descriptor=d)
    p = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 2, 2))
    mg.avg_pooling_4d_gradient(mg.avg_pooling_4d(x, descriptor=p), x, descriptor=p)
    mg.l2_norm_pooling_4d(x, descriptor=p)


def recurrent() -> None:
    time, batch, inputs, units = 3, 2, 4, 5
    x, weights = random(time, batch, inputs), random(3 * units, inputs)
    recurrent_weights, h0 = random(3 * units, units), random(batch, units)
    d = mg.GRUDescriptor(training=True)
    # One array, or a tuple in training: the annotation leaves it open, so that both can be written.
    h, z_state = mg.gru(x, recurrent_weights, input_weight=weights, init_state=h0, descriptor=d)
    states = mg.gru(x, recurrent_weights, input_weight=weights, descriptor=mg.GRUDescriptor())
    assert_type(states, np.ndarray | Any)
    assert states.shape == (time, batch, units)
    gradients = mg.gru_gradients(
        x, recurrent_weights, None, z_state, h, state_gradient=h0, input_weight=weights, init_state=h0, descriptor=d
    )
    assert_type(gradients, mg.GRUGradients[np.ndarray])
    assert_type(gradients.source, np.ndarray)
    assert_type(gradients.bias, np.ndarray | None)
    assert gradients.bias is None

    weights, recurrent_weights = random(4 * units, inputs), random(4 * units, units)
    e = mg.LSTMDescriptor(training=True)
    h, cell, z_state = mg.lstm(x, recurrent_weights, input_weight=weights, descriptor=e)
    kinds = mg.lstm_gradients(x, recurrent_weights, h, z_state, cell, input_weight=weights, descriptor=e)
    assert_type(kinds, mg.LSTMGradients[np.ndarray])
    single = mg.SingleGateRNNDescriptor(training=True, activation="Tanh")
    h, z_state = mg.single_gate_rnn(x, random(units, units), input_weight=random(units, inputs), descriptor=single)
    assert h.shape == z_state.shape


def elementwise() -> None:
    x = random(4, 5)
    result = np.empty_like(x)
    y = mg.relu(x, out=result)
    assert y is result
    data = mg.empty(x.shape)
    assert_type(mg.tanh(x, out=data), mg.TensorData)
    view = memoryview(bytearray(x.nbytes)).cast("f", x.shape)
    assert_type(mg.tanh(x, out=view), "memoryview[float]")
    chosen: np.ndarray | None = None
    assert_type(mg.addition(x, data, out=chosen), np.ndarray)
    mg.select(mg.less_than(x, y), x, y)
    mg.square_root(mg.absolute(x))
    mg.relu_gradient(x, y)
    mg.multiplication(x, np.float32(2))


def reductions_and_shapes() -> None:
    x = random(4, 5)
    mg.reduction_sum(x, axes=(0, 1))
    mg.reduction_sum(x, axes=0)
    mg.reduction_maximum(x, axes=None)
    mg.reduction_minimum(x, axis=-1)
    mg.reduction_arg_maximum(x, axis=np.int64(1))
    mg.mean(x, axes=[0])
    mg.softmax(x, axis=1)
    mg.reshape(x, shape=(2, -1))
    mg.transpose(x, permutation=(1, 0))
    mg.transpose(x, dimension=0, with_dimension=1)
    mg.cast(x, dtype="float16")
    mg.cast(x, dtype=np.int32)
    mg.cast(x, dtype=np.dtype("bool"))
    part = mg.slice(x, starts=(0, 0), ends=(2, 5), strides=(1, 2))
    mg.slice(x, dimension=1, start=0, length=2)
    mg.slice_gradient(part, fwd_in_shape=x.shape, starts=(0, 0), ends=(2, 5), strides=(1, 2))
    mg.broadcast(x, shape=(3, 4, 5))
    mg.matrix_multiplication(x, x.T)


def training() -> None:
    x, labels = random(4, 5), np.eye(4, 5, dtype=np.float32)
    loss = mg.softmax_cross_entropy(x, labels, axis=1, reduction_type="Mean")
    d = mg.softmax_cross_entropy_gradient(loss, x, labels, axis=1, reduction_type=mg.LossReductionType.Mean)
    assert_type(mg.stochastic_gradient_descent(np.float32(0.1), x, d), np.ndarray)


def main() -> None:
    convolutions()
    pooling()
    recurrent()
    elementwise()
    reductions_and_shapes()
    training()


if __name__ == "__main__":
    main()
