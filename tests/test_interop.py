"""Arrays of torch, jax and MLX in and out, on the same memory where both sides can; each package where it is installed."""

import numpy as np
import pytest
from support import counting, dtype

import mpsgraph_native as mg


def address(array):
    return array.__array_interface__["data"][0]


@pytest.fixture
def torch():
    return pytest.importorskip("torch")


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


@pytest.fixture
def mlx():
    return pytest.importorskip("mlx.core")


def copies():
    return mg.transfer_statistics()["copied_inputs"]


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16", "int64", "bool"])
def test_torch_reads_tensor_data_where_it_lies(torch, name):
    tensor = mg.empty((2, 3), name)
    tensor[...] = counting(2, 3, dtype_name=name)
    seen = torch.from_dlpack(tensor)
    assert str(seen.dtype) == f"torch.{name}" and seen.shape == (2, 3)
    seen[0, 0] = 0
    assert not np.asarray(tensor)[0, 0]
    assert tensor.exports == 1
    del seen
    assert tensor.exports == 0


def test_torch_reads_results_where_they_lie(torch):
    result = mg.negative(counting(4, 5))
    seen = torch.from_dlpack(result)
    assert seen.data_ptr() == address(result)
    result = mg.negative(counting(4, 5, dtype_name="bfloat16"))
    assert torch.from_dlpack(mg.asarray(result, device="cpu")).data_ptr() == result.ctypes.data


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_torch_tensors_are_read_where_they_lie(torch, name):
    source = torch.arange(12, dtype=getattr(torch, name)).reshape(3, 4)
    before = copies()
    result = mg.negative(source)
    assert copies() == before
    assert result.dtype == dtype(name)
    np.testing.assert_array_equal(result.astype(np.float32), -source.float().numpy())
    mg.negative(source.T)
    assert copies() == before + 1


def test_torch_tensors_are_written_where_they_lie(torch):
    out = torch.zeros(3, 4)
    pointer = out.data_ptr()
    assert mg.negative(counting(3, 4), out=out) is out
    assert out.data_ptr() == pointer
    np.testing.assert_array_equal(out.numpy(), -counting(3, 4))


def test_torch_autograd_tensors_are_refused_by_name(torch):
    with pytest.raises((mg.DTypeError, BufferError), match="grad"):
        mg.negative(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_jax_reads_tensor_data_where_it_lies(jax, name):
    tensor = mg.empty((2, 3), name)
    tensor[...] = counting(2, 3, dtype_name=name)
    seen = jax.dlpack.from_dlpack(tensor)
    assert str(seen.dtype) == name
    np.testing.assert_array_equal(np.asarray(seen), np.asarray(tensor))
    assert seen.unsafe_buffer_pointer() == np.asarray(tensor).ctypes.data


@pytest.mark.parametrize("name", ["float32", "float16", "bfloat16"])
def test_jax_arrays_are_read_where_they_lie(jax, name):
    source = jax.numpy.arange(12, dtype=name).reshape(3, 4)
    before = copies()
    result = mg.negative(source)
    assert copies() == before
    np.testing.assert_array_equal(result.astype(np.float32), -np.asarray(source).astype(np.float32))
    with pytest.raises(mg.ShapeError, match="writable"):
        mg.negative(source, out=source)


def test_mlx_arrays_are_read_where_they_lie(mlx):
    source = mlx.arange(12, dtype=mlx.float32).reshape(3, 4)
    mlx.eval(source)
    before = copies()
    result = mg.negative(source)
    assert copies() == before
    np.testing.assert_array_equal(result, -np.arange(12, dtype=np.float32).reshape(3, 4))


def test_mlx_reads_results(mlx):
    """MLX owns its memory: it copies what it is given, whoever gives it."""
    result = mg.negative(counting(3, 4))
    assert (np.array(mlx.array(result)) == result).all()


def test_numpy_reads_tensor_data_where_it_lies():
    tensor = mg.empty((2, 3))
    for read in (np.asarray, np.from_dlpack, memoryview):
        assert np.asarray(read(tensor)).ctypes.data == np.asarray(tensor).ctypes.data
