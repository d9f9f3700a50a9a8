"""Graph, placeholders, constants, executables and their feeds."""

import gc

import numpy as np
import pytest
from support import WIDEST, assert_same_bits, counting, dtype, dtypes, names, random_array, seeded

import mpsgraph_native as mg

REFUSED = (ValueError, TypeError, mg.MPSGraphError)
SHAPE = (2, 3)


class Sum:
    """x + y·2, with `y` named as such."""

    def __init__(self, name="float32"):
        self.graph = mg.Graph()
        self.x = self.graph.placeholder(SHAPE, name, name="x")
        self.y = self.graph.placeholder(SHAPE, name, name="y")
        two = self.graph.constant(2.0, shape=SHAPE, dtype=name)
        self.twice = self.graph.multiplication(self.y, two, name="twice")
        self.target = self.graph.addition(self.x, self.twice, name="target")
        self.values = counting(*SHAPE, dtype_name=name), 10 * counting(*SHAPE, dtype_name=name)
        self.expected = self.values[0] + 2 * self.values[1]

    def compile(self, **keywords):
        return self.graph.compile(feeds=[self.x, self.y], targets=[self.target], **keywords)


@pytest.fixture
def net():
    return Sum()


def test_tensors_know_what_they_are():
    graph = mg.Graph()
    tensor = graph.placeholder((2, 3, 4), "float16", name="pixels")
    assert tuple(tensor.shape) == (2, 3, 4)
    assert str(tensor.dtype) == "float16"
    assert tensor.name == "pixels"
    assert "pixels" in repr(tensor)
    assert tensor == tensor
    assert len({tensor, tensor}) == 1


@pytest.mark.parametrize("given", ["bfloat16", dtype("bfloat16"), np.float32, np.dtype("float64")], ids=str)
def test_dtypes_by_any_name(given):
    tensor = mg.Graph().placeholder((1,), given)
    assert str(tensor.dtype) == str(np.dtype(given) if given != "bfloat16" else "bfloat16")


@pytest.mark.parametrize("shape", [(-2,), (2.5,), "ab"], ids=str)
def test_placeholder_refuses_shapes(shape):
    with pytest.raises(REFUSED, match=names("shape")):
        mg.Graph().placeholder(shape, "float32")


def test_placeholder_refuses_types():
    with pytest.raises(REFUSED, match=names("dtype")):
        mg.Graph().placeholder((2,), "complex64")


def test_constants():
    graph = mg.Graph()
    array = counting(2, 3)
    tensors = [
        graph.constant(array),
        graph.constant(array, dtype=WIDEST),
        graph.constant(array, dtype="float16"),
        graph.constant(1.5, shape=(2, 2), dtype="float32"),
        graph.constant(1.5, dtype="float32"),
        graph.constant(array[:, ::-1]),
    ]
    values = graph.run(feeds={}, targets=tensors)
    expected = [
        array,
        array.astype(WIDEST),
        array.astype("f2"),
        np.full((2, 2), 1.5, "f4"),
        np.array(1.5, "f4"),
        array[:, ::-1],
    ]
    for value, wanted in zip(values, expected, strict=True):
        assert value.dtype == wanted.dtype
        np.testing.assert_array_equal(value.reshape(wanted.shape), wanted)


def test_constants_are_copies():
    graph = mg.Graph()
    array = counting(2, 3)
    tensor = graph.constant(array)
    array[...] = 0
    (value,) = graph.run(feeds={}, targets=[tensor])
    np.testing.assert_array_equal(value, counting(2, 3))


def test_run_with_a_list_and_with_a_dictionary(net):
    executable = net.compile()
    (by_position,) = executable.run(list(net.values))
    (by_tensor,) = executable.run({net.y: net.values[1], net.x: net.values[0]})
    (direct,) = net.graph.run(feeds={net.x: net.values[0], net.y: net.values[1]}, targets=[net.target])
    for value in (by_position, by_tensor, direct):
        assert_same_bits(value, net.expected)


def test_run_with_names(net):
    executable = net.compile()
    for inputs in (
        {"y": net.values[1], "x": net.values[0]},
        {"y": net.values[1], net.x: net.values[0]},
    ):
        assert_same_bits(executable.run(inputs)[0], net.expected)


