"""Gradients of max pooling (from source, from indices), average and L2-norm pooling."""

import numpy as np
import pytest
from support import (
    FLOAT_DTYPES,
    INDEX_MODES,
    POOLINGS,
    assert_close,
    assert_same_bits,
    central_differences,
    dtypes,
    names,
    pooling_descriptor,
    pooling_operation,
    pooling_source,
    random_array,
    seeded,
)

import mpsgraph_native as mg
from mpsgraph_native.verify.reference import pooling as reference_pooling

FOUR_D = [name for name, (_, fields) in POOLINGS.items() if "kernel_sizes" in fields]
BY_SOURCE = [(kind, name) for kind in ("max", "avg") for name in POOLINGS] + [("l2_norm", name) for name in FOUR_D]


def _incoming(source, descriptor):
    return random_array(
        seeded("incoming", source.shape), reference_pooling.output_shape(source.shape, descriptor), source.dtype
    )


def _names_every_pooled_axis(mode, descriptor):
    """Whether the flattening covers each axis whose kernel is larger than 1."""
    count = int(mode.removesuffix("D")[-1])
    return all(kernel == 1 for kernel in reference_pooling.fields(descriptor).kernel_sizes[: 4 - count])


CASES = [
    (name, mode, _names_every_pooled_axis(mode, pooling_descriptor(fields)))
    for name, (_, fields) in POOLINGS.items()
    for mode in INDEX_MODES
]


def _with_indices(name, mode, dtype_name="float32", kind="ties"):
    """(incoming, indices, source, descriptor), indices from the reference."""
    shape, fields = POOLINGS[name]
    source, descriptor = pooling_source(shape, kind, dtype_name), pooling_descriptor(fields, return_indices_mode=mode)
    return (
        _incoming(source, descriptor),
        reference_pooling.max_pooling(source, descriptor)[1].astype(np.int32),
        source,
        descriptor,
    )


@pytest.mark.parametrize("dtype_name", FLOAT_DTYPES)
@pytest.mark.parametrize(("kind", "name"), BY_SOURCE)
def test_from_source(kind, name, dtype_name):
    shape, fields = POOLINGS[name]
    source, descriptor = pooling_source(shape, "normal", dtype_name), pooling_descriptor(fields)
    incoming = _incoming(source, descriptor)
    result = pooling_operation((kind, "_gradient"), descriptor)(incoming, source=source, descriptor=descriptor)
    expected, magnitude, length = reference_pooling.judge_gradient(kind, incoming, source, descriptor)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype=dtype_name)


@pytest.mark.parametrize("kind", ["ties", "special"])
@pytest.mark.parametrize("name", POOLINGS)
def test_max_from_source_with_ties_and_nan(name, kind):
    shape, fields = POOLINGS[name]
    source, descriptor = pooling_source(shape, kind), pooling_descriptor(fields)
    incoming = _incoming(source, descriptor)
    result = pooling_operation(("max", "_gradient"), descriptor)(incoming, source=source, descriptor=descriptor)
    expected, magnitude, length = reference_pooling.judge_gradient("max", incoming, source, descriptor)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype="float32")


@pytest.mark.parametrize("name", POOLINGS)
def test_avg_with_the_whole_window_as_divisor(name):
    shape, fields = POOLINGS[name]
    source, descriptor = pooling_source(shape, "normal"), pooling_descriptor(fields, include_zero_pad_to_average=True)
    incoming = _incoming(source, descriptor)
    result = pooling_operation(("avg", "_gradient"), descriptor)(incoming, source=source, descriptor=descriptor)
    expected, magnitude, length = reference_pooling.judge_gradient("avg", incoming, source, descriptor)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype="float32")


@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name, mode, named in CASES if named])
def test_max_from_indices(name, mode):
    incoming, indices, source, descriptor = _with_indices(name, mode)
    operation = pooling_operation(("max", "_gradient"), descriptor)
    result = operation(incoming, indices=indices, output_shape=source.shape, descriptor=descriptor)
    expected = reference_pooling.max_gradient_from_indices(incoming, indices, source.shape, descriptor)
    magnitude = reference_pooling.max_gradient_from_indices(np.abs(incoming), indices, source.shape, descriptor)
    length = np.prod(reference_pooling.fields(descriptor).kernel_sizes)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype="float32")
    from_source = operation(incoming, source=source, descriptor=descriptor)
    assert_close(from_source, expected, magnitude=magnitude, length=length, dtype="float32")


