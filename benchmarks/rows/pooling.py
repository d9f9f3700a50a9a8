"""Max pooling with indices, and its gradient from them."""

import dataclasses

import numpy as np

import mpsgraph_native as mg

from .row import FLOAT32, Contender, Row, from_layout, in_layout, output_size, random, written_out

# batch, channels, image, kernel, stride, padding
POOLINGS = [(32, 64, 112, 3, 2, 1), (32, 64, 56, 2, 2, 0), (1, 8, 8, 2, 2, 0)]
INT32 = np.dtype(np.int32).itemsize


@dataclasses.dataclass(frozen=True)
class PoolingRow(Row):
    gradient: bool
    layout: str
    batch: int
    channels: int
    image: int
    kernel: int
    stride: int
    padding: int

    family = "pooling"
    unit = "GB/s"
    flops = 0  # comparisons alone

    @property
    def operation(self):
        return "max_pooling_2d_gradient" if self.gradient else "max_pooling_2d_return_indices"

    @property
    def sizes(self):
        window = f"k{self.kernel} s{self.stride} p{self.padding}"
        return f"{self.layout} N{self.batch} C{self.channels} {self.image}² {window}"

    @property
    def source_shape(self):
        return self.batch, self.channels, self.image, self.image

    @property
    def output_shape(self):
        side = output_size(self.image, self.kernel, self.stride, self.padding)
        return self.batch, self.channels, side, side

    @property
    def bytes(self):
        pooled = int(np.prod(self.output_shape))
        return FLOAT32 * int(np.prod(self.source_shape)) + (FLOAT32 + INT32) * pooled

    def arrays(self):
        return {"source": random(*self.source_shape), "incoming": random(*self.output_shape, seed=1)}

    def ours(self, arrays):
        # Of the modes that can name every pooled axis, the cheaper one of the layout.
        mode = "GlobalFlatten2D" if self.layout == "NCHW" else "GlobalFlatten3D"
        descriptor = mg.Pooling2DDescriptor(
            kernel_width=self.kernel, kernel_height=self.kernel, stride_in_x=self.stride, stride_in_y=self.stride,
            padding_left=self.padding, padding_right=self.padding, padding_top=self.padding,
            padding_bottom=self.padding, data_layout=self.layout, return_indices_mode=mode,
        )  # fmt: skip
        source = in_layout(arrays["source"], self.layout)
        values, indices = mg.max_pooling_2d_return_indices(source, descriptor=descriptor)
        if self.gradient:
            incoming, out = in_layout(arrays["incoming"], self.layout), np.empty_like(source)
            keywords = {"indices": indices, "output_shape": out.shape, "descriptor": descriptor, "out": out}
            return Contender(
                "ours",
                written_out(mg.max_pooling_2d_gradient, incoming, **keywords),
                lambda given: {"source": from_layout(given, self.layout)},
            )

        def results(given):
            found = given[1] if self.layout == "NCHW" else given[1] // self.channels
            return {
                "values": from_layout(given[0], self.layout),
                "indices": from_layout(found, self.layout),
            }

        keywords = {"descriptor": descriptor, "out": (values, indices)}
        return Contender("ours", written_out(mg.max_pooling_2d_return_indices, source, **keywords), results)


def rows():
    for sizes in POOLINGS:
        for layout in ("NCHW", "NHWC"):
            for gradient in (False, True):
                yield PoolingRow(gradient, layout, *sizes)
