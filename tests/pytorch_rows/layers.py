"""Convolution, pooling and recurrent networks."""

import warnings

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

import mpsgraph_native as mg
from pytorch_rows import close, leaf, row, same


def around(p):
    return {"padding_left": p, "padding_right": p, "padding_top": p, "padding_bottom": p}


STRIDED = mg.Convolution2DDescriptor(stride_in_x=2, stride_in_y=2, **around(1))


@row("`F.conv2d`")
def _():
    x, w, b = torch.randn(2, 3, 9, 8), torch.randn(4, 3, 3, 3), torch.randn(4)
    y = mg.addition(mg.convolution_2d(x, w, descriptor=STRIDED), b.reshape(4, 1, 1))
    close(y, F.conv2d(x, w, b, stride=2, padding=1))


@row('`F.conv2d(padding="same")`')
def _():
    x, w = torch.randn(2, 3, 9, 8), torch.randn(4, 3, 4, 2)
    same_style = mg.Convolution2DDescriptor(padding_style="TF_SAME")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that an even kernel costs torch a copy
        close(mg.convolution_2d(x, w, descriptor=same_style), F.conv2d(x, w, padding="same"))
    strided = mg.Convolution2DDescriptor(padding_style="TF_SAME", stride_in_x=3, stride_in_y=2)
    assert mg.convolution_2d(x, w, descriptor=strided).shape == (2, 4, 5, 3)
    with pytest.raises(RuntimeError):
        F.conv2d(x, w, padding="same", stride=2)


@row("`F.conv2d` on `channels_last`")
def _():
    x = torch.randn(2, 3, 9, 8).contiguous(memory_format=torch.channels_last)
    w = torch.randn(4, 3, 3, 3)
    before = mg.transfer_statistics()["copied_inputs"]
    y = mg.convolution_2d(x.permute(0, 2, 3, 1), w, descriptor=mg.Convolution2DDescriptor(data_layout="NHWC"))
    assert mg.transfer_statistics()["copied_inputs"] == before
    close(y, F.conv2d(x, w).permute(0, 2, 3, 1))


@row("`F.conv2d(groups=C)`")
def _():
    x, w = torch.randn(2, 3, 9, 8), torch.randn(6, 1, 3, 3)
    y = mg.depthwise_convolution_2d(
        x, w.reshape(3, 2, 3, 3).transpose(0, 1), descriptor=mg.DepthwiseConvolution2DDescriptor()
    )
    close(y, F.conv2d(x, w, groups=3))


@row("`torch.nn.grad.conv2d_input`")
def _():
    w, dy = torch.randn(4, 3, 3, 3), torch.randn(2, 4, 5, 4)
    dx = mg.convolution_2d_data_gradient(dy, w, output_shape=(2, 3, 9, 8), descriptor=STRIDED)
    close(dx, torch.nn.grad.conv2d_input((2, 3, 9, 8), w, dy, stride=2, padding=1))


@row("`torch.nn.grad.conv2d_weight`")
def _():
    x, dy = torch.randn(2, 3, 9, 8), torch.randn(2, 4, 5, 4)
    dw = mg.convolution_2d_weights_gradient(dy, x, output_shape=(4, 3, 3, 3), descriptor=STRIDED)
    close(dw, torch.nn.grad.conv2d_weight(x, (4, 3, 3, 3), dy, stride=2, padding=1))


@row("`F.conv_transpose2d`")
def _():
    x, w = torch.randn(2, 4, 5, 4), torch.randn(4, 3, 3, 3)
    expected = F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=(0, 1))
    sizes = tuple((n - 1) * 2 - 2 + 3 + extra for n, extra in ((5, 0), (4, 1)))
    y = mg.convolution_2d_data_gradient(x, w, output_shape=(2, 3, *sizes), descriptor=STRIDED)
    close(y, expected)


@row("`bias.grad` of `F.conv2d`")
def _():
    b = leaf(4)
    y = F.conv2d(torch.randn(2, 3, 9, 8), torch.randn(4, 3, 3, 3), b)
    dy = torch.randn(y.shape)
    y.backward(dy)
    close(mg.reduction_sum(dy, axes=(0, 2, 3)).reshape(4), b.grad)


def window(**fields):
    return mg.Pooling2DDescriptor(kernel_width=3, kernel_height=3, stride_in_x=2, stride_in_y=2, **fields)


@row("`F.max_pool2d`")
def _():
    x = torch.randn(2, 3, 9, 8)
    close(mg.max_pooling_2d(x, descriptor=window(**around(1))), F.max_pool2d(x, 3, stride=2, padding=1))
    dense = mg.Pooling2DDescriptor(kernel_width=3, kernel_height=3)
    close(mg.max_pooling_2d(x, descriptor=dense), F.max_pool2d(x, 3, stride=1))
    assert F.max_pool2d(x, 3).shape == (2, 3, 3, 2)
    mg.max_pooling_2d(x, descriptor=window(**around(2)))
    with pytest.raises(RuntimeError):
        F.max_pool2d(x, 3, padding=2)