@pytest.mark.parametrize(("name", "mode"), [(name, mode) for name, mode, named in CASES if not named])
def test_mode_that_cannot_name_a_pooled_axis(name, mode):
    incoming, indices, source, descriptor = _with_indices(name, mode)
    with pytest.raises(mg.ShapeError, match=names("return_indices_mode")):
        pooling_operation(("max", "_gradient"), descriptor)(
            incoming, indices=indices, output_shape=source.shape, descriptor=descriptor
        )


@pytest.mark.parametrize("dtype_name", dtypes("float64", "float16", "bfloat16"))
@pytest.mark.parametrize("mode", ["GlobalFlatten4D", "LocalFlatten4D"])
@pytest.mark.parametrize("name", POOLINGS)
def test_max_from_indices_of_every_dtype(name, mode, dtype_name):
    incoming, indices, source, descriptor = _with_indices(name, mode, dtype_name)
    operation = pooling_operation(("max", "_gradient"), descriptor)
    result = operation(incoming, indices=indices, output_shape=source.shape, descriptor=descriptor)
    expected, magnitude, length = reference_pooling.judge_gradient("max", incoming, source, descriptor)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype=dtype_name)


@pytest.mark.parametrize("index_dtype", [np.int32, np.int64, ">i4", ">i8"])
@pytest.mark.parametrize(
    "kind",
    [tuple, list, lambda s: np.array(s, np.int32), lambda s: np.array(s, np.int64)],
    ids=["tuple", "list", "int32", "int64"],
)
@pytest.mark.parametrize("name", ["2d_overlap", "4d_image", "4d_rank_5"])
def test_index_and_shape_forms(name, kind, index_dtype):
    incoming, indices, source, descriptor = _with_indices(name, "GlobalFlatten4D")
    result = pooling_operation(("max", "_gradient"), descriptor)(
        incoming, indices=indices.astype(index_dtype), output_shape=kind(source.shape), descriptor=descriptor
    )
    expected, magnitude, length = reference_pooling.judge_gradient("max", incoming, source, descriptor)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype="float32")


@pytest.mark.parametrize("name", POOLINGS)
def test_forward_indices_feed_the_gradient(name):
    """The package's own indices, NaN and windows outside included: both forms of the gradient follow one rule."""
    shape, fields = POOLINGS[name]
    source, descriptor = (
        pooling_source(shape, "special"),
        pooling_descriptor(fields, return_indices_mode="GlobalFlatten4D"),
    )
    incoming = _incoming(source, descriptor)
    _, indices = pooling_operation(("max", "_return_indices"), descriptor)(source, descriptor=descriptor)
    result = pooling_operation(("max", "_gradient"), descriptor)(
        incoming, indices=indices, output_shape=shape, descriptor=descriptor
    )
    expected, magnitude, length = reference_pooling.judge_gradient("max", incoming, source, descriptor)
    assert_close(result, expected, magnitude=magnitude, length=length, dtype="float32")


def test_nothing_comes_from_windows_outside():
    """ceil_mode, 4x6, kernel 1, stride 2: index -1 in the outer windows adds nothing, wherever NaN or infinity arrives."""
    descriptor = mg.Pooling2DDescriptor(
        kernel_width=1,
        kernel_height=1,
        stride_in_x=2,
        stride_in_y=2,
        ceil_mode=True,
        return_indices_mode="GlobalFlatten2D",
    )
    source = pooling_source((1, 1, 4, 6), "normal")
    _, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    incoming = np.where(indices == -1, np.nan, 1).astype(np.float32)
    expected = np.zeros_like(source)
    expected[..., ::2, ::2] = 1
    np.testing.assert_array_equal(
        mg.max_pooling_2d_gradient(incoming, indices=indices, output_shape=source.shape, descriptor=descriptor),
        expected,
    )
    np.testing.assert_array_equal(mg.max_pooling_2d_gradient(incoming, source=source, descriptor=descriptor), expected)
    np.testing.assert_array_equal(mg.avg_pooling_2d_gradient(incoming, source=source, descriptor=descriptor), expected)


def test_l2_norm_gradient_at_zero():
    """y = 0: nothing, not NaN; a zero beside a number gets zero too."""
    source = np.array([0, 0, 0, 3], np.float32).reshape(1, 1, 1, 4)
    descriptor = mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 1, 2), strides=(1, 1, 1, 2))
    result = mg.l2_norm_pooling_4d_gradient(np.full((1, 1, 1, 2), 5, np.float32), source=source, descriptor=descriptor)
    np.testing.assert_array_equal(result.ravel(), [0, 0, 0, 5])