def test_names_refused(net):
    executable = net.compile()
    both = {"x": net.values[0], "y": net.values[1]}
    with pytest.raises(ValueError, match=names("target")):
        executable.run({**both, "target": net.values[0]})
    with pytest.raises(ValueError, match=names("x")) as caught:
        executable.run({**both, net.x: net.values[0]})
    assert "twice" in str(caught.value)
    with pytest.raises(ValueError, match=names("y")):
        executable.run({"x": net.values[0]})
    for key in (0, None, (1, 2)):
        with pytest.raises(ValueError, match=names("feeds")):
            executable.run({**both, key: net.values[0]})


def test_feeds_and_targets_keep_their_order(net):
    executable = net.graph.compile(feeds=[net.y, net.x], targets=[net.target, net.twice], device="cpu")
    assert list(executable.feeds) == [net.y, net.x]
    assert list(executable.targets) == [net.target, net.twice]
    total, twice = executable.run([net.values[1], net.values[0]])
    assert_same_bits(total, net.expected)
    assert_same_bits(twice, 2 * net.values[1])


def test_one_target_twice_and_a_feed_as_target(net):
    executable = net.graph.compile(feeds=[net.x, net.y], targets=[net.target, net.target, net.x])
    first, second, fed = executable.run(list(net.values))
    assert_same_bits(first, net.expected)
    assert_same_bits(second, net.expected)
    assert_same_bits(fed, net.values[0])
    assert not np.shares_memory(fed, net.values[0])


def test_results_land_in_the_callers_memory(net):
    executable = net.compile()
    wide = np.zeros((2, 6), np.float32)
    for out in (np.zeros(SHAPE, np.float32), wide[:, ::2]):
        (value,) = executable.run(list(net.values), results=[out])
        assert value is out
        np.testing.assert_array_equal(out, net.expected)
    assert not wide[:, 1::2].any()


