# SPDX-License-Identifier: Apache-2.0
"""Writes the network that train.py builds as ONNX, BatchNorm kept apart from the convolutions."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import layers


class Exporter:
    """Appends one node per layer; a name is the path of its layer, as `block/conv`."""

    def __init__(self):
        self.nodes = []
        self.constants = []
        self.counts = {}

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def node(self, op, inputs, **attributes):
        number = self.counts[op] = self.counts.get(op, 0) + 1
        name = f"{op.lower()}_{number}"
        self.nodes.append(helper.make_node(op, inputs, [name], name="node_" + name, **attributes))
        return name

    def convolution(self, layer, x):
        name = f"conv_{self.counts.get('Conv', 0) + 1}"
        weight = self.constant(name + ".weight", layer.weight.transpose(3, 2, 0, 1))
        pad = layer.size // 2
        return self.node("Conv", [x, weight], kernel_shape=[layer.size] * 2, pads=[pad] * 4,
                         strides=[1, 1])

    def batch_norm(self, layer, x):
        name = f"batchnormalization_{self.counts.get('BatchNormalization', 0) + 1}"
        values = {"scale": layer.scale, "shift": layer.shift, "mean": layer.mean,
                  "variance": layer.variance}
        inputs = [self.constant(f"{name}.{key}", value) for key, value in values.items()]
        return self.node("BatchNormalization", [x] + inputs, epsilon=layer.EPSILON)

    def global_average(self, layer, x):
        return self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)

    def dense(self, layer, x):
        weight = self.constant("gemm.weight", layer.weight.T)
        bias = self.constant("gemm.bias", layer.bias)
        return self.node("Gemm", [x, weight, bias], transB=1)

    def chain(self, layer, x):
        for inner in layer.layers:
            x = self.layer(inner, x)
        return x

    def layer(self, layer, x):
        writers = {
            layers.Convolution: self.convolution,
            layers.BatchNorm: self.batch_norm,
            layers.Relu: lambda _, x: self.node("Relu", [x]),
            layers.MaxPool: lambda _, x: self.node("MaxPool", [x], kernel_shape=[2, 2],
                                                   strides=[2, 2]),
            layers.GlobalAverage: self.global_average,
            layers.Dense: self.dense,
            layers.Chain: self.chain,
            layers.Residual: lambda layer, x: self.node("Add", [self.chain(layer, x), x]),
            layers.Branches: lambda layer, x: self.node(
                "Concat", [self.layer(branch, x) for branch in layer.branches], axis=1),
        }
        return writers[type(layer)](layer, x)


def to_onnx(network):
    """The model, checked: input `image` [N, 1, 28, 28], output `logits` [N, 10]."""
    exporter = Exporter()
    last = exporter.layer(network, "image")
    exporter.nodes[-1].output[0] = "logits"
    assert exporter.nodes[-1].name == "node_" + last
    graph = helper.make_graph(
        exporter.nodes, "digits",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 1, 28, 28])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 10])],
        exporter.constants)
    model = helper.make_model(graph, producer_name="octavo-digits", ir_version=7,
                              opset_imports=[helper.make_opsetid("", 13)])
    onnx.checker.check_model(model, full_check=True)
    return model
