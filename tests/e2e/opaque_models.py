#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Models with nodes that Octavo does not support, and their samples.

    opaque_models.py DIR    writes NAME.onnx and NAME.npz of those that ONNX Runtime can run
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

from models import tensor

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
IMAGE = [1, 3, 8, 8]
SAMPLES = 16


def info(name, shape, dtype=FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def normal(name, *shape, seed=0):
    return tensor(name, np.random.default_rng(seed + len(name)).normal(size=shape) * 0.3)


def build(nodes, initializers, inputs, outputs, values=(), opset=17, domains=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers),
                              value_info=list(values))
    opsets = [helper.make_opsetid("", opset)] + [helper.make_opsetid(d, 1) for d in domains]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def node(op, inputs, outputs, name=None, **attributes):
    return helper.make_node(op, inputs, outputs, name=name or outputs[0], **attributes)


def backbone(x="x", to="f"):
    return [node("Conv", [x, "w1"], ["c1"], pads=[1, 1, 1, 1]), node("Relu", ["c1"], [to])]


def custom(declared=True, opset=17):
    """Conv, a node of another domain, Conv."""
    nodes = backbone() + [
        node("Gate", ["f"], ["g"], name="gate", domain="com.example", sharpness=2.5),
        node("Conv", ["g", "w2"], ["y"], pads=[1, 1, 1, 1])]
    return build(nodes, [normal("w1", 4, 3, 3, 3), normal("w2", 2, 4, 3, 3)], [info("x", IMAGE)],
                 [info("y", [1, 2, 8, 8])], [info("g", [1, 4, 8, 8])] if declared else [],
                 opset, ["com.example"])


def function(name, nodes, opset=17):
    """A local function of domain com.example."""
    return helper.make_function(
        "com.example", name, ["a"], ["b"], nodes,
        [helper.make_opsetid("", opset), helper.make_opsetid("com.example", 1)])


def with_functions():
    """custom(), whose model defines Gate by a function that calls another one."""
    model = custom()
    del model.graph.node[2].attribute[:]
    model.functions.extend([
        function("Gate", [helper.make_node("Half", ["a"], ["h"], domain="com.example"),
                          helper.make_node("Mul", ["a", "h"], ["b"])]),
        function("Half", [helper.make_node("HardSigmoid", ["a"], ["b"], alpha=0.5)])])
    return model


def with_an_old_function():
    """custom() of opset 11, whose function has Squeeze as opset 11 has it."""
    model = custom(opset=11)
    del model.graph.node[2].attribute[:]
    model.functions.append(
        function("Gate", [node("Unsqueeze", ["a"], ["u"], axes=[0]),
                          node("Squeeze", ["u"], ["b"], axes=[0])], opset=11))
    return model


def many_custom(count=500):
    nodes = backbone()
    nodes += [node("Gate", ["f" if i == 0 else f"g{i - 1}"], [f"g{i}"], domain="com.example")
              for i in range(count)]
    return build(nodes, [normal("w1", 4, 3, 3, 3)], [info("x", IMAGE)],
                 [info(f"g{count - 1}", [1, 4, 8, 8])], domains=["com.example"])


def branch():
    """A branch whose sides read `f`, the weight `w2` and the input `x` of the graph around them."""
    def side(op, *reads):
        return helper.make_graph([node(op, list(reads), [f"{op}_out"])], op, [],
                                 [info(f"{op}_out", None)])
    nodes = backbone() + [
        node("ReduceMean", ["x"], ["mean"], keepdims=0),
        node("Greater", ["mean", "zero"], ["positive"]),
        node("If", ["positive"], ["picked"], name="choice", then_branch=side("Mul", "f", "w3"),
             else_branch=side("Sub", "f", "w3")),
        node("Conv", ["picked", "w2"], ["z"], pads=[1, 1, 1, 1]),
        node("Add", ["z", "w4"], ["y"])]
    weights = [normal("w1", 4, 3, 3, 3), normal("w2", 2, 4, 3, 3), normal("w3", 4, 1, 1),
               normal("w4", 2, 1, 1), tensor("zero", 0.0)]
    return build(nodes, weights, [info("x", IMAGE)], [info("y", [1, 2, 8, 8])])


def open_branch():
    """The same for any number of images of any size."""
    model = branch()
    for values, channels in ((model.graph.input, 3), (model.graph.output, 2)):
        values[0].CopyFrom(info(values[0].name, ["n", channels, "h", "w"]))
    return model


