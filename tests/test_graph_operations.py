"""What a graph tells of itself: its operations, their names, and its picture."""

import os
import shutil
import subprocess
import xml.etree.ElementTree

import pytest
from every_operation import CASES, each_operation, with_gradients

import mpsgraph_native as mg

DEVICE = mg.default_device().name
needs_dot = pytest.mark.skipif(
    shutil.which("dot") is None or "MPSGRAPH_NATIVE_TESTED_SANITIZERS" in os.environ,
    reason="Graphviz is not installed, or sanitizers are looking: it leaks",
)


def classifier():
    graph = mg.Graph()
    x = graph.placeholder((8, 4), "float32", name="x")
    weights = graph.placeholder((4, 3), "float32", name="weights")
    scaled = graph.multiplication(x, graph.constant(0.5, name="half"), name="scaled")
    graph.softmax(graph.matrix_multiplication(scaled, weights, name="logits"), axis=1, name="result")
    return graph


def test_operations_in_order():
    graph = classifier()
    operations = graph.operations
    assert [(operation.name, operation.kind) for operation in operations] == [
        ("x", "placeholder"), ("weights", "placeholder"), ("half", "constant"), ("scaled", "multiplication"),
        ("logits", "matrix_multiplication"), ("result", "softmax"),
    ]  # fmt: skip
    x, weights, half, scaled, logits, result = operations
    assert result.attributes == "axis=1" and logits.attributes == ""
    assert x.attributes == "shape=(8, 4), dtype=float32"
    assert scaled.arguments == ("primary", "secondary")
    assert scaled.inputs == (*x.outputs, *half.outputs)
    assert logits.inputs == (*scaled.outputs, *weights.outputs)
    assert [tensor.shape for tensor in logits.outputs] == [(8, 3)]
    assert graph.operations == operations


def test_absent_operands_and_several_results():
    graph = mg.Graph()
    x, weight = graph.placeholder((2, 1, 9), name="x"), graph.placeholder((9, 3), name="weight")
    results = graph.gru(x, recurrent_weight=weight, descriptor=mg.GRUDescriptor(training=True), name="gru")
    gru = graph.operations[-1]
    assert gru.outputs == results and [tensor.name for tensor in results] == ["gru:0", "gru:1"]
    given = dict(zip(gru.arguments, gru.inputs, strict=True))
    assert given["source"] == x and given["recurrent_weight"] == weight
    assert given["bias"] is None and given["mask"] is None
    assert "training=True" in gru.attributes and "reset_gate_activation=Sigmoid" in gru.attributes


@each_operation
def test_every_operation_is_a_method_by_its_kind(case):
    graph, *_ = with_gradients(case, DEVICE)
    kinds = [operation.kind for operation in graph.operations]
    assert case.operation in kinds
    assert all(hasattr(mg.Graph, kind) for kind in kinds)


def test_a_tensor_by_another_way_is_the_same():
    graph = classifier()
    again, first = graph.operations[0].outputs[0], graph.operations[0].outputs[0]
    assert again is not first and again == first and hash(again) == hash(first)
    assert again != graph.operations[1].outputs[0]
    assert again != classifier().operations[0].outputs[0]
    assert again != "x" and again is not None
    executable = graph.compile(feeds=[first, *graph.operations[1].outputs], targets=graph.operations[-1].outputs)
    assert again in executable.feeds


def test_a_name_that_is_taken_gets_a_number():
    graph = mg.Graph()
    first = graph.placeholder((3,), name="x")
    assert [graph.placeholder((3,), name="x").name for _ in range(3)] == ["x_1", "x_2", "x_3"]
    assert graph.square(first, name="x_5").name == "x_5"
    assert [graph.square(first, name="x").name for _ in range(2)] == ["x_4", "x_6"]
    assert graph.square(first, name="x_1").name == "x_1_1"
    assert first.name == "x"


def test_made_names_avoid_given_ones():
    graph = mg.Graph()
    x = graph.placeholder((3,), name="square_1")
    assert graph.square(x).name == "square_1_1"


def test_names_of_several_results_are_taken_too():
    graph = mg.Graph()
    x = graph.placeholder((1, 1, 4, 4), name="pool:1")
    window = mg.Pooling2DDescriptor(kernel_height=2, kernel_width=2, return_indices_mode="GlobalFlatten2D")
    results = graph.max_pooling_2d_return_indices(x, descriptor=window, name="pool")
    assert [tensor.name for tensor in results] == ["pool_1:0", "pool_1:1"]
    assert graph.square(x, name="pool_1:0").name == "pool_1:0_1"
    assert graph.square(x, name="pool_1").name == "pool_1_1"