RESULTS = {
    "shape": lambda: [np.zeros((3, 2), np.float32)],
    "type": lambda: [np.zeros(SHAPE, np.float64)],
    "count": lambda: [np.zeros(SHAPE, np.float32)] * 2,
    "none": lambda: [],
    "read-only": lambda: [np.frombuffer(bytes(24), np.float32).reshape(SHAPE)],
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results_refused(net, kind):
    out = RESULTS[kind]()
    with pytest.raises(REFUSED, match=names("results")):
        net.compile().run(list(net.values), results=out)
    assert not any(array.any() for array in out)


def test_results_overlapping_a_feed(net):
    executable = net.compile()
    before = net.values[0].copy()
    with pytest.raises(ValueError, match=names("results")):
        executable.run(list(net.values), results=[net.values[0]])
    np.testing.assert_array_equal(net.values[0], before)


def test_executable_outlives_its_graph():
    net = Sum()
    executable, values, expected = net.compile(), net.values, net.expected
    del net
    gc.collect()
    assert_same_bits(executable.run(list(values))[0], expected)


def test_tensors_of_another_graph(net):
    other = Sum()
    with pytest.raises(REFUSED, match=names("secondary", "graph")):
        net.graph.addition(net.x, other.x)
    with pytest.raises(REFUSED, match=names("targets", "graph")):
        net.graph.compile(feeds=[net.x], targets=[other.target])
    with pytest.raises(REFUSED, match=names("feeds", "graph")):
        net.graph.compile(feeds=[net.x, net.y, other.x], targets=[net.target])
    with pytest.raises(REFUSED, match=names("feeds", "graph")):
        net.graph.run(feeds={net.x: net.values[0], other.y: net.values[1]}, targets=[net.target])
    with pytest.raises(REFUSED, match=names("graph", "loss", "tensors")):
        net.graph.gradients(net.graph.reduction_sum(net.target, axes=None), [other.x])


def test_arrays_are_no_tensors(net):
    with pytest.raises(TypeError, match=names("secondary")):
        net.graph.addition(net.x, net.values[0])


def test_tensors_are_no_arrays(net):
    with pytest.raises(TypeError, match=names("primary")):
        mg.addition(net.x, net.values[0])


def test_missing_feeds(net):
    with pytest.raises(REFUSED, match=names("y")):
        net.graph.compile(feeds=[net.x], targets=[net.target])
    with pytest.raises(REFUSED, match=names("y")):
        net.graph.run(feeds={net.x: net.values[0]}, targets=[net.target])
    executable = net.compile()
    with pytest.raises(REFUSED, match=names("y")):
        executable.run({net.x: net.values[0]})
    with pytest.raises(REFUSED, match=names("y", "feeds", "inputs")):
        executable.run([net.values[0]])


def test_unused_feeds(net):
    """An executable takes its own feeds alone; a graph ignores a fed placeholder that no target needs."""
    unused = net.graph.placeholder(SHAPE, "float32", name="unused")
    feeds = {net.x: net.values[0], net.y: net.values[1], unused: net.values[0]}
    with pytest.raises(REFUSED, match=names("unused")):
        net.compile().run(feeds)
    (with_unused,) = net.graph.run(feeds=feeds, targets=[net.target])
    (without,) = net.compile().run(net.values)
    np.testing.assert_array_equal(with_unused, without)


def test_too_many_feeds(net):
    with pytest.raises(REFUSED, match=names("feeds", "inputs")):
        net.compile().run([*net.values, net.values[0]])


@pytest.mark.parametrize("wrong", ["shape", "rank", "type", "integer", "list"])
def test_feeds_at_run_time(net, wrong):
    value = {
        "shape": counting(3, 2), "rank": counting(6), "type": counting(*SHAPE, dtype_name="float64"),
        "integer": counting(*SHAPE, dtype_name="int32"), "list": counting(*SHAPE).tolist(),
    }[wrong]  # fmt: skip
    executable = net.compile()
    with pytest.raises(REFUSED, match=names("y")):
        executable.run([net.values[0], value])
    with pytest.raises(REFUSED, match=names("y")):
        net.graph.run(feeds={net.x: net.values[0], net.y: value}, targets=[net.target])


def test_no_targets(net):
    with pytest.raises(REFUSED, match=names("targets")):
        net.graph.compile(feeds=[net.x], targets=[])


def test_unknown_device(net):
    with pytest.raises((ValueError, mg.DeviceError), match=names("device")):
        net.compile(device="abacus")


def test_a_failing_operation_leaves_the_graph_as_it_was(net):
    with pytest.raises(REFUSED, match=names("shape")):
        net.graph.reshape(net.x, shape=(7,))
    (value,) = net.compile().run(list(net.values))
    assert_same_bits(value, net.expected)


@pytest.mark.parametrize("name", dtypes("float32", "float64", "float16", "bfloat16"))
def test_every_type(name):
    net = Sum(name)
    (value,) = net.compile(device="cpu").run(list(net.values))
    assert value.dtype == dtype(name)
    np.testing.assert_array_equal(value.astype(float), net.expected.astype(float))


def test_strange_memory_as_feeds(net):
    executable = net.compile()
    backwards = np.ascontiguousarray(net.values[0][:, ::-1])[:, ::-1]
    swapped = net.values[1].astype(">f4")
    assert_same_bits(executable.run([backwards, swapped])[0], net.expected)


def test_same_results_as_the_array_functions():
    """The gradients as methods, in one executable that shares its feeds."""
    rng = seeded("graph")
    shapes = {"x": (2, 3, 8, 8), "dy": (2, 4, 6, 6), "w": (4, 3, 3, 3)}
    arrays = {name: random_array(rng, shape) for name, shape in shapes.items()}
    geometry = mg.Convolution2DDescriptor()
    pooling = mg.Pooling4DDescriptor(
        kernel_sizes=(1, 1, 2, 2), strides=(1, 1, 2, 2), return_indices_mode="GlobalFlatten2D"
    )
    graph = mg.Graph()
    x, dy, w = (graph.placeholder(array.shape, "float32", name=name) for name, array in arrays.items())
    y = graph.convolution_2d(x, w, descriptor=geometry)
    values, indices = graph.max_pooling_4d_return_indices(x, descriptor=pooling)
    targets = [
        y,
        graph.convolution_2d_data_gradient(dy, w, output_shape=shapes["x"], descriptor=geometry),
        graph.convolution_2d_weights_gradient(dy, x, output_shape=shapes["w"], descriptor=geometry),
        values,
        indices,
        graph.max_pooling_4d_gradient(values, indices=indices, output_shape=shapes["x"], descriptor=pooling),
    ]
    actual = graph.run(feeds={x: arrays["x"], dy: arrays["dy"], w: arrays["w"]}, targets=targets)
    pooled, found = mg.max_pooling_4d_return_indices(arrays["x"], descriptor=pooling)
    expected = [
        mg.convolution_2d(arrays["x"], arrays["w"], descriptor=geometry),
        mg.convolution_2d_data_gradient(arrays["dy"], arrays["w"], output_shape=shapes["x"], descriptor=geometry),
        mg.convolution_2d_weights_gradient(arrays["dy"], arrays["x"], output_shape=shapes["w"], descriptor=geometry),
        pooled,
        found,
        mg.max_pooling_4d_gradient(pooled, indices=found, output_shape=shapes["x"], descriptor=pooling),
    ]
    for value, wanted in zip(actual, expected, strict=True):
        assert_same_bits(value, wanted)


def test_deep_graphs_run():
    graph = mg.Graph()
    x = tensor = graph.placeholder((3,), "float32", name="x")
    one = graph.constant(1.0, dtype="float32")
    for _ in range(2000):
        tensor = graph.addition(tensor, one)
    (value,) = graph.run(feeds={x: np.zeros(3, np.float32)}, targets=[tensor])
    np.testing.assert_array_equal(value, np.full(3, 2000.0))


def test_methods_take_no_out(net):
    with pytest.raises(TypeError, match=names("out")):
        net.graph.relu(net.x, out=np.zeros(SHAPE, np.float32))


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda graph: graph.placeholder((2,), name=3), "name"),
        (lambda graph: graph.placeholder((True, 2)), "shape"),
        (lambda graph: graph.placeholder((2,), None), "dtype"),
        (lambda graph: graph.constant(1.0, shape=(-1,)), "value"),
        (lambda graph: graph.constant(300, dtype="int8"), "value"),
        (lambda graph: graph.constant(np.arange(6), shape="ab"), "value"),
        (lambda graph: graph.compile(feeds=None, targets=[]), "feeds"),
        (lambda graph: graph.gradients(graph.placeholder((1,)), None), "tensors"),
    ],
    ids=["name", "bool", "dtype", "negative", "overflow", "letters", "feeds", "tensors"],
)
def test_malformed_arguments_are_named(call, argument):
    with pytest.raises(mg.MPSGraphError, match=names(argument)):
        call(mg.Graph())


