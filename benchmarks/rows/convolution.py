"""Convolutions and depthwise convolutions with both their gradients."""

import dataclasses

import numpy as np

import mpsgraph_native as mg

from .row import FLOAT32, Contender, Row, from_layout, in_layout, output_size, random, written_out

# batch, input channels, output channels, image, kernel, stride
CONVOLUTIONS = [
    (32, 3, 64, 224, 7, 2),
    (32, 64, 64, 56, 3, 1),
    (32, 128, 128, 56, 3, 2),
    (32, 256, 256, 14, 3, 1),
    (32, 512, 512, 7, 3, 1),
    (32, 256, 1024, 14, 1, 1),
    (8, 16, 32, 32, 3, 1),
    (1, 8, 8, 8, 3, 1),
]
# batch, channels, image, kernel, stride
DEPTHWISE_CONVOLUTIONS = [
    (32, 32, 112, 3, 1),
    (32, 144, 56, 3, 2),
    (32, 384, 14, 3, 1),
    (32, 96, 56, 7, 1),
    (1, 8, 8, 3, 1),
]
# What each operation takes, in this package's order, and gives.
OPERANDS = {
    "forward": ("source", "weights"),
    "data_gradient": ("incoming", "weights"),
    "weights_gradient": ("incoming", "source"),
}
RESULT = {"forward": "incoming", "data_gradient": "source", "weights_gradient": "weights"}


@dataclasses.dataclass(frozen=True)
class ConvolutionRow(Row):
    kind: str  # a key of OPERANDS
    layout: str
    batch: int
    inputs: int
    outputs: int
    image: int
    kernel: int
    stride: int
    depthwise: bool = False

    @property
    def family(self):
        return "depthwise_convolution" if self.depthwise else "convolution"

    @property
    def operation(self):
        return f"{self.family}_2d" + ("" if self.kind == "forward" else f"_{self.kind}")

    @property
    def sizes(self):
        channels = f"C{self.inputs}" if self.depthwise else f"{self.inputs}→{self.outputs}"
        return f"{self.layout} N{self.batch} {channels} {self.image}² k{self.kernel} s{self.stride}"

    @property
    def gradient(self):
        return self.kind != "forward"

    @property
    def unit(self):
        return "GB/s" if self.depthwise else "GFLOP/s"

    @property
    def padding(self):
        return self.kernel // 2

    @property
    def groups(self):
        return self.inputs if self.depthwise else 1

    @property
    def shapes(self):
        side = output_size(self.image, self.kernel, self.stride, self.padding)
        return {
            "source": (self.batch, self.inputs, self.image, self.image),
            "weights": (self.outputs, self.inputs // self.groups, self.kernel, self.kernel),
            "incoming": (self.batch, self.outputs, side, side),
        }

    @property
    def flops(self):
        """Those of the sum as it is written, whatever algorithm computes it."""
        taps = self.inputs // self.groups * self.kernel**2
        return 2 * int(np.prod(self.shapes["incoming"])) * taps

    @property
    def bytes(self):
        return FLOAT32 * sum(int(np.prod(shape)) for shape in self.shapes.values())

    def arrays(self):
        return {name: random(*shape, seed=seed) for seed, (name, shape) in enumerate(self.shapes.items())}

    def ours(self, arrays):
        padding = dict.fromkeys(("padding_left", "padding_right", "padding_top", "padding_bottom"), self.padding)
        strides = {"stride_in_x": self.stride, "stride_in_y": self.stride}
        kind = mg.DepthwiseConvolution2DDescriptor if self.depthwise else mg.Convolution2DDescriptor
        weights_shape = (1, self.inputs, self.kernel, self.kernel) if self.depthwise else self.shapes["weights"]
        placed = {
            "source": in_layout(arrays["source"], self.layout),
            "weights": arrays["weights"].reshape(weights_shape),
            "incoming": in_layout(arrays["incoming"], self.layout),
        }
        operands = [placed[name] for name in OPERANDS[self.kind]]
        result = RESULT[self.kind]
        out = np.empty_like(placed[result])
        keywords = {"descriptor": kind(data_layout=self.layout, **padding, **strides), "out": out}
        if self.gradient:
            keywords["output_shape"] = out.shape
        function = getattr(mg, self.operation)

        def results(given):
            planar = given.reshape(self.shapes["weights"]) if result == "weights" else from_layout(given, self.layout)
            return {result: planar}

        return Contender("ours", written_out(function, *operands, **keywords), results)


def rows():
    for sizes in CONVOLUTIONS:
        for layout in ("NCHW", "NHWC"):
            for kind in OPERANDS:
                yield ConvolutionRow(kind, layout, *sizes)
    for batch, channels, *window in DEPTHWISE_CONVOLUTIONS:
        for layout in ("NCHW", "NHWC"):
            for kind in OPERANDS:
                yield ConvolutionRow(kind, layout, batch, channels, channels, *window, depthwise=True)