@pytest.mark.parametrize(("kind", "name"), BY_SOURCE)
@pytest.mark.float64
def test_against_central_differences(kind, name):
    """Steps that cannot change which element is the maximum; max and avg are then linear, and the norm is smooth."""
    shape, fields = POOLINGS[name]
    if np.prod(shape) > 700:
        shape = (*(min(size, 2) for size in shape[:-3]), *shape[-3:]) if "nhwc" in name else (1, 2, *shape[2:])
    descriptor = pooling_descriptor(fields)
    source = seeded(name).permutation(np.arange(1.0, np.prod(shape) + 1)).reshape(shape) / 8
    incoming = random_array(seeded(name, "incoming"), reference_pooling.output_shape(shape, descriptor), "float64")
    forward = pooling_operation((kind, ""), descriptor)

    def finite(value):
        result = forward(value, descriptor=descriptor)
        return np.where(np.isneginf(result), 0, result)

    step = 1e-4 if kind == "l2_norm" else 1 / 64
    expected = central_differences(finite, source, incoming, step)
    result = pooling_operation((kind, "_gradient"), descriptor)(incoming, source=source, descriptor=descriptor)
    np.testing.assert_allclose(result, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("kind", ["max", "avg", "l2_norm"])
def test_out_and_determinism(kind):
    shape, fields = POOLINGS["4d_every_axis"]
    source, descriptor = pooling_source(shape, "normal"), pooling_descriptor(fields)
    incoming = _incoming(source, descriptor)
    source.flags.writeable = incoming.flags.writeable = False
    operation = pooling_operation((kind, "_gradient"), descriptor)
    expected = operation(incoming, source=source, descriptor=descriptor)
    assert_same_bits(operation(incoming, source=source, descriptor=descriptor), expected)
    out = np.full_like(expected, 7)
    assert operation(incoming, source=source, descriptor=descriptor, out=out) is out
    assert_same_bits(out, expected)
    frame = np.full((*shape[:3], 2 * shape[3]), 7, np.float32)
    operation(incoming, source=source, descriptor=descriptor, out=frame[::-1, ..., ::2])
    assert_same_bits(frame[::-1, ..., ::2], expected)
    assert (frame[..., 1::2] == 7).all()


@pytest.mark.parametrize("name", ["2d_overlap", "2d_vector_tail_nhwc", "4d_every_axis", "4d_rank_5"])
def test_from_indices_out_and_determinism(name):
    incoming, indices, source, descriptor = _with_indices(name, "GlobalFlatten4D")
    operation = pooling_operation(("max", "_gradient"), descriptor)
    copies = incoming.copy(), indices.copy()
    arguments = {"indices": indices, "output_shape": source.shape, "descriptor": descriptor}
    expected = operation(incoming, **arguments)
    out = np.full_like(expected, 7)
    assert operation(incoming, **arguments, out=out) is out
    assert_same_bits(out, expected)
    assert_same_bits(incoming, copies[0])
    assert_same_bits(indices, copies[1])


@pytest.mark.parametrize("view", [np.asfortranarray, lambda a: a[:, ::-1].copy()[:, ::-1], lambda a: np.repeat(a, 2, axis=-1)[..., ::2]],
                         ids=["fortran", "negative", "sliced"])  # fmt: skip
def test_memory_of_operands_does_not_matter(view):
    incoming, indices, source, descriptor = _with_indices("4d_image", "GlobalFlatten2D")
    expected, magnitude, length = reference_pooling.judge_gradient("max", incoming, source, descriptor)
    for operands in ({"source": view(source)}, {"indices": view(indices), "output_shape": source.shape}):
        result = mg.max_pooling_4d_gradient(view(incoming), **operands, descriptor=descriptor)
        assert_close(result, expected, magnitude=magnitude, length=length, dtype="float32")


@pytest.mark.parametrize("kind", ["max", "avg", "l2_norm"])
def test_empty_batch(kind):
    source, incoming = np.empty((0, 3, 8, 8), np.float32), np.empty((0, 3, 4, 4), np.float32)
    descriptor = mg.Pooling4DDescriptor(
        kernel_sizes=(1, 1, 2, 2), strides=(1, 1, 2, 2), return_indices_mode="GlobalFlatten2D"
    )
    operation = pooling_operation((kind, "_gradient"), descriptor)
    assert operation(incoming, source=source, descriptor=descriptor).shape == source.shape
    if kind == "max":
        indices = np.empty(incoming.shape, np.int32)
        assert (
            operation(incoming, indices=indices, output_shape=source.shape, descriptor=descriptor).shape == source.shape
        )
