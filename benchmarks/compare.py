"""This package beside torch on one machine: medians of interleaved rounds. See README.md."""

import argparse
import statistics
import time

import numpy as np
import torch
from torch.nn import functional

import mpsgraph_native as mg

# batch, input channels, output channels, image, kernel, stride
CONVOLUTIONS = [
    (32, 3, 64, 224, 7, 2),
    (32, 64, 64, 56, 3, 1),
    (32, 256, 256, 14, 3, 1),
    (32, 512, 512, 7, 3, 1),
    (32, 256, 1024, 14, 1, 1),
    (32, 128, 128, 56, 3, 2),
    (8, 16, 32, 32, 3, 1),
    (1, 8, 8, 8, 3, 1),
]
# batch, channels, image, kernel, stride
DEPTHWISE = [(32, 32, 112, 3, 1), (32, 144, 56, 3, 2), (32, 384, 14, 3, 1), (32, 96, 56, 7, 1), (1, 8, 8, 3, 1)]
# batch, channels, image, kernel, stride, padding
POOLINGS = [(32, 64, 112, 3, 2, 1), (32, 64, 56, 2, 2, 0), (1, 8, 8, 2, 2, 0)]
# time, batch, input, units, directions
RECURRENT = [(50, 32, 128, 256, 1), (100, 64, 256, 512, 1), (20, 1, 32, 64, 1), (50, 32, 128, 256, 2)]

rng = np.random.default_rng(0)


def random(*shape):
    return rng.standard_normal(shape, dtype=np.float32) * np.float32(0.1)


def layouts(*arrays):
    """The arrays as torch tensors, in both of torch's memory layouts."""
    tensors = [torch.from_numpy(array) for array in arrays]
    yield "torch NCHW", tensors
    yield "torch channels_last", [tensor.to(memory_format=torch.channels_last) for tensor in tensors]


def torch_convolution(dy, x, w, stride, padding, groups, wanted):
    return torch.ops.aten.convolution_backward(
        dy, x, w, None, [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], groups, wanted
    )


def convolution_rows(depthwise):
    """(name, {who: call}) for the forward operation and both gradients."""
    prefix = "depthwise_convolution_2d" if depthwise else "convolution_2d"
    functions = [getattr(mg, f"{prefix}{suffix}") for suffix in ("", "_data_gradient", "_weights_gradient")]
    kind = mg.DepthwiseConvolution2DDescriptor if depthwise else mg.Convolution2DDescriptor
    for row in DEPTHWISE if depthwise else CONVOLUTIONS:
        n, c, *outputs, size, kernel, stride = row
        o = c if depthwise else outputs[0]
        groups = c if depthwise else 1
        padding = kernel // 2
        x = random(n, c, size, size)
        w = random(1, c, kernel, kernel) if depthwise else random(o, c, kernel, kernel)
        torch_w = w.reshape(c, 1, kernel, kernel) if depthwise else w
        edges = dict.fromkeys(("padding_left", "padding_right", "padding_top", "padding_bottom"), padding)
        for layout in ("NCHW", "NHWC"):
            descriptor = kind(stride_in_x=stride, stride_in_y=stride, data_layout=layout, **edges)
            data = x if layout == "NCHW" else np.ascontiguousarray(x.transpose(0, 2, 3, 1))
            result = functions[0](data, w, descriptor=descriptor)
            dy = random(*result.shape)
            planar = dy if layout == "NCHW" else np.ascontiguousarray(dy.transpose(0, 3, 1, 2))
            peers = {name: tensors for name, tensors in layouts(planar, x, torch_w)}
            label = f"{layout} N{n} {c}→{o} {size}² k{kernel} s{stride}"
            keywords = {"descriptor": descriptor}

            def forward(tensors, stride=stride, padding=padding, groups=groups):
                return functional.conv2d(tensors[1], tensors[2], None, stride, padding, 1, groups)

            def backward(tensors, wanted, stride=stride, padding=padding, groups=groups):
                return torch_convolution(*tensors, stride, padding, groups, wanted)

            yield (
                f"{prefix} {label}",
                {
                    "ours": lambda data=data, w=w, k=keywords, out=np.empty_like(result): functions[0](
                        data, w, out=out, **k
                    ),
                    **{name: lambda t=t, f=forward: f(t) for name, t in peers.items()},
                },
            )
            yield (
                f"{prefix}_data_gradient {label}",
                {
                    "ours": lambda dy=dy, w=w, k=keywords, out=np.empty_like(data): functions[1](
                        dy, w, output_shape=out.shape, out=out, **k
                    ),
                    **{name: lambda t=t, f=backward: f(t, [True, False, False]) for name, t in peers.items()},
                },
            )
            yield (
                f"{prefix}_weights_gradient {label}",
                {
                    "ours": lambda dy=dy, data=data, k=keywords, out=np.empty_like(w): functions[2](
                        dy, data, output_shape=out.shape, out=out, **k
                    ),
                    **{name: lambda t=t, f=backward: f(t, [False, True, False]) for name, t in peers.items()},
                },
            )