def loop():
    """A loop that adds `f` to what it carries, four times."""
    body = helper.make_graph(
        [node("Add", ["carried", "f"], ["sum"]), node("Identity", ["go_on"], ["still"])], "body",
        [info("i", [], INT64), info("go_on", [], TensorProto.BOOL), info("carried", [1, 4, 8, 8])],
        [info("still", [], TensorProto.BOOL), info("sum", [1, 4, 8, 8])])
    nodes = backbone() + [node("Loop", ["times", "yes", "f"], ["total"], name="loop", body=body),
                          node("Conv", ["total", "w2"], ["y"], pads=[1, 1, 1, 1])]
    weights = [normal("w1", 4, 3, 3, 3), normal("w2", 2, 4, 3, 3), tensor("times", 4, np.int64),
               tensor("yes", True, np.bool_)]
    return build(nodes, weights, [info("x", IMAGE)], [info("y", [1, 2, 8, 8])])


def detection():
    """Boxes and scores of a convolution, NonMaxSuppression, and the boxes that it selects."""
    nodes = backbone() + [
        node("Conv", ["f", "wb"], ["cb"]), node("Reshape", ["cb", "box_shape"], ["rb"]),
        node("Transpose", ["rb"], ["offsets"], perm=[0, 2, 1]),
        node("Add", ["offsets", "anchors"], ["boxes"]),
        node("Conv", ["x", "ws"], ["cs"]), node("Sigmoid", ["cs"], ["probable"]),
        node("Reshape", ["probable", "score_shape"], ["scores"]),
        node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "least"], ["selected"],
             name="nms"),
        node("Gather", ["selected", "two"], ["index"], axis=1),
        node("Squeeze", ["index", "one"], ["flat"]),
        node("Squeeze", ["boxes", "zero"], ["all_boxes"]),
        node("Gather", ["all_boxes", "flat"], ["picked"], axis=0)]
    places = np.stack(np.meshgrid(np.arange(8), np.arange(8), indexing="ij"), -1).reshape(64, 2)
    anchors = np.concatenate([places * 10, places * 10 + 6], 1)[None]
    weights = [normal("w1", 4, 3, 3, 3), normal("wb", 4, 4, 1, 1), tensor("anchors", anchors),
               tensor("ws", np.array([0, 0, 8]).reshape(1, 3, 1, 1)),
               tensor("box_shape", [1, 4, 64], np.int64), tensor("score_shape", [1, 1, 64], np.int64),
               tensor("most", [100], np.int64), tensor("overlap", [0.5]), tensor("least", [0.5]),
               tensor("two", [2], np.int64), tensor("one", [1], np.int64),
               tensor("zero", [0], np.int64)]
    return build(nodes, weights, [info("x", IMAGE)],
                 [info("picked", ["found", 4]), info("scores", [1, 1, 64])])


def samples(count=SAMPLES):
    """Images whose third channel says clearly where something is; both signs of the mean occur."""
    random = np.random.default_rng(7)
    images = random.normal(size=[count, *IMAGE[1:]])
    images[:, 2] = np.where(random.random([count, 8, 8]) < 0.3, 1, -1)
    images[:, :2] += np.where(np.arange(count) % 2, 1.5, -1.5)[:, None, None, None]
    return images.astype(np.float32)


def deep(levels):
    """Branches within branches."""
    side = helper.make_graph([node("Identity", ["x"], ["z"])], "s", [], [info("z", None)])
    for _ in range(levels):
        inner = node("If", ["c"], ["z"], then_branch=side, else_branch=side)
        del inner.attribute[1]
        side = helper.make_graph([inner], "s", [], [info("z", None)])
    return build([node("If", ["c"], ["y"], name="choice", then_branch=side, else_branch=side)],
                 [tensor("c", True, np.bool_)], [info("x", IMAGE)], [info("y", None)])


RUNNABLE = {"branch": branch, "open_branch": open_branch, "loop": loop, "detection": detection}


def main():
    folder = pathlib.Path(sys.argv[1])
    for name, make in RUNNABLE.items():
        onnx.save(make(), folder / f"{name}.onnx")
        np.savez(folder / f"{name}.npz", x=samples())


if __name__ == "__main__":
    main()