@row("`F.max_pool2d(ceil_mode=True)`")
def _():
    x = torch.randn(2, 3, 6, 8)
    enlarged = window(padding_right=1, padding_bottom=1)
    close(mg.max_pooling_2d(x, descriptor=enlarged), F.max_pool2d(x, 3, stride=2, ceil_mode=True))
    x = torch.randn(1, 1, 5, 5)
    single = mg.Pooling2DDescriptor(kernel_width=1, kernel_height=1, stride_in_x=3, stride_in_y=3, ceil_mode=True)
    assert mg.max_pooling_2d(x, descriptor=single).shape == (1, 1, 3, 3)
    assert F.max_pool2d(x, 1, stride=3, ceil_mode=True).shape == (1, 1, 2, 2)


@row("`F.max_pool2d(return_indices=True)`")
def _():
    x = torch.randn(2, 3, 9, 8)
    flattened = window(**around(1), return_indices_mode="GlobalFlatten2D")
    y, indices = mg.max_pooling_2d_return_indices(x, descriptor=flattened)
    expected, expected_indices = F.max_pool2d(x, 3, stride=2, padding=1, return_indices=True)
    close(y, expected)
    same(indices, expected_indices)
    assert (indices.dtype, expected_indices.dtype) == (np.int32, torch.int64)


@row("gradient of `F.max_pool2d`")
def _():
    x = torch.randint(3, (2, 3, 9, 8)).float().requires_grad_()  # many ties
    y, indices = F.max_pool2d(x, 3, stride=2, padding=1, return_indices=True)
    dy = torch.randn(y.shape)
    y.backward(dy)
    flattened = window(**around(1), return_indices_mode="GlobalFlatten2D")
    close(mg.max_pooling_2d_gradient(dy, source=x.detach(), descriptor=flattened), x.grad)
    close(mg.max_pooling_2d_gradient(dy, indices=indices, output_shape=x.shape, descriptor=flattened), x.grad)


@row("`F.max_unpool2d`")
def _():
    halves = mg.Pooling2DDescriptor(
        kernel_width=2, kernel_height=2, stride_in_x=2, stride_in_y=2, return_indices_mode="GlobalFlatten2D"
    )
    y, indices = F.max_pool2d(torch.randn(2, 3, 8, 8), 2, return_indices=True)
    close(
        mg.max_pooling_2d_gradient(y, indices=indices, output_shape=(2, 3, 8, 8), descriptor=halves),
        F.max_unpool2d(y, indices, 2),
    )
    overlapping = mg.Pooling2DDescriptor(kernel_width=2, kernel_height=2, return_indices_mode="GlobalFlatten2D")
    y, indices = F.max_pool2d(torch.tensor([[[[1.0, 5.0, 2.0], [0.0, 0.0, 0.0]]]]), 2, stride=1, return_indices=True)
    added = mg.max_pooling_2d_gradient(y, indices=indices, output_shape=(1, 1, 2, 3), descriptor=overlapping)
    assert added.max() == 10
    assert F.max_unpool2d(y, indices, 2, stride=1, output_size=(2, 3)).max() == 5


@row("`F.avg_pool2d`")
def _():
    x = torch.randn(2, 3, 9, 8)
    counted = window(**around(1), include_zero_pad_to_average=True)
    close(mg.avg_pooling_2d(x, descriptor=counted), F.avg_pool2d(x, 3, stride=2, padding=1))


@row("`F.avg_pool2d(count_include_pad=False)`")
def _():
    x = torch.randn(2, 3, 9, 8)
    expected = F.avg_pool2d(x, 3, stride=2, padding=1, count_include_pad=False)
    close(mg.avg_pooling_2d(x, descriptor=window(**around(1))), expected)


@row("`F.lp_pool2d(norm_type=2)`")
def _():
    x = torch.randn(2, 3, 9, 8)
    d = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 3, 2), strides=(1, 1, 2, 2))
    close(mg.l2_norm_pooling_4d(x, descriptor=d), F.lp_pool2d(x, 2, (3, 2), stride=2))


@row("`F.adaptive_avg_pool2d(x, 1)`")
def _():
    x = torch.randn(2, 3, 9, 8)
    close(mg.mean(x, axes=(2, 3)), F.adaptive_avg_pool2d(x, 1))


@row("`F.adaptive_max_pool2d(x, 1)`")
def _():
    x = torch.randn(2, 3, 9, 8)
    close(mg.reduction_maximum(x, axes=(2, 3)), F.adaptive_max_pool2d(x, 1))
    x[0, 0, 0, 0] = float("nan")
    assert not np.isnan(mg.reduction_maximum(x, axes=(2, 3))).any()
    assert F.adaptive_max_pool2d(x, 1)[0, 0].isnan()


