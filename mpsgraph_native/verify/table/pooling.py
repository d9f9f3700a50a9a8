"""Poolings, their indices and their gradients."""

import dataclasses

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.verify.data import random_array, seeded
from mpsgraph_native.verify.reference import Expected
from mpsgraph_native.verify.reference import pooling as reference
from mpsgraph_native.verify.table.case import Case, Problem, problem


def _window(height, width, **fields):
    return mg.Pooling2DDescriptor(kernel_height=height, kernel_width=width, **fields)


_HALF = {"stride_in_x": 2, "stride_in_y": 2}
_BORDER = {"padding_left": 1, "padding_right": 1, "padding_top": 1, "padding_bottom": 1}
_POOLINGS = {
    "2x2": ((2, 3, 8, 6), _window(2, 2, **_HALF), True),
    "3x3 overlapping": ((2, 3, 8, 9), _window(3, 3, **_HALF, **_BORDER), True),
    "3x2 NHWC": ((2, 7, 8, 5), _window(3, 2, stride_in_y=2, data_layout="NHWC", padding_top=1), False),
    "2x3 dilated": ((1, 2, 9, 10), _window(2, 3, dilation_rate_in_y=3, dilation_rate_in_x=2, padding_left=2), False),
    "2x4 TF_SAME": ((2, 2, 7, 8), _window(2, 4, stride_in_y=2, padding_style="TF_SAME"), False),
    "2x4 ONNX_SAME_LOWER": ((2, 2, 7, 8), _window(2, 4, stride_in_y=2, padding_style="ONNX_SAME_LOWER"), False),
    "2x3 ceil_mode": ((2, 2, 7, 8), _window(2, 3, **_HALF, ceil_mode=True, padding_left=1), False),
    "3x3 whole divisor": ((2, 2, 7, 7), _window(3, 3, **_HALF, **_BORDER, include_zero_pad_to_average=True), False),
    "4D image": (
        (2, 3, 7, 8),
        mg.Pooling4DDescriptor(
            kernel_sizes=(1, 1, 3, 3), strides=(1, 1, 2, 2), padding_values=(0, 0, 0, 0, 1, 1, 1, 1)
        ),
        True,
    ),
    "4D all axes": (
        (3, 3, 5, 6),
        mg.Pooling4DDescriptor(
            kernel_sizes=(2, 2, 3, 2), strides=(1, 1, 2, 1), padding_values=(1, 0, 0, 1, 1, 2, 0, 1)
        ),
        False,
    ),
    "4D of rank 5": (
        (2, 3, 4, 5, 6),
        mg.Pooling4DDescriptor(kernel_sizes=(1, 2, 3, 2), strides=(1, 2, 2, 1), padding_values=(0, 0, 0, 0, 1, 1, 0, 0)),
        False,
    ),
}  # fmt: skip


def _with_indices(descriptor):
    """The same window with indices that name every axis."""
    return dataclasses.replace(descriptor, return_indices_mode="GlobalFlatten4D")


def _pooling_case(operation, name, shape, descriptor, quick):
    kind = operation.split("_pooling")[0]

    def build(dtype_name, device):
        rng = seeded(operation, name)
        source = random_array(rng, shape, dtype_name)
        if operation.endswith("_return_indices"):
            indexed = _with_indices(descriptor)
            values, indices = reference.max_pooling(source, indexed)
            return Problem((source,), {"descriptor": indexed}, (Expected(values), Expected(indices.astype(np.int32))))
        if operation.endswith("_gradient"):
            gradient = random_array(rng, reference.output_shape(shape, descriptor), dtype_name)
            expected = reference.judge_gradient(kind, gradient, source, descriptor)
            return problem((gradient,), expected, source=source, descriptor=descriptor)
        if kind == "max":
            return problem((source,), Expected(reference.max_pooling(source, descriptor)[0]), descriptor=descriptor)
        return problem((source,), reference.judge(kind, source, descriptor), descriptor=descriptor)

    return Case(operation, name, build, quick=quick)


def _indices_gradient_case(operation, name, shape, descriptor, quick):
    def build(dtype_name, device):
        rng = seeded(operation, name)
        indexed = _with_indices(descriptor)
        source = random_array(rng, shape, dtype_name)
        _, indices = reference.max_pooling(source, indexed)
        gradient = random_array(rng, indices.shape, dtype_name)
        expected, magnitude = (
            reference.max_gradient_from_indices(array, indices, shape, indexed)
            for array in (gradient, np.abs(gradient))
        )
        return problem(
            (gradient,), Expected(expected, magnitude, int(np.prod(shape[-2:]))), indices=indices.astype(np.int32),
            output_shape=shape, descriptor=indexed,
        )  # fmt: skip

    return Case(operation, f"{name}, from indices", build, quick=quick)


def cases():
    kinds = {"2d": ("max", "avg"), "4d": ("max", "avg", "l2_norm")}
    for name, (shape, descriptor, quick) in _POOLINGS.items():
        rank = "4d" if name.startswith("4D") else "2d"
        for kind in kinds[rank]:
            operation = f"{kind}_pooling_{rank}"
            suffixes = ("", "_return_indices", "_gradient") if kind == "max" else ("", "_gradient")
            for suffix in suffixes:
                yield _pooling_case(operation + suffix, name, shape, descriptor, quick)
            if kind == "max":
                yield _indices_gradient_case(f"{operation}_gradient", name, shape, descriptor, quick)
