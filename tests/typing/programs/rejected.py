"""Mistakes that a type checker has to find: each line with the errors that mypy and pyright give it. Never run."""

from typing import Any

import numpy as np

import mpsgraph_native as mg

x = np.ones((2, 3), np.float32)
graph = mg.Graph()
t = graph.placeholder((2, 3))
executable = graph.compile(feeds=[t], targets=[graph.relu(t)])
window = mg.Pooling2DDescriptor(kernel_width=2, kernel_height=2)
convolution = mg.Convolution2DDescriptor()

# Arrays
mg.relu([1.0, 2.0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.relu("text")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.relu(t)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.relu(x, x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.relu(x, out=[0.0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.relu(x, out=(x,))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.relu(x, device=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.relu(x, name="relu")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.rellu(x)  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
mg.addition(x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.softmax(x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.softmax(x, axis=1.5)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.softmax(x, axis=(0, 1))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.reshape(x, shape=6)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.reshape(x, shape="6")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.reshape(x, shape=(2.0, 3.0))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.convolution_2d(x, x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.convolution_2d(x, x, descriptor=window)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.convolution_2d(x, x, convolution)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.max_pooling_2d_return_indices(x, descriptor=window, out=x)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.softmax_cross_entropy(x, x, axis=1, reduction_type="mean")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

# Descriptors and enumerations
mg.Pooling2DDescriptor(kernel_width=2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.Convolution2DDescriptor(2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.Convolution2DDescriptor(strides=2)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.Convolution2DDescriptor(stride_in_x="2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.Convolution2DDescriptor(padding_style="SAME")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.Convolution2DDescriptor(padding_style=mg.RNNActivation.Relu)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.GRUDescriptor(training=1)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
convolution.groups = 2  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
mg.PaddingStyle.SAME  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]

# Graphs
graph.relu(x)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
graph.relu(t, out=x)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
graph.relu(t, device="cpu")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
graph.placeholder(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
graph.gradients(t, t)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
graph.compile([t], [t])  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
graph.compile(feeds=[t], targets=["relu"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
graph.run([x], [t])  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
executable.run(x)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
executable.run([x], results=x)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
executable.feeds = ()  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


class Derived(mg.Executable):  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues]
    pass


async def awaited() -> Any:
    return await executable.run([x])  # type: ignore[misc]  # pyright: ignore[reportGeneralTypeIssues, reportUnknownVariableType]


# Memory, devices, cache
data = mg.empty(3)
data["first"]  # type: ignore[index]  # pyright: ignore[reportArgumentType]
data.shape = (3, 1)  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]
mg.asarray([1.0])  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.asarray(x, True)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.set_default_device(None)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.set_num_threads("2")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.set_precision("slow")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.set_optimization_level(2)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
mg.set_cache_limit(10)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
mg.cache_info().size  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