def test_gradients_have_names_of_their_own():
    graph = classifier()
    loss = graph.reduction_sum(graph.operations[-1].outputs[0], axes=None)
    for _ in range(2):
        graph.gradients(loss, [graph.operations[1].outputs[0]], name="slope")
    named = [operation.name for operation in graph.operations]
    assert len(set(named)) == len(named) > 12


def test_many_operations_of_one_name():
    graph = mg.Graph()
    tensor = graph.placeholder((1,), name="x")
    for _ in range(3000):
        tensor = graph.negative(tensor, name="x")
    assert tensor.name == "x_3000"


DOT = """\
digraph {
  node [shape=box, fontsize=10];
  edge [fontsize=9];
  n0 [label="x\\nplaceholder\\nfloat32 [8, 4]", shape=ellipse, style=filled, fillcolor=lightblue];
  n1 [label="weights\\nplaceholder\\nfloat32 [4, 3]", shape=ellipse, style=filled, fillcolor=lightblue];
  n2 [label="half\\nconstant\\nfloat32 []", shape=note, style=filled, fillcolor=lightyellow];
  n3 [label="scaled\\nmultiplication"];
  n4 [label="logits\\nmatrix_multiplication"];
  n5 [label="result\\nsoftmax\\naxis=1"];
  n0 -> n3 [label="primary\\nfloat32 [8, 4]"];
  n2 -> n3 [label="secondary\\nfloat32 []"];
  n3 -> n4 [label="primary\\nfloat32 [8, 4]"];
  n1 -> n4 [label="secondary\\nfloat32 [4, 3]"];
  n4 -> n5 [label="tensor\\nfloat32 [8, 3]"];
  r0 [label="result", shape=doublecircle, style=filled, fillcolor=lightgreen];
  n5 -> r0 [label="float32 [8, 3]"];
}
"""


def test_dot():
    assert classifier().to_dot() == DOT


HOSTILE = 'a"b\\ \\n\n &lt; <b>\0 größe \u202e \ufffe {|} \\'


def plain(*arguments, text):
    """What `dot -Tplain` prints: one line per node and edge, in its own reading of the text."""
    return subprocess.run(
        ["dot", *arguments], input=text, capture_output=True, text=True, timeout=60, check=True
    ).stdout


@needs_dot
def test_names_cannot_leave_their_label():
    graph = mg.Graph()
    graph.square(graph.placeholder((3,), name=HOSTILE), name=HOSTILE)
    text = graph.to_dot()
    assert text.isprintable() or all(character.isprintable() or character == "\n" for character in text)
    drawn = xml.etree.ElementTree.fromstring(plain("-Tsvg", text=text))
    words = {element.text for element in drawn.iter("{http://www.w3.org/2000/svg}text")}
    shown = 'a"b\\ \\n\\n &lt; <b>\\x00 größe \\u202e \\ufffe {|} \\'
    assert {shown, f"{shown}_1", "square", "float32 [3]"} <= {word.replace("\xa0", " ") for word in words}
    lines = plain("-Tplain", text=text).splitlines()
    assert sum(line.startswith("node") for line in lines) == 3
    assert sum(line.startswith("edge") for line in lines) == 2


@needs_dot
@pytest.mark.parametrize("case", CASES[::7], ids=lambda case: case.operation)
def test_pictures(case):
    graph, *_ = with_gradients(case, DEVICE)
    drawn = xml.etree.ElementTree.fromstring(graph._repr_svg_())
    assert drawn.tag == "{http://www.w3.org/2000/svg}svg"
    titles = [element.text for element in drawn.iter("{http://www.w3.org/2000/svg}title")]
    assert {f"n{index}" for index in range(len(graph.operations))} <= set(titles)


@needs_dot
def test_an_empty_graph_has_a_picture():
    assert mg.Graph().operations == ()
    assert mg.Graph()._repr_svg_().strip().endswith("</svg>")


def test_no_picture_without_the_program(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert classifier()._repr_svg_() is None


@pytest.mark.parametrize("script", ["exit 3", "kill -9 $$", "exec sleep 60"], ids=["fails", "dies", "hangs"])
def test_no_picture_where_the_program_fails(monkeypatch, tmp_path, script):
    program = tmp_path / "dot"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setattr("mpsgraph_native._dot._seconds_to_draw", 0.5)
    assert classifier()._repr_svg_() is None
