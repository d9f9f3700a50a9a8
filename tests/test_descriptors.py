"""Descriptors are values: immutable, hashable, comparable, printable, with MPSGraph's defaults."""

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from support import counting, names

import mpsgraph_native as mg

WINDOW_2D = {
    "stride_in_x": 1, "stride_in_y": 1, "dilation_rate_in_x": 1, "dilation_rate_in_y": 1, "padding_left": 0,
    "padding_right": 0, "padding_top": 0, "padding_bottom": 0, "padding_style": "Explicit",
}  # fmt: skip
POOLING_FLAGS = {
    "ceil_mode": False, "include_zero_pad_to_average": False, "return_indices_mode": "None",
}  # fmt: skip
GATES = {"reverse": False, "bidirectional": False, "training": False}

# Class, required fields, defaults of the others, one valid change.
DESCRIPTORS = [
    ("Pooling2DDescriptor", {"kernel_width": 2, "kernel_height": 3},
     WINDOW_2D | POOLING_FLAGS | {"data_layout": "NCHW"}, {"stride_in_x": 2}),
    ("Pooling4DDescriptor", {"kernel_sizes": (1, 1, 2, 2)},
     POOLING_FLAGS | {"strides": (1, 1, 1, 1), "dilation_rates": (1, 1, 1, 1), "padding_values": (0,) * 8,
                      "padding_style": "Explicit"}, {"strides": (1, 1, 2, 2)}),
    ("Convolution2DDescriptor", {}, WINDOW_2D | {"groups": 1, "data_layout": "NCHW", "weights_layout": "OIHW"},
     {"groups": 2}),
    ("DepthwiseConvolution2DDescriptor", {}, WINDOW_2D | {"data_layout": "NCHW", "weights_layout": "OIHW"},
     {"data_layout": "NHWC"}),
    ("GRUDescriptor", {},
     GATES | {"reset_gate_first": False, "reset_after": False, "flip_z": False, "update_gate_activation": "Sigmoid",
              "reset_gate_activation": "Sigmoid", "output_gate_activation": "Tanh"}, {"flip_z": True}),
    ("LSTMDescriptor", {},
     GATES | {"produce_cell": False, "forget_gate_last": False, "input_gate_activation": "Sigmoid",
              "forget_gate_activation": "Sigmoid", "cell_gate_activation": "Tanh",
              "output_gate_activation": "Sigmoid", "activation": "Tanh"}, {"produce_cell": True}),
    ("SingleGateRNNDescriptor", {}, GATES | {"activation": "Relu"}, {"activation": "None"}),
]  # fmt: skip

ENUMERATIONS = {
    "PaddingStyle": ("Explicit", "TF_VALID", "TF_SAME", "ExplicitOffset", "ONNX_SAME_LOWER"),
    "RNNActivation": ("None", "Relu", "Tanh", "Sigmoid", "HardSigmoid"),
    "LossReductionType": ("None", "Sum", "Mean"),
    "TensorNamedDataLayout": (
        "NCHW", "NHWC", "OIHW", "HWIO", "CHW", "HWC", "HW", "NCDHW", "NDHWC", "OIDHW", "DHWIO",
    ),
    "PoolingReturnIndicesMode": (
        "None", *(f"{scope}Flatten{n}D" for scope in ("Global", "Local") for n in (1, 2, 3, 4)),
    ),
}  # fmt: skip


@pytest.fixture(params=DESCRIPTORS, ids=lambda row: row[0])
def row(request):
    name, required, defaults, change = request.param
    return getattr(mg, name), required, defaults, change


def plain(value):
    """Enumeration members by name, sequences as tuples."""
    if hasattr(value, "name"):
        return value.name
    return tuple(value) if isinstance(value, (list, tuple)) else value


def test_defaults(row):
    kind, required, defaults, *_ = row
    descriptor = kind(**required)
    for name, expected in (defaults | required).items():
        assert plain(getattr(descriptor, name)) == expected, name


def test_comparison_and_hash(row):
    kind, required, _, change = row
    first, same, other = kind(**required), kind(**required), kind(**required, **change)
    assert first == same
    assert hash(first) == hash(same)
    assert first != other
    assert len({first, same, other}) == 2
    assert first != "descriptor"


def test_given_defaults_are_equal_to_absent_ones(row):
    kind, required, defaults, *_ = row
    assert kind(**required, **defaults) == kind(**required)


def test_every_field_counts(row):
    kind, required, defaults, *_ = row
    base = kind(**required)
    for name, value in defaults.items():
        changed = altered(name, value, kind)
        if changed is not None:
            assert kind(**(required | {name: changed})) != base, name


def altered(name, value, kind):
    """Another valid value of a field, None where it has no simple one."""
    if isinstance(value, bool):
        return not value
    if name == "channel_dimension_index":
        return -1
    if isinstance(value, int):
        return value + 1
    if isinstance(value, tuple):
        return (*value[:-1], value[-1] + 1)
    others = {
        "padding_style": "TF_SAME", "data_layout": "NHWC",
        "weights_layout": "HWIO", "return_indices_mode": "GlobalFlatten2D",
    }  # fmt: skip
    return others.get(name, "HardSigmoid" if name.endswith("activation") else None)


