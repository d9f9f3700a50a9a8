"""The founding operations with their operands, as calls and as executables."""

import numpy as np

import mpsgraph_native as mg

rng = np.random.default_rng(0)
STEPS, BATCH = 4, 2
PADDING = {"padding_left": 1, "padding_right": 1, "padding_top": 1, "padding_bottom": 1}


def array(dtype, *shape):
    return (0.1 * rng.standard_normal(shape)).astype(dtype)


def convolutions(size, dtype, layout):
    for prefix, kind, outputs, inputs in (
        ("", mg.Convolution2DDescriptor, size, size),
        ("depthwise_", mg.DepthwiseConvolution2DDescriptor, 1, size),
    ):
        name = f"{prefix}convolution_2d"
        source, incoming = (array(dtype, BATCH, size, size, size) for _ in range(2))
        weights = array(dtype, outputs, inputs, 3, 3)
        fields = {"descriptor": kind(data_layout=layout, **PADDING)}
        yield name, (source, weights), fields
        yield f"{name}_data_gradient", (incoming, weights), {**fields, "output_shape": source.shape}
        yield f"{name}_weights_gradient", (incoming, source), {**fields, "output_shape": weights.shape}


def poolings(size, dtype, layout):
    descriptor = mg.Pooling2DDescriptor(
        kernel_width=2, kernel_height=2, stride_in_x=2, stride_in_y=2, data_layout=layout,
        return_indices_mode="GlobalFlatten2D" if layout == "NCHW" else "GlobalFlatten3D",
    )  # fmt: skip
    source = array(dtype, BATCH, size, size, size)
    values, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
    fields = {"descriptor": descriptor}
    yield "max_pooling_2d", (source,), fields
    yield "max_pooling_2d_return_indices", (source,), fields
    yield "max_pooling_2d_gradient", (values,), {**fields, "indices": indices, "output_shape": source.shape}
    yield "max_pooling_2d_gradient", (values,), {**fields, "source": source}
    yield "avg_pooling_2d", (source,), fields
    yield "avg_pooling_2d_gradient", (values, source), fields


def recurrent(size, dtype):
    for name, gates, kind in (
        ("gru", 3, mg.GRUDescriptor),
        ("lstm", 4, mg.LSTMDescriptor),
        ("single_gate_rnn", 1, mg.SingleGateRNNDescriptor),
    ):
        fields = {
            "source": array(dtype, STEPS, BATCH, size), "recurrent_weight": array(dtype, gates * size, size),
            "input_weight": array(dtype, gates * size, size), "bias": array(dtype, gates * size),
            "init_state": array(dtype, BATCH, size), "descriptor": kind(training=True),
        }  # fmt: skip
        results = getattr(mg, name)(**fields)
        saved = {"z_state": results[-1], "source_gradient": array(dtype, STEPS, BATCH, size)}
        if name == "gru":
            saved["output_fwd"] = results[0]
        if name == "lstm":
            saved["cell_output_fwd"] = results[1]
        yield name, (), fields
        yield f"{name}_gradients", (), {**fields, **saved}


def cases(size):
    """(label, name, positional arguments, keywords) of every founding operation."""
    for dtype in ("float32", "float16"):
        for name, operands, fields in recurrent(size, dtype):
            yield f"{name} {dtype}", name, operands, fields
        for layout in ("NCHW", "NHWC"):
            for name, operands, fields in (*convolutions(size, dtype, layout), *poolings(size, dtype, layout)):
                form = " from source" if name == "max_pooling_2d_gradient" and "source" in fields else ""
                yield f"{name}{form} {layout} {dtype}", name, operands, fields


def compiled(name, operands, fields):
    """The same call as a graph's executable, and the arrays that it is fed."""
    graph, fed = mg.Graph(), []

    def tensor(value):
        if not isinstance(value, np.ndarray):
            return value
        fed.append((graph.placeholder(value.shape, value.dtype), value))
        return fed[-1][0]

    # In this order: CPython 3.11 keeps the keywords of a call whose positional arguments fail.
    positional = [tensor(value) for value in operands]
    targets = getattr(graph, name)(*positional, **{key: tensor(value) for key, value in fields.items()})
    targets = [target for target in (targets if isinstance(targets, tuple) else (targets,)) if target is not None]
    return graph.compile(feeds=[feed for feed, _ in fed], targets=targets), [value for _, value in fed]