def test_names_of_any_text():
    graph = mg.Graph()
    assert graph.placeholder((1,), name="größe").name == "größe"
    graph.placeholder((1,), name="\udcff")  # a lone surrogate is kept as an escape


def test_gradients_are_named():
    graph = mg.Graph()
    x = graph.placeholder((3,), name="x")
    (gradient,) = graph.gradients(graph.square(x), [x], name="slope")
    assert gradient.name.startswith("slope_")


@pytest.mark.parametrize("count", [15, 16, 17, 40])
def test_many_feeds_and_targets(count):
    graph = mg.Graph()
    feeds = [graph.placeholder((3,), name=f"x{index}") for index in range(count)]
    targets = [graph.addition(feed, feeds[0]) for feed in feeds]
    executable = graph.compile(feeds=feeds, targets=targets)
    inputs = [np.full(3, index, np.float32) for index in range(count)]
    results = [None if index % 3 else np.empty(3, np.float32) for index in range(count)]
    given = executable.run(inputs, results=results)
    for index, (array, result) in enumerate(zip(given, results, strict=True)):
        assert result is None or array is result
        np.testing.assert_array_equal(array, np.full(3, index, np.float32))
    inputs[-1] = results[0]
    with pytest.raises(mg.ShapeError, match=names(f"results[{count - 1}]")):
        executable.run(inputs, results=[None] * (count - 1) + [results[0]])