def test_immutable(row):
    kind, required, _, change = row
    descriptor = kind(**required)
    (name, value), *_ = change.items()
    before = getattr(descriptor, name)
    with pytest.raises((AttributeError, TypeError)):
        setattr(descriptor, name, value)
    with pytest.raises((AttributeError, TypeError)):
        delattr(descriptor, name)
    assert getattr(descriptor, name) == before


def test_printable(row):
    kind, required, _, change = row
    text = repr(kind(**required, **change))
    assert kind.__name__ in text
    for name in (*required, *change):
        assert name in text


def test_copies_and_pickles_are_equal(row):
    kind, required, _, change = row
    descriptor = kind(**required, **change)
    assert copy.deepcopy(descriptor) == descriptor
    assert pickle.loads(pickle.dumps(descriptor)) == descriptor


def test_unknown_fields(row):
    kind, required, *_ = row
    with pytest.raises(TypeError, match=names("strides_in_w")):
        kind(**required, strides_in_w=1)


def test_enumerations_by_name(row):
    kind, required, defaults, *_ = row
    for name, value in defaults.items():
        if isinstance(value, str):
            member = getattr(kind(**required), name)
            assert kind(**required, **{name: member}) == kind(**required, **{name: value})
            with pytest.raises((ValueError, TypeError), match=names(name)):
                kind(**required, **{name: "Abacus"})


def test_numbers_of_the_wrong_kind(row):
    kind, required, defaults, *_ = row
    for name, value in defaults.items():
        if isinstance(value, int) and not isinstance(value, bool):
            for wrong in (1.5, "two", None):
                with pytest.raises((ValueError, TypeError), match=names(name)):
                    kind(**required, **{name: wrong})
        if isinstance(value, tuple):
            for wrong in (3.5, "abc", (*value[:-1], 1.5)):
                with pytest.raises((ValueError, TypeError), match=names(name)):
                    kind(**required, **{name: wrong})


OUT_OF_RANGE = [
    *((name, value) for name in ("stride_in_x", "stride_in_y", "dilation_rate_in_x", "dilation_rate_in_y", "groups")
      for value in (0, -1, 2**31)),
    *((f"padding_{side}", value) for side in ("left", "right", "top", "bottom") for value in (-1, 2**31)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), OUT_OF_RANGE)
def test_numbers_out_of_range(name, value):
    """Refused at the latest when an operation uses the descriptor."""
    with pytest.raises(ValueError, match=names(name)):
        mg.convolution_2d(
            counting(1, 1, 6, 6), counting(1, 1, 2, 2), descriptor=mg.Convolution2DDescriptor(**{name: value})
        )


@pytest.mark.parametrize(("name", "length"), [("kernel_sizes", 4), ("strides", 4), ("padding_values", 8)])
@pytest.mark.parametrize("change", [-1, 1])
def test_sequences_of_another_length(name, length, change):
    fields = {"kernel_sizes": (1, 1, 2, 2)} | {name: (1,) * (length + change)}
    with pytest.raises(ValueError, match=names(name)):
        mg.max_pooling_4d(counting(1, 1, 6, 6), descriptor=mg.Pooling4DDescriptor(**fields))


@pytest.mark.parametrize(
    ("kind", "missing"), [("Pooling2DDescriptor", "kernel_width"), ("Pooling4DDescriptor", "kernel_sizes")]
)
def test_required_fields(kind, missing):
    with pytest.raises(TypeError, match=names(missing)):
        getattr(mg, kind)()


@pytest.mark.parametrize("name", ENUMERATIONS)
def test_enumeration_members(name):
    """MPSGraph's names in MPSGraph's order, which gives their numbers."""
    members = list(getattr(mg, name))
    assert [member.name for member in members] == list(ENUMERATIONS[name])
    assert [int(member.value) for member in members] == list(range(len(members)))


def test_lists_count_as_tuples():
    by_list = mg.Pooling4DDescriptor(kernel_sizes=[1, 1, 2, 2], strides=[1, 1, 2, 2])
    assert by_list == mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 2, 2), strides=(1, 1, 2, 2))
    assert hash(by_list) == hash(mg.Pooling4DDescriptor(kernel_sizes=(1, 1, 2, 2), strides=(1, 1, 2, 2)))


def test_descriptors_of_two_operations_differ():
    assert mg.GRUDescriptor() != mg.LSTMDescriptor()
    assert mg.Convolution2DDescriptor() != mg.DepthwiseConvolution2DDescriptor()


def test_fields_alone_are_data():
    """What a descriptor remembers for speed is no field of it."""
    descriptor = mg.Convolution2DDescriptor(stride_in_x=2)
    mg.convolution_2d(counting(1, 1, 4, 4), counting(1, 1, 2, 2), descriptor=descriptor)
    assert set(dataclasses.asdict(descriptor)) == {field.name for field in dataclasses.fields(descriptor)}
    assert mg.Convolution2DDescriptor(**dataclasses.asdict(descriptor)) == descriptor


def test_enumerations_are_found_by_name_and_value():
    assert mg.PaddingStyle("TF_SAME") is mg.PaddingStyle.TF_SAME
    assert mg.Convolution2DDescriptor(data_layout=np.int64(1)).data_layout is mg.TensorNamedDataLayout.NHWC
