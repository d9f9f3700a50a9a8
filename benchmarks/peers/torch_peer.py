"""torch as people call it, contiguous NCHW, and in its other layout, channels_last."""

import torch
from rows.convolution import OPERANDS, RESULT
from rows.row import Contender
from torch.nn import functional

FORMATS = {"torch": torch.contiguous_format, "torch channels_last": torch.channels_last}
MODULES = {"gru": torch.nn.GRU, "lstm": torch.nn.LSTM, "single_gate_rnn": torch.nn.RNN}


def set_threads(count):
    torch.set_num_threads(count)


def _plain(tensor):
    return tensor.detach().contiguous().numpy()


def _convolution(row, arrays):
    wanted = [row.kind == "data_gradient", row.kind == "weights_gradient", False]
    for name, memory_format in FORMATS.items():
        tensors = {key: torch.from_numpy(array).to(memory_format=memory_format) for key, array in arrays.items()}

        def forward(tensors=tensors):
            source, weights = (tensors[key] for key in OPERANDS["forward"])
            return functional.conv2d(source, weights, None, row.stride, row.padding, 1, row.groups)

        def backward(tensors=tensors):
            return torch.ops.aten.convolution_backward(
                tensors["incoming"], tensors["source"], tensors["weights"], None, [row.stride] * 2,
                [row.padding] * 2, [1, 1], False, [0, 0], row.groups, wanted,
            )[wanted.index(True)]  # fmt: skip

        yield Contender(name, backward if row.gradient else forward, lambda given: {RESULT[row.kind]: _plain(given)})


def _pooling(row, arrays):
    window = ([row.kernel] * 2, [row.stride] * 2, [row.padding] * 2, [1, 1], False)
    for name, memory_format in FORMATS.items():
        source, incoming = (
            torch.from_numpy(arrays[key]).to(memory_format=memory_format) for key in ("source", "incoming")
        )
        if row.gradient:
            indices = torch.ops.aten.max_pool2d_with_indices(source, *window)[1]
            yield Contender(
                name,
                lambda incoming=incoming, source=source, indices=indices: (
                    torch.ops.aten.max_pool2d_with_indices_backward(incoming, source, *window, indices)
                ),
                lambda given: {"source": _plain(given)},
            )
        else:
            yield Contender(
                name,
                lambda source=source: torch.ops.aten.max_pool2d_with_indices(source, *window),
                lambda given: {"values": _plain(given[0]), "indices": _plain(given[1])},
            )


def _recurrent(row, arrays):
    module = MODULES[row.cell](row.inputs, row.units, bidirectional=row.directions == 2)
    tensors = {key: torch.from_numpy(array) for key, array in arrays.items()}
    suffixes = ("", "_reverse")[: row.directions]
    candidate = slice(2 * row.units, None)
    recurrent = tensors["recurrent_weight"].reshape(row.directions, -1, row.units)
    halves = {
        key: tensors[key].chunk(row.directions) for key in ("input_weight", "bias", "secondary_bias") if key in tensors
    }
    with torch.no_grad():
        for direction, suffix in enumerate(suffixes):
            parameters = {
                key: getattr(module, f"{key}_l0{suffix}") for key in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
            }
            parameters["weight_ih"].copy_(halves["input_weight"][direction])
            parameters["weight_hh"].copy_(recurrent[direction])
            parameters["bias_ih"].copy_(halves["bias"][direction])
            parameters["bias_hh"].zero_()
            if row.cell == "gru":
                parameters["bias_hh"][candidate] = halves["secondary_bias"][direction]
    source, incoming = tensors["source"], tensors["incoming"]

    def forward():
        with torch.no_grad():
            return module(source)[0]

    def forward_and_gradients():
        source.grad = None
        module.zero_grad()
        h = module(source)[0]
        h.backward(incoming)
        return h

    def gradients(key):
        return torch.cat([getattr(module, f"{key}_l0{suffix}").grad for suffix in suffixes])

    def results(h):
        if not row.gradient:
            return {"h": _plain(h)}
        found = {
            "h": _plain(h),
            "source": _plain(source.grad),
            "recurrent_weight": _plain(gradients("weight_hh")).reshape(row.shapes["recurrent_weight"]),
            "input_weight": _plain(gradients("weight_ih")),
            "bias": _plain(gradients("bias_ih")),
        }
        if row.cell == "gru":
            parts = [getattr(module, f"bias_hh_l0{suffix}").grad[candidate] for suffix in suffixes]
            found["secondary_bias"] = _plain(torch.cat(parts))
        return found

    if row.gradient:
        source.requires_grad_()
    if row.forward:
        yield Contender("torch", forward_and_gradients if row.gradient else forward, results)
        return
    h = module(source)[0]
    leaves = [source, *module.parameters()]

    def results_alone(given):
        for leaf, gradient in zip(leaves, given, strict=True):
            leaf.grad = gradient
        return results(h)

    yield Contender("torch", lambda: torch.autograd.grad(h, leaves, incoming, retain_graph=True), results_alone)


def contenders(row, arrays):
    return FAMILIES[row.family](row, arrays)


FAMILIES = {
    "convolution": _convolution,
    "depthwise_convolution": _convolution,
    "pooling": _pooling,
    "recurrent": _recurrent,
}
