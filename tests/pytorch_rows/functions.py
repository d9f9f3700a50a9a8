"""Activations, losses, arithmetic, reductions, matrices, shapes and training."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

import mpsgraph_native as mg
from pytorch_rows import close, leaf, row, same


@row("`F.relu`")
def _():
    x = torch.randn(4, 5)
    close(mg.relu(x), F.relu(x))


@row("`torch.sigmoid`")
def _():
    x = torch.randn(4, 5)
    close(mg.sigmoid(x), torch.sigmoid(x))


@row("`torch.tanh`")
def _():
    x = torch.randn(4, 5)
    close(mg.tanh(x), torch.tanh(x))


@row("`F.softmax`")
def _():
    x = torch.randn(4, 5)
    close(mg.softmax(x, axis=1), F.softmax(x, dim=1))


@row("gradient of `torch.sigmoid`")
def _():
    x, dy = torch.randn(4, 5), torch.randn(4, 5)
    close(mg.sigmoid_gradient(dy, x), torch.ops.aten.sigmoid_backward(dy, torch.sigmoid(x)))


@row("gradient of `F.softmax`")
def _():
    x, dy = leaf(4, 5), torch.randn(4, 5)
    F.softmax(x, dim=1).backward(dy)
    close(mg.softmax_gradient(dy, x.detach(), axis=1), x.grad)


def classes():
    chosen = torch.tensor([2, 0, 4, 4])
    return chosen, np.eye(5, dtype=np.float32)[chosen.numpy()]


@row("`F.cross_entropy`")
def _():
    x, (chosen, labels) = torch.randn(4, 5), classes()
    mean = mg.softmax_cross_entropy(x, labels, axis=1, reduction_type="Mean")
    close(mean, F.cross_entropy(x, chosen))
    each = mg.softmax_cross_entropy(x, labels, axis=1, reduction_type="None")
    assert each.shape == (4, 1)
    close(each[:, 0], F.cross_entropy(x, chosen, reduction="none"))


@row("gradient of `F.cross_entropy`")
def _():
    x, (chosen, labels) = leaf(4, 5), classes()
    F.cross_entropy(x, chosen).backward()
    dx = mg.softmax_cross_entropy_gradient(np.ones((), np.float32), x.detach(), labels, axis=1, reduction_type="Mean")
    close(dx, x.grad)


@row("`torch.add`, `sub`, `mul`, `div`")
def _():
    a, b = torch.randn(4, 5), torch.randn(5)
    close(mg.addition(a, b), torch.add(a, b))
    close(mg.subtraction(a, b), torch.sub(a, b))
    close(mg.multiplication(a, b), torch.mul(a, b))
    close(mg.division(a, b), torch.div(a, b))
    i, j = torch.tensor([7, -7, 3], dtype=torch.int32), torch.tensor([2, 2, -5], dtype=torch.int32)
    same(mg.division(i, j), torch.div(i, j, rounding_mode="trunc"))
    assert not mg.division(i, torch.zeros_like(i)).any()
    with pytest.raises(mg.DTypeError):
        mg.addition(a, b.double())


@row("`torch.fmax`, `fmin`")
def _():
    a, b = torch.tensor([1.0, float("nan"), 3.0]), torch.tensor([2.0, 2.0, float("nan")])
    same(mg.maximum(a, b), torch.fmax(a, b))
    same(mg.minimum(a, b), torch.fmin(a, b))
    assert torch.maximum(a, b)[1:].isnan().all()


@row("`torch.eq`, `ne`, `lt`, `le`, `gt`, `ge`")
def _():
    a, b = torch.randint(3, (4, 5)).float(), torch.randint(3, (5,)).float()
    same(mg.equal(a, b), torch.eq(a, b))
    same(mg.not_equal(a, b), torch.ne(a, b))
    same(mg.less_than(a, b), torch.lt(a, b))
    same(mg.less_than_or_equal_to(a, b), torch.le(a, b))
    same(mg.greater_than(a, b), torch.gt(a, b))
    same(mg.greater_than_or_equal_to(a, b), torch.ge(a, b))


@row("`torch.where`")
def _():
    condition, a, b = torch.randn(4, 5) > 0, torch.randn(4, 5), torch.randn(5)
    same(mg.select(condition, a, b), torch.where(condition, a, b))


@row("`torch.abs`, `exp`, `log`, `neg`, `reciprocal`, `square`, `sqrt`")
def _():
    x = torch.rand(4, 5) + 0.5
    same(mg.absolute(-x), torch.abs(-x))
    close(mg.exponent(x), torch.exp(x))
    close(mg.logarithm(x), torch.log(x))
    same(mg.negative(x), torch.neg(x))
    close(mg.reciprocal(x), torch.reciprocal(x))
    close(mg.square(x), torch.square(x))
    close(mg.square_root(x), torch.sqrt(x))


@row("`torch.sum`, `prod`")
def _():
    x = torch.randn(3, 4, 5)
    close(mg.reduction_sum(x, axes=(0, 2)), torch.sum(x, dim=(0, 2), keepdim=True))
    close(mg.reduction_product(x, axis=1), torch.prod(x, dim=1, keepdim=True))
    i = torch.arange(4, dtype=torch.int32)
    assert mg.reduction_sum(i).dtype == np.int32
    assert torch.sum(i).dtype == torch.int64


@row("`torch.amax`, `amin`")
def _():
    x = torch.randn(3, 4, 5)
    same(mg.reduction_maximum(x, axes=(0, 2)), torch.amax(x, dim=(0, 2), keepdim=True))
    same(mg.reduction_minimum(x, axes=(0, 2)), torch.amin(x, dim=(0, 2), keepdim=True))
    x[0, 0, 0] = float("nan")
    assert not np.isnan(mg.reduction_maximum(x)).any()
    assert torch.amax(x).isnan()


@row("`torch.argmax`, `argmin`")
def _():
    x = torch.tensor([[2.0, 7.0, 7.0, 1.0, 1.0]])
    same(mg.reduction_arg_maximum(x, axis=1), torch.argmax(x, dim=1, keepdim=True))
    same(mg.reduction_arg_minimum(x, axis=1), torch.argmin(x, dim=1, keepdim=True))
    assert mg.reduction_arg_maximum(x, axis=1).dtype == np.int32


@row("`torch.mean`")
def _():
    x = torch.randn(3, 4, 5)
    close(mg.mean(x, axes=(0, 2)), torch.mean(x, dim=(0, 2), keepdim=True))


@row("`torch.matmul`")
def _():
    a, b = torch.randn(2, 1, 3, 4), torch.randn(5, 4, 6)
    close(mg.matrix_multiplication(a, b), torch.matmul(a, b))
    with pytest.raises(mg.ShapeError):
        mg.matrix_multiplication(a, torch.randn(4))


@row("`F.linear`")
def _():
    x, w, b = torch.randn(3, 4), torch.randn(6, 4), torch.randn(6)
    close(mg.addition(mg.matrix_multiplication(x, mg.transpose(w, permutation=(1, 0))), b), F.linear(x, w, b))


def array_of(tensor):
    return tensor.numpy()


@row("`Tensor.reshape`")
def _():
    x = torch.randn(4, 6)
    y = mg.reshape(x, shape=(3, -1))
    same(y, x.reshape(3, -1))
    assert not np.shares_memory(y, array_of(x))


@row("`Tensor.permute`")
def _():
    x = torch.randn(3, 4, 5)
    y = mg.transpose(x, permutation=(2, 0, 1))
    same(y, x.permute(2, 0, 1))
    assert not np.shares_memory(y, array_of(x))


@row("`Tensor.transpose`")
def _():
    x = torch.randn(3, 4, 5)
    same(mg.transpose(x, dimension=0, with_dimension=2), x.transpose(0, 2))


@row("`Tensor.expand`")
def _():
    x = torch.randn(4, 1)
    y = mg.broadcast(x, shape=(3, 4, 5))
    same(y, x.expand(3, -1, 5))
    with pytest.raises(mg.ShapeError):
        mg.broadcast(x, shape=(3, -1, 5))
    assert not np.shares_memory(y, array_of(x))


@row("`Tensor.to`")
def _():
    x = torch.tensor([1.75, -1.75, 300.0])
    same(mg.cast(x, dtype="int32"), x.to(torch.int32))
    same(mg.cast(x, dtype="float16"), x.to(torch.float16))
    extremes = mg.cast(torch.tensor([1e20, -1e20, float("nan")]), dtype="int32")
    np.testing.assert_array_equal(extremes, [2**31 - 1, -(2**31), 0])


@row("`Tensor.narrow`")
def _():
    x = torch.randn(3, 8)
    same(mg.slice(x, dimension=1, start=2, length=4), x.narrow(1, 2, 4))


@row("`x[a:b:c]`")
def _():
    x = torch.randn(3, 8)
    same(mg.slice(x, starts=(0, 1), ends=(3, 7), strides=(2, 3)), x[0:3:2, 1:7:3])


@row("gradient of `x[a:b:c]`")
def _():
    x, dy = leaf(3, 8), torch.randn(2, 2)
    x[0:3:2, 1:7:3].backward(dy)
    dx = mg.slice_gradient(dy, fwd_in_shape=(3, 8), starts=(0, 1), ends=(3, 7), strides=(2, 3))
    same(dx, x.grad)


@row("`torch.autograd.grad`")
def _():
    x, w = leaf(3, 4), leaf(4, 5)
    expected = torch.autograd.grad(torch.tanh(x @ w).sum(), [x, w])
    graph = mg.Graph()
    x_tensor, w_tensor = graph.placeholder((3, 4)), graph.placeholder((4, 5))
    y = graph.tanh(graph.matrix_multiplication(x_tensor, w_tensor))
    found = graph.run({x_tensor: x.detach(), w_tensor: w.detach()}, graph.gradients(y, [x_tensor, w_tensor]))
    for actual, wanted in zip(found, expected, strict=True):
        close(actual, wanted)


@row("`torch.optim.SGD`")
def _():
    values = leaf(4)
    optimizer = torch.optim.SGD([values], lr=0.1)
    values.grad = torch.randn(4)
    start = values.detach().clone()
    optimizer.step()
    rate = np.array([0.1], np.float32)
    close(mg.stochastic_gradient_descent(rate, start, values.grad), values)
    in_place = start.numpy()
    with pytest.raises(mg.ShapeError, match="overlap"):
        mg.stochastic_gradient_descent(rate, in_place, values.grad, out=in_place)


@row("`torch.set_num_threads`")
def _():
    before, of_torch = mg.get_num_threads(), torch.get_num_threads()
    mg.set_num_threads(before + 1)
    try:
        assert torch.get_num_threads() == of_torch
    finally:
        mg.set_num_threads(before)


@row("`torch.from_dlpack`")
def _():
    result = mg.relu(torch.randn(4))
    shared = torch.from_dlpack(mg.asarray(result))
    shared[0] = 42
    assert result[0] == 42