def pooling_rows():
    for n, c, size, kernel, stride, padding in POOLINGS:
        x = random(n, c, size, size)
        for layout in ("NCHW", "NHWC"):
            descriptor = mg.Pooling2DDescriptor(
                kernel_width=kernel, kernel_height=kernel, stride_in_x=stride, stride_in_y=stride,
                padding_left=padding, padding_right=padding, padding_top=padding, padding_bottom=padding,
                data_layout=layout, return_indices_mode="GlobalFlatten2D" if layout == "NCHW" else "GlobalFlatten3D",
            )  # fmt: skip
            data = x if layout == "NCHW" else np.ascontiguousarray(x.transpose(0, 2, 3, 1))
            values, indices = mg.max_pooling_2d_return_indices(data, descriptor=descriptor)
            dy = random(*values.shape)
            planar = dy if layout == "NCHW" else np.ascontiguousarray(dy.transpose(0, 3, 1, 2))
            arguments = ([kernel] * 2, [stride] * 2, [padding] * 2, [1, 1], False)
            peers = {}
            for name, (gradient, source) in layouts(planar, x):
                peers[name] = (gradient, source, torch.ops.aten.max_pool2d_with_indices(source, *arguments)[1])
            label = f"{layout} N{n} C{c} {size}² k{kernel} s{stride} p{padding}"
            yield (
                f"max_pooling_2d_return_indices {label}",
                {
                    "ours": lambda data=data, d=descriptor, out=(values, indices): mg.max_pooling_2d_return_indices(
                        data, descriptor=d, out=out
                    ),
                    **{
                        name: lambda t=t, a=arguments: torch.ops.aten.max_pool2d_with_indices(t[1], *a)
                        for name, t in peers.items()
                    },
                },
            )
            yield (
                f"max_pooling_2d_gradient {label}",
                {
                    "ours": lambda dy=dy, i=indices.copy(), d=descriptor, out=np.empty_like(data): (
                        mg.max_pooling_2d_gradient(dy, indices=i, output_shape=out.shape, descriptor=d, out=out)
                    ),
                    **{
                        name: lambda t=t, a=arguments: torch.ops.aten.max_pool2d_with_indices_backward(
                            t[0], t[1], *a, t[2]
                        )
                        for name, t in peers.items()
                    },
                },
            )


def torch_recurrent(module, x, dy):
    def step():
        x.grad = None
        module.zero_grad()
        module(x)[0].backward(dy)

    return step


def recurrent_rows():
    for t, n, i, h, directions in RECURRENT:
        x, dy = random(t, n, i), random(t, n, directions * h)
        both = directions == 2
        label = f"T{t} N{n} I{i} H{h}{' bidirectional' if both else ''}"
        for name, gates, module, descriptor in (
            ("gru", 3, torch.nn.GRU, mg.GRUDescriptor(training=True, reset_after=True, bidirectional=both)),
            ("lstm", 4, torch.nn.LSTM, mg.LSTMDescriptor(training=True, bidirectional=both)),
            (
                "single_gate_rnn",
                1,
                torch.nn.RNN,
                mg.SingleGateRNNDescriptor(training=True, activation="Tanh", bidirectional=both),
            ),
        ):
            recurrent = random(*([2] * both), gates * h, h)
            weights = {"input_weight": random(directions * gates * h, i), "bias": random(directions * gates * h)}
            if name == "gru":
                weights["secondary_bias"] = random(directions * h)
            saved = {
                "gru": ("z_state", "output_fwd"),
                "lstm": ("z_state", "cell_output_fwd"),
                "single_gate_rnn": ("z_state",),
            }

            def ours(
                name=name, x=x, dy=dy, recurrent=recurrent, weights=weights, descriptor=descriptor, saved=saved[name]
            ):
                results = getattr(mg, name)(x, recurrent, descriptor=descriptor, **weights)
                state = {"z_state": results[-1], "output_fwd": results[0], "cell_output_fwd": results[1]}
                return getattr(mg, f"{name}_gradients")(
                    x, recurrent, dy, descriptor=descriptor, **weights, **{key: state[key] for key in saved}
                )

            source = torch.from_numpy(x).requires_grad_()
            peer = module(i, h, bidirectional=both)
            yield f"{name} forward + gradients {label}", {
                "ours": ours, "torch": torch_recurrent(peer, source, torch.from_numpy(dy)),
            }  # fmt: skip


def measure(calls, rounds, seconds_per_round):
    """Median seconds per call of each, from interleaved rounds."""
    repeats = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        once = time.perf_counter() - start
        repeats[name] = max(1, min(1000, int(seconds_per_round / max(once, 1e-7))))
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            # OpenMP's workers spin on after a call and would hold the processors of the next one.
            time.sleep(0.05)
            call()
            start = time.perf_counter()
            for _ in range(repeats[name]):
                call()
            times[name].append((time.perf_counter() - start) / repeats[name])
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.02, help="least time of one round of fast rows")
    parser.add_argument("--rows", nargs="*", default=[], help="only rows whose name holds one of these words")
    arguments = parser.parse_args()
    _, in_use = mg.instruction_sets()
    print(
        f"mpsgraph_native {mg.__version__} ({in_use}), torch {torch.__version__}; medians of {arguments.rounds} rounds\n"
    )
    for threads in arguments.threads:
        mg.set_num_threads(threads)
        torch.set_num_threads(threads)
        print(f"{threads} thread(s)\n{'row':<78}{'ours ms':>10}  {'ratio':>6}  peers ms")
        for rows in (convolution_rows(False), convolution_rows(True), pooling_rows(), recurrent_rows()):
            for name, calls in rows:
                if arguments.rows and not any(word in name for word in arguments.rows):
                    continue
                seconds = measure(calls, arguments.rounds, arguments.seconds)
                ours = seconds.pop("ours")
                peers = ", ".join(f"{peer} {value * 1e3:.3f}" for peer, value in seconds.items())
                print(f"{name:<78}{ours * 1e3:>10.3f}  {min(seconds.values()) / ours:>6.2f}  {peers}", flush=True)
        print()


if __name__ == "__main__":
    main()
