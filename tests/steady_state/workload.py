"""Run under counter.c: prints, as JSON, what every founding operation allocates once its first calls are over.

Arguments: the number of threads, the size (of images, channels, steps and units) and how often each is called.
"""

import ctypes
import json
import resource
import sys
from pathlib import Path

import numpy as np

import mpsgraph_native as mg

counter = ctypes.CDLL(None)  # preloaded
for _function in (counter.counted_allocations, counter.counted_releases):
    _function.restype = ctypes.c_long
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


def compiled(name, operands, fields):
    """The same call as a graph's executable, and the arrays that it is fed."""
    graph, fed = mg.Graph(), []

    def tensor(value):
        if not isinstance(value, np.ndarray):
            return value
        fed.append((graph.placeholder(value.shape, value.dtype), value))
        return fed[-1][0]

    targets = getattr(graph, name)(*map(tensor, operands), **{key: tensor(value) for key, value in fields.items()})
    targets = [target for target in (targets if isinstance(targets, tuple) else (targets,)) if target is not None]
    return graph.compile(feeds=[feed for feed, _ in fed], targets=targets), [value for _, value in fed]


def state():
    pages = mg.memory_statistics()
    return {
        "resident bytes": int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize(),
        "Python blocks": sys.getallocatedblocks(),
        "mappings": pages["mappings"],
        "live page bytes": pages["live_bytes"],
    }


def heap():
    return {"allocations": counter.counted_allocations(), "releases": counter.counted_releases()}


def measured(call, times):
    """By how much each count has grown after so many calls."""
    for _ in range(3):  # the first compiles and finds memory
        call()
    for _ in range(3):  # what the first work of a thread allocates comes once; what a call allocates, every time
        before = state() | heap()
        for _ in range(times):
            call()
        after = heap() | state()  # in this order: to look at the state allocates
        grown = {name: after[name] - before[name] for name in before}
        if not grown["allocations"]:
            break
    return grown


def main(threads, size, times):
    mg.set_default_device("cpu")
    mg.set_num_threads(threads)
    found = {"control": measured(lambda: bytearray(1 << 16), times)}
    for dtype in ("float32", "float16"):
        calls = [("", case) for case in recurrent(size, dtype)]
        for layout in ("NCHW", "NHWC"):
            calls += [
                (f" {layout}", case) for case in (*convolutions(size, dtype, layout), *poolings(size, dtype, layout))
            ]
        for suffix, (name, operands, fields) in calls:
            function = getattr(mg, name)
            results = function(*operands, **fields)
            out = results
            if isinstance(results, tuple):
                out = results = tuple(result for result in results if result is not None)
            executable, values = compiled(name, operands, fields)
            targets = list(results) if isinstance(results, tuple) else [results]
            what = f"{name}{' from source' if name == 'max_pooling_2d_gradient' and 'source' in fields else ''}"
            ways = {
                "function": lambda function=function, operands=operands, fields=fields, out=out: function(
                    *operands, **fields, out=out
                ),
                "executable": lambda executable=executable, values=values, targets=targets: executable.run(
                    values, results=targets
                ),
            }
            for way, call in ways.items():
                found[f"{what}{suffix} {dtype} {way}"] = measured(call, times)
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
