"""Products of matrices, reductions, softmax and its loss, and operations on shapes."""

import numpy as np

from mpsgraph_native.verify.data import dtype, random_array, seeded
from mpsgraph_native.verify.reference import reduction, softmax, tensor_shape
from mpsgraph_native.verify.table.case import NUMBERS, Case, problem, shapes_of, small_integers

_MATRICES = (
    ((3, 4), (4, 5), True), ((2, 1, 3, 4), (5, 4, 6), False), ((33, 300), (300, 17), False),
    ((129, 65), (65, 130), False), ((1, 2000), (2000, 1), False), ((512, 384), (384, 512), False),
)  # fmt: skip
_REDUCED = (((3, 4, 5), 1, True), ((4, 5, 6, 7), (0, 2), False), ((70, 130), None, False), ((2, 3000), -1, False))
_LINES = (
    ((3, 10), 1, True),
    ((2, 3, 4, 5), 1, False),
    ((7, 257), -1, False),
    ((300, 3), 0, False),
    ((256, 1000), 1, False),
)
_REARRANGED = (
    ("broadcast", (3, 1), {"shape": (2, 3, 4)}, True),
    ("broadcast", (64, 1), {"shape": (64, 65)}, False),
    ("reshape", (2, 3, 4), {"shape": (6, 4)}, True),
    ("slice", (5, 7), {"starts": (1, 0), "ends": (4, 7), "strides": (1, 1)}, True),
    ("slice", (30, 41), {"starts": (3, 5), "ends": (29, 41), "strides": (2, 3)}, False),
    ("transpose", (3, 5), {"permutation": (1, 0)}, True),
    ("transpose", (2, 3, 4, 5), {"permutation": (0, 2, 3, 1)}, False),
    ("transpose", (65, 130), {"permutation": (1, 0)}, False),
)


def _operand(rng, shape, dtype_name):
    return small_integers(rng, shape, dtype_name) if dtype_name == "int32" else random_array(rng, shape, dtype_name)


def _matrix_case(shapes, quick):
    def build(dtype_name, device):
        rng = seeded("matrices", shapes)
        operands = tuple(random_array(rng, shape, dtype_name) for shape in shapes)
        return problem(operands, reduction.matrix_multiplication(*operands))

    return Case("matrix_multiplication", shapes_of(*shapes), build, quick=quick)


def _reduction_case(operation, shape, axes, quick):
    single = operation in reduction.ARGUMENTS
    if single and not isinstance(axes, int):
        axes = 0

    def build(dtype_name, device):
        rng = seeded(operation, shape)
        if single:
            tensor = small_integers(rng, shape, dtype_name)
        elif operation == "reduction_product":
            # Factors near one, so that thousands of them stay within every dtype's range.
            tensor = (1 + _operand(rng, shape, dtype_name) / 64).astype(dtype(dtype_name))
        else:
            tensor = _operand(rng, shape, dtype_name)
        judge = reduction.integers if dtype_name == "int32" else reduction.judge
        return problem((tensor,), judge(operation, tensor, axes), **{"axis" if single else "axes": axes})

    dtypes = Case._field_defaults["dtypes"] if operation == "mean" else NUMBERS
    return Case(operation, f"{shapes_of(shape)} axes {axes}", build, dtypes, quick)


def _softmax_case(operation, shape, axis, quick):
    def build(dtype_name, device):
        rng = seeded(operation, shape)
        count = 2 if operation.endswith("gradient") else 1
        operands = tuple((2 * random_array(rng, shape, dtype_name)).astype(dtype(dtype_name)) for _ in range(count))
        return problem(operands, softmax.judge(operation, *operands, axis=axis), axis=axis)

    return Case(operation, f"{shapes_of(shape)} axis {axis}", build, quick=quick)


def _loss_case(operation, shape, axis, reduction_type, quick):
    def build(dtype_name, device):
        rng = seeded(operation, shape, reduction_type)
        source = random_array(rng, shape, dtype_name)
        labels = softmax.softmax(rng.standard_normal(shape), axis).astype(dtype(dtype_name))
        options = {"axis": axis, "reduction_type": reduction_type}
        operands = (source, labels)
        if operation.endswith("gradient"):
            losses = tuple(1 if k == axis % len(shape) else size for k, size in enumerate(shape))
            operands = (random_array(rng, losses if reduction_type == "None" else (), dtype_name), *operands)
        return problem(operands, softmax.judge_cross_entropy(operation, *operands, **options), **options)

    return Case(operation, f"{shapes_of(shape)} axis {axis} {reduction_type}", build, quick=quick)


def _shape_case(operation, shape, attributes, quick):
    def build(dtype_name, device):
        tensor = _operand(seeded(operation, shape), shape, dtype_name)
        return problem((tensor,), tensor_shape.judge(operation, tensor, **attributes), **attributes)

    return Case(operation, f"{shapes_of(shape)} {attributes}", build, NUMBERS, quick)


def _slice_gradient_case(shape, attributes, quick):
    def build(dtype_name, device):
        tensor = _operand(seeded("slice", shape), shape, dtype_name)
        gradient = np.array(tensor_shape.judge("slice", tensor, **attributes).value)
        options = attributes | {"fwd_in_shape": shape}
        return problem((gradient,), tensor_shape.judge("slice_gradient", gradient, **options), **options)

    return Case("slice_gradient", f"{shapes_of(shape)} {attributes}", build, NUMBERS, quick)


def _cast_case(target, quick):
    def build(dtype_name, device):
        rng = seeded("cast", target)
        tensor = small_integers(rng, (5, 7), dtype_name)
        if dtype_name != "int32":
            tensor = (tensor + random_array(rng, tensor.shape, dtype_name) / 4).astype(tensor.dtype)
        return problem((tensor,), tensor_shape.judge("cast", tensor, dtype=target), dtype=target)

    # float64 would need every engine to have it as a target of the other dtypes too.
    return Case("cast", f"5x7 to {target}", build, ("float32", "float16", "bfloat16", "int32"), quick)


def _select_case(shape, quick):
    def build(dtype_name, device):
        rng = seeded("select", shape)
        operands = (rng.random(shape) < 0.5, *(_operand(rng, shape, dtype_name) for _ in range(2)))
        return problem(operands, tensor_shape.judge("select", *operands))

    return Case("select", shapes_of(shape), build, NUMBERS, quick)


def cases():
    for *shapes, quick in _MATRICES:
        yield _matrix_case(tuple(shapes), quick)
    for shape, axes, quick in _REDUCED:
        for operation in (*reduction.REDUCTIONS, *reduction.ARGUMENTS):
            yield _reduction_case(operation, shape, axes, quick)
    for shape, axis, quick in _LINES:
        for operation in ("softmax", "softmax_gradient"):
            yield _softmax_case(operation, shape, axis, quick)
        for operation in ("softmax_cross_entropy", "softmax_cross_entropy_gradient"):
            for reduction_type in ("None", "Sum", "Mean"):
                yield _loss_case(operation, shape, axis, reduction_type, quick)
    for operation, shape, attributes, quick in _REARRANGED:
        yield _shape_case(operation, shape, attributes, quick)
        if operation == "slice":
            yield _slice_gradient_case(shape, attributes, quick)
    for target, quick in (("float32", True), ("float16", False), ("int32", True), ("bool", False)):
        yield _cast_case(target, quick)
    for shape, quick in (((3, 5), True), ((130, 257), False)):
        yield _select_case(shape, quick)
