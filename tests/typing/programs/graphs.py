"""Graphs, executables, runs of both kinds, executables as files."""

import asyncio
import concurrent.futures
import tempfile
from pathlib import Path
from typing import assert_type

import numpy as np

import mpsgraph_native as mg


class Network:
    """A dense layer and its gradients."""

    def __init__(self) -> None:
        graph = mg.Graph()
        self.x = graph.placeholder((4, 3), "float32", name="x")
        self.w = graph.placeholder((3, 2), np.float32, name="w")
        self.labels = graph.placeholder((4, 2), name="labels")
        logits = graph.matrix_multiplication(self.x, self.w, name="logits")
        assert_type(logits, mg.Tensor)
        self.loss = graph.softmax_cross_entropy(logits, self.labels, axis=1, reduction_type="Mean")
        (self.gradient,) = graph.gradients(self.loss, [self.w])
        self.graph = graph

    def compile(self) -> mg.Executable:
        feeds = [self.x, self.w, self.labels]
        return self.graph.compile(feeds=feeds, targets=(self.loss, self.gradient), device=mg.default_device())


def arrays() -> list[np.ndarray]:
    return [np.ones((4, 3), np.float32), np.ones((3, 2), np.float32), np.eye(4, 2, dtype=np.float32)]


def runs(executable: mg.Executable) -> None:
    loss, gradient = executable.run(arrays())
    assert_type(loss, np.ndarray)
    data = mg.empty((3, 2))
    assert_type(executable.run(arrays(), results=[None, gradient]), tuple[np.ndarray, ...])
    assert_type(executable.run(arrays(), results=[None, data]), tuple[mg.TensorData | np.ndarray, ...])
    executable.run(dict(zip(executable.feeds, arrays(), strict=True)), profile=True)
    executable.run({"x": np.ones((4, 3), np.float32), "w": mg.empty((3, 2)), "labels": mg.empty((4, 2))})
    for step in executable.last_profile or ():
        assert_type(step.seconds, float)
        assert step.gflops >= 0
    print(executable.describe(), executable.device, executable.nbytes)


async def awaited(executable: mg.Executable) -> None:
    future = executable.run_async(arrays())
    assert_type(future, mg.Future[tuple[np.ndarray, ...]])
    assert_type(await future, tuple[np.ndarray, ...])


def futures(executable: mg.Executable) -> None:
    started = [executable.run_async(tuple(arrays())) for _ in range(3)]
    for future in concurrent.futures.as_completed(started):
        loss, _ = future.result(timeout=60)
        assert loss.shape == ()


def several_results() -> None:
    graph = mg.Graph()
    x = graph.placeholder((2, 1, 9))
    d = mg.GRUDescriptor(training=True)
    h, z_state = graph.gru(x, graph.constant(0.5, shape=(9, 3)), descriptor=d)
    gradients = graph.gru_gradients(x, graph.constant(0.5, shape=(9, 3)), h, z_state, h, descriptor=d)
    assert_type(gradients.source, mg.Tensor)
    assert_type(gradients.bias, mg.Tensor | None)
    image = graph.placeholder((1, 1, 4, 4))
    window = mg.Pooling2DDescriptor(kernel_height=2, kernel_width=2, return_indices_mode="GlobalFlatten2D")
    values, indices = graph.max_pooling_2d_return_indices(image, descriptor=window)
    assert_type(indices, mg.Tensor)
    shape = graph.constant(np.array([1, 1, 4, 4], np.int32))
    graph.max_pooling_2d_gradient(values, indices=indices, output_shape=shape, descriptor=window)
    assert_type(values.shape, tuple[int, ...])
    assert values.dtype == np.float32
    assert_type(graph.run({image: np.ones((1, 1, 4, 4), np.float32)}, [values]), tuple[np.ndarray, ...])
    for operation in graph.operations:
        assert_type(operation, mg.GraphOperation)
        assert_type(operation.inputs, tuple[mg.Tensor | None, ...])
    assert graph.to_dot().startswith("digraph")


def files(executable: mg.Executable) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "step"
        executable.save(path)
        again = mg.Executable.load(path, device="cpu")
        assert_type(again, mg.Executable)
        assert [tensor.name for tensor in again.feeds] == ["x", "w", "labels"]


def main() -> None:
    executable = Network().compile()
    runs(executable)
    asyncio.run(awaited(executable))
    futures(executable)
    several_results()
    files(executable)


if __name__ == "__main__":
    main()
