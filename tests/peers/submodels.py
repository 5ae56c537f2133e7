#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Cuts a QDQ model into one model per quantized value: DequantizeLinear.. -> operators ->
QuantizeLinear, with integer inputs `input_0`.. and the integer output `result`.

    submodels.py list MODEL.onnx                 prints the cuts as JSON
    submodels.py build MODEL.onnx SHAPES.json DIR    writes DIR/0.onnx, 1.onnx..

SHAPES.json maps the tensors that a list names as inputs and output to {"dtype", "shape"}.
"""

import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import helper

ELEMENT_TYPES = {np.dtype(word): number for number, word in (
    (onnx.TensorProto.FLOAT, "float32"), (onnx.TensorProto.DOUBLE, "float64"),
    (onnx.TensorProto.INT8, "int8"), (onnx.TensorProto.UINT8, "uint8"),
    (onnx.TensorProto.INT16, "int16"), (onnx.TensorProto.UINT16, "uint16"),
    (onnx.TensorProto.INT32, "int32"), (onnx.TensorProto.INT64, "int64"),
    (onnx.TensorProto.BOOL, "bool"))}
QUANTIZE, DEQUANTIZE = "QuantizeLinear", "DequantizeLinear"

# Operators whose fused integer kernels both runtimes define alike, when every real input of the
# single operator comes from a DequantizeLinear.
DEFINED_ALIKE = {
    "Conv", "Gemm", "MatMul", "Concat", "MaxPool",
    "Reshape", "Transpose", "Slice", "Gather", "Pad", "Split", "Tile", "Expand", "DepthToSpace",
    "SpaceToDepth", "Flatten", "Squeeze", "Unsqueeze", "Identity",
}

# What an operator is written as where the opset lacks it, and is imported again as one integer operator.
WRITTEN_OUT = {
    ("Sigmoid", "Mul"): "Swish",
    ("Mul", "Sigmoid", "Mul"): "Swish",
    ("ReduceL2", "Max", "Div"): "LpNormalization",
    ("ReduceL2", "Add", "Div"): "LpNormalization",
    ("ReduceSumSquare", "Add", "Sqrt", "Div"): "LpNormalization",
}


class Model:
    def __init__(self, path):
        self.proto = onnx.load(path)
        graph = self.proto.graph
        self.producers = {name: node for node in graph.node for name in node.output if name}
        self.initializers = {tensor.name: tensor for tensor in graph.initializer}
        self.constant = set(self.initializers)
        for node in graph.node:  # in topological order
            if all(name in self.constant for name in node.input if name):
                self.constant.update(node.output)

    def constant_nodes(self, name):
        """The nodes that make a constant out of initializers, first to last."""
        if name not in self.producers:
            return []
        node = self.producers[name]
        return [n for i in node.input for n in self.constant_nodes(i)] + [node]


class Cut:
    """One QuantizeLinear with everything between it and the integers it is computed from."""

    def __init__(self, model, quantize):
        self.model, self.quantize = model, quantize
        self.inputs = []   # tensors that come from outside, constants left out
        self.nodes = []    # first to last, the QuantizeLinear at the end
        self._seen = set()
        self._add_constants(quantize)
        self._walk(quantize.input[0])
        self._append(quantize)
        self.operators = [n for n in self.nodes
                          if n.op_type not in (QUANTIZE, DEQUANTIZE, "Constant")]

    def _append(self, node):
        if id(node) not in self._seen:
            self._seen.add(id(node))
            self.nodes.append(node)

    def _add_constants(self, node):
        for name in node.input:
            if name in self.model.constant:
                for constant_node in self.model.constant_nodes(name):
                    self._append(constant_node)

    def _outside(self, name):
        if name not in self.inputs:
            self.inputs.append(name)

    def _walk(self, name):
        node = self.model.producers.get(name)
        if node is None:
            self._outside(name)
            return
        if id(node) in self._seen:
            return
        self._add_constants(node)
        for wanted in node.input:
            if not wanted or wanted in self.model.constant:
                continue
            if node.op_type == DEQUANTIZE:
                self._outside(wanted)
            else:
                self._walk(wanted)
        self._append(node)

    def _is_real_constant(self, name):
        tensor = self.model.initializers.get(name)
        return tensor is not None and tensor.data_type == onnx.TensorProto.FLOAT

    def demanded(self):
        """Whether both runtimes must give the same integers."""
        if len(self.operators) != 1 or self.operators[0].op_type not in DEFINED_ALIKE:
            return False
        produced = {name for node in self.nodes if node.op_type == DEQUANTIZE
                    for name in node.output}
        fed_by_integers = all(name in produced or name in self.model.constant
                              for name in self.operators[0].input if name)
        return fed_by_integers and not any(map(self._is_real_constant, self.operators[0].input))

    def describe(self):
        kinds = [node.op_type for node in self.operators]
        if len(self.inputs) == 1 and tuple(kinds) in WRITTEN_OUT:
            kinds = [WRITTEN_OUT[tuple(kinds)]]
        kind = "+".join(kinds[:4]) + ("+.." if len(kinds) > 4 else "") if kinds else "Rescale"
        last = self.operators[-1] if self.operators else self.quantize
        return {"node": last.name or last.output[0], "kind": kind, "operators": len(kinds),
                "demanded": self.demanded(), "inputs": self.inputs,
                "output": self.quantize.output[0]}

    @staticmethod
    def _info(renamed, shapes, name):
        dtype = ELEMENT_TYPES[np.dtype(shapes[name]["dtype"])]
        return helper.make_tensor_value_info(renamed[name], dtype, shapes[name]["shape"])

    def build(self, shapes):
        renamed = {name: f"input_{i}" for i, name in enumerate(self.inputs)}
        renamed[self.quantize.output[0]] = "result"
        nodes, used = [], set()
        for node in self.nodes:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            for names in (copy.input, copy.output):
                names[:] = [renamed.get(name, name) for name in names]
            used.update(node.input)
            nodes.append(copy)
        inputs = [self._info(renamed, shapes, name) for name in self.inputs]
        output = self._info(renamed, shapes, self.quantize.output[0])
        constants = [tensor for name, tensor in self.model.initializers.items() if name in used]
        graph = helper.make_graph(nodes, "cut", inputs, [output], constants)
        proto = helper.make_model(graph, opset_imports=self.model.proto.opset_import)
        proto.ir_version = self.model.proto.ir_version
        return proto


def cuts_of(model):
    """A Cut per QuantizeLinear, those of constants and of graph inputs left out."""
    cuts = [Cut(model, node) for node in model.proto.graph.node
            if node.op_type == QUANTIZE and node.output[0] not in model.constant]
    return [cut for cut in cuts if len(cut.nodes) > 1]


def main(arguments):
    if len(arguments) == 2 and arguments[0] == "list":
        print(json.dumps([cut.describe() for cut in cuts_of(Model(arguments[1]))]))
    elif len(arguments) == 4 and arguments[0] == "build":
        shapes = json.loads(pathlib.Path(arguments[2]).read_text())
        for number, cut in enumerate(cuts_of(Model(arguments[1]))):
            onnx.save(cut.build(shapes), str(pathlib.Path(arguments[3], f"{number}.onnx")))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
