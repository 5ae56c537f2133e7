#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes random float models, and samples for them: DIR/N/model.onnx and DIR/N/samples.npz.

    random_graphs.py DIR --seed S --count N

Equal seeds give equal models.  Graph N of seed S depends on S and N alone, so that one that fails
can be written again by itself (--only N).  What is drawn, and how, is in random_ops.py.
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper, shape_inference

import random_ops

SAMPLES = 4
OPSETS = (10, 11, 12, 13, 13, 14, 17, 18, 20)
ELEMENTS = 4096  # most of a value


class Graph:
    """A float model in construction.  `values` are what a further node may read."""

    def __init__(self, random):
        self.random = random
        self.opset = int(random.choice(OPSETS))
        self.nodes, self.constants, self.shapes = [], [], {}
        self.types = {}  # of results that are not float
        self.inputs, self.values = [], []
        self.ends = []  # outputs that no further node may read

    def chance(self, probability):
        return self.random.random() < probability

    def choose(self, options):
        return options[int(self.random.integers(len(options)))]

    def shape(self, name):
        return self.shapes[name]

    def add_input(self, shape):
        name = f"x{len(self.inputs)}"
        self.inputs.append(name)
        self.values.append(name)
        self.shapes[name] = list(shape)
        return name

    def constant(self, values, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def normal(self, shape, deviation=1.0):
        return self.constant(self.random.normal(0, deviation, shape))

    def op(self, kind, *operands, results=1, **attributes):
        """Appends a node; the name of its result, or a list of them."""
        number = len(self.nodes)
        names = [f"v{number}" if results == 1 else f"v{number}.{i}" for i in range(results)]
        node = helper.make_node(kind, list(operands), names, name=f"{kind.lower()}{number}",
                                **attributes)
        self._infer(node)
        self.nodes.append(node)
        return names[0] if results == 1 else names

    def _infer(self, node):
        known = {constant.name: constant for constant in self.constants}
        given = [helper.make_tensor_value_info(name, self.types.get(name, TensorProto.FLOAT),
                                               self.shapes[name])
                 for name in dict.fromkeys(node.input) if name in self.shapes]
        graph = helper.make_graph([node], "node", given,
                                  [onnx.ValueInfoProto(name=name) for name in node.output],
                                  [known[name] for name in dict.fromkeys(node.input)
                                   if name in known])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        inferred = shape_inference.infer_shapes(model, strict_mode=True)
        for value in inferred.graph.output:
            self.shapes[value.name] = [d.dim_value for d in value.type.tensor_type.shape.dim]
            if value.type.tensor_type.elem_type != TensorProto.FLOAT:
                self.types[value.name] = value.type.tensor_type.elem_type

    def model(self, outputs):
        info = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes, "random",
            [info(name, TensorProto.FLOAT, self.shapes[name]) for name in self.inputs],
            [info(name, TensorProto.FLOAT, self.shapes[name]) for name in outputs], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                 ir_version=8)


def first_shape(graph):
    channels = graph.choose([1, 2, 4, 6, 8])
    extents = [[graph.choose([5, 6, 8])] * 2, [graph.choose([8, 12])], [], [4, 4, 4]]
    return [1, channels, *extents[int(graph.random.choice(4, p=[0.6, 0.2, 0.15, 0.05]))]]


def draw(random):
    """A graph and the names of its outputs, some of which other nodes read as well."""
    graph = Graph(random)
    for _ in range(graph.choose([1, 1, 2])):
        graph.add_input(first_shape(graph) if not graph.inputs or graph.chance(0.3)
                        else graph.shapes[graph.inputs[0]])
    for _ in range(int(random.integers(1, 9))):
        step = random_ops.choose(graph)
        for name in step:
            if int(np.prod(graph.shapes[name])) <= ELEMENTS:
                graph.values.append(name)
    read = {name for node in graph.nodes for name in node.input}
    made = [name for name in graph.values if name not in graph.inputs]
    outputs = [name for name in made if name not in read or graph.chance(0.1)]
    return graph, outputs + graph.ends


def write(folder, seed, number):
    # A draw without a node is repeated; the numbers of its seeds differ.
    for attempt in range(100):
        graph, outputs = draw(np.random.default_rng([seed, number, attempt]))
        if outputs:
            break
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(graph.model(outputs), str(folder / "model.onnx"))
    random = graph.random
    np.savez(folder / "samples.npz",
             **{name: random.normal(0, 1, [SAMPLES, *graph.shapes[name][1:]]).astype(np.float32)
                for name in graph.inputs})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--only", type=int)
    options = parser.parse_args()
    numbers = range(options.count) if options.only is None else [options.only]
    for number in numbers:
        write(options.folder / str(number), options.seed, number)


if __name__ == "__main__":
    main()
