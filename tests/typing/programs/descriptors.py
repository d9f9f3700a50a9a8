"""Descriptors and enumerations, by member and by name."""

import dataclasses
from typing import assert_type

import numpy as np

import mpsgraph_native as mg
from mpsgraph_native.typing import PaddingStyleName, RNNActivationName


def same(style: PaddingStyleName = "TF_SAME") -> mg.Convolution2DDescriptor:
    return mg.Convolution2DDescriptor(
        padding_style=style, data_layout="NHWC", weights_layout="HWIO", groups=np.int64(1)
    )


def main() -> None:
    d = same()
    assert_type(d.padding_style, mg.PaddingStyle)
    assert_type(d.stride_in_x, int)
    assert d == same() and hash(d) == hash(same()) and d != mg.GRUDescriptor()
    changed = dataclasses.replace(d, padding_style="Explicit", padding_left=2)
    assert_type(changed, mg.Convolution2DDescriptor)
    assert dataclasses.asdict(changed)["padding_left"] == 2

    p = mg.Pooling4DDescriptor(kernel_sizes=[1, 1, 2, 2], strides=np.array([1, 1, 2, 2]), ceil_mode=np.bool_(True))
    assert_type(p.kernel_sizes, tuple[int, ...])
    assert_type(p.ceil_mode, bool)
    assert_type(p.return_indices_data_type, str)
    mg.Pooling2DDescriptor(
        kernel_width=2,
        kernel_height=2,
        return_indices_mode=mg.PoolingReturnIndicesMode.GlobalFlatten2D,
        return_indices_data_type=np.int32,
    )

    activation: RNNActivationName = "HardSigmoid"
    g = mg.GRUDescriptor(update_gate_activation=activation, output_gate_activation=mg.RNNActivation.None_)
    assert g.output_gate_activation is mg.RNNActivation["None"]
    mg.LSTMDescriptor(produce_cell=True, activation="None")
    mg.SingleGateRNNDescriptor(activation="Relu")
    assert mg.PaddingStyle("TF_SAME") is mg.PaddingStyle.TF_SAME
    assert [style.name for style in mg.LossReductionType] == ["None", "Sum", "Mean"]
    assert int(mg.TensorNamedDataLayout.NHWC) == 1 and mg.PaddingStyle(2) is mg.PaddingStyle.TF_SAME


if __name__ == "__main__":
    main()