def parameters(module, *, bidirectional=False):
    """A module's parameters as operands: b_hh counts with b_ih, but for a GRU's candidate."""
    found = {}
    suffixes = ("", "_reverse") if bidirectional else ("",)
    w_ih, w_hh, b_ih, b_hh = (
        [getattr(module, f"{name}_l0{suffix}").detach() for suffix in suffixes]
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    found["recurrent_weight"] = torch.stack(w_hh) if bidirectional else w_hh[0]
    found["input_weight"] = torch.cat(w_ih)
    if isinstance(module, nn.GRU):
        units = module.hidden_size
        found["secondary_bias"] = torch.cat([b[2 * units :] for b in b_hh])
        b_hh = [torch.cat([b[: 2 * units], torch.zeros(units)]) for b in b_hh]
    found["bias"] = torch.cat([first + second for first, second in zip(b_ih, b_hh, strict=True)])
    return found


def gru_descriptor(**fields):
    return mg.GRUDescriptor(reset_gate_first=True, reset_after=True, **fields)


@row("`nn.GRU`")
def _():
    module, x, h0 = nn.GRU(5, 7), torch.randn(6, 3, 5), torch.randn(1, 3, 7)
    h = mg.gru(x, **parameters(module), init_state=h0[0], descriptor=gru_descriptor())
    close(h, module(x, h0)[0])


@row("`nn.LSTM`")
def _():
    module, x, h0, c0 = nn.LSTM(5, 7), torch.randn(6, 3, 5), torch.randn(1, 3, 7), torch.randn(1, 3, 7)
    h, cell = mg.lstm(
        x, **parameters(module), init_state=h0[0], init_cell=c0[0], descriptor=mg.LSTMDescriptor(produce_cell=True)
    )
    expected, (_last, last_cell) = module(x, (h0, c0))
    close(h, expected)
    close(cell[-1], last_cell[0])


@row("`nn.RNN`")
def _():
    x = torch.randn(6, 3, 5)
    for nonlinearity, activation in (("tanh", "Tanh"), ("relu", "Relu")):
        module = nn.RNN(5, 7, nonlinearity=nonlinearity)
        h = mg.single_gate_rnn(x, **parameters(module), descriptor=mg.SingleGateRNNDescriptor(activation=activation))
        close(h, module(x)[0])
    assert nn.RNN(5, 7).nonlinearity == "tanh"
    assert mg.SingleGateRNNDescriptor().activation.name == "Relu"


@row("`nn.GRU(bidirectional=True)`")
def _():
    module, x, h0 = nn.GRU(5, 7, bidirectional=True), torch.randn(6, 3, 5), torch.randn(2, 3, 7)
    operands = parameters(module, bidirectional=True)
    assert operands["recurrent_weight"].shape == (2, 21, 7)
    h = mg.gru(x, **operands, init_state=torch.cat([*h0], dim=-1), descriptor=gru_descriptor(bidirectional=True))
    close(h, module(x, h0)[0])


@row("`nn.GRU(batch_first=True)`")
def _():
    module, x = nn.GRU(5, 7, batch_first=True), torch.randn(3, 6, 5)
    time_first = mg.transpose(x, dimension=0, with_dimension=1)
    h = mg.gru(time_first, **parameters(module), descriptor=gru_descriptor())
    close(mg.transpose(h, dimension=0, with_dimension=1), module(x)[0])


@row("gradients of `nn.GRU`")
def _():
    module, x = nn.GRU(5, 7), leaf(6, 3, 5)
    expected, _last = module(x)
    dh = torch.randn(expected.shape)
    expected.backward(dh)
    source, operands, d = x.detach(), parameters(module), gru_descriptor(training=True)
    h, z_state = mg.gru(source, **operands, descriptor=d)
    found = mg.gru_gradients(source, **operands, source_gradient=dh, z_state=z_state, output_fwd=h, descriptor=d)
    close(found.source, x.grad)
    close(found.recurrent_weight, module.weight_hh_l0.grad)
    close(found.input_weight, module.weight_ih_l0.grad)
    close(found.bias, module.bias_ih_l0.grad)
    close(np.concatenate([found.bias[:14], found.secondary_bias]), module.bias_hh_l0.grad)


@row("gradients of `nn.LSTM`")
def _():
    module, x = nn.LSTM(5, 7), leaf(6, 3, 5)
    expected, _last = module(x)
    dh = torch.randn(expected.shape)
    expected.backward(dh)
    source, operands, d = x.detach(), parameters(module), mg.LSTMDescriptor(training=True)
    _h, cell, z_state = mg.lstm(source, **operands, descriptor=d)
    found = mg.lstm_gradients(
        source, **operands, source_gradient=dh, z_state=z_state, cell_output_fwd=cell, descriptor=d
    )
    close(found.source, x.grad)
    close(found.recurrent_weight, module.weight_hh_l0.grad)
    close(found.bias, module.bias_ih_l0.grad)
    close(found.bias, module.bias_hh_l0.grad)
