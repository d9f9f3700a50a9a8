"""Every operation once: a small case of each, as a graph with its gradients."""

import numpy as np
import pytest

import mpsgraph_native as mg
from mpsgraph_native.verify.table import cases


def first_cases():
    """One small case of every operation, and of both forms of the gradients of max pooling."""
    found = {}
    for case in cases(quick=True):
        found.setdefault((case.operation, case.name.endswith("from indices")), case)
    return list(found.values())


CASES = first_cases()
each_operation = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.operation}{' from indices' if case.name.endswith('from indices') else ''}"
)


def with_gradients(case, device):
    """The operation in a graph, with its gradients where it has any, and what the graph is fed with."""
    problem = case.build("float32", device)
    graph = mg.Graph()
    feeds = {}

    def placed(value):
        if not isinstance(value, np.ndarray):
            return value
        tensor = graph.placeholder(value.shape, value.dtype, name=f"operand{len(feeds)}")
        feeds[tensor] = value
        return tensor

    arguments = [placed(value) for value in problem.arguments]
    keywords = {name: placed(value) for name, value in problem.keywords.items()}
    results = getattr(graph, case.operation)(*arguments, **keywords)
    results = [tensor for tensor in (results if isinstance(results, tuple) else (results,)) if tensor is not None]
    floating = [tensor for tensor in feeds if tensor.dtype.kind == "f"]
    try:
        loss = graph.reduction_sum(graph.square(results[0]), axes=None)
        gradients = graph.gradients(loss, floating)
    except mg.MPSGraphError:
        gradients = []
    return graph, feeds, results, gradients
