# SPDX-License-Identifier: Apache-2.0
"""What the writers of foreign quantized models share."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

MICROSOFT = "com.microsoft"


def scale_of(values, dtype, symmetric, axis=None):
    """Scale and zero point for a type, of the whole or one per index of `axis`."""
    others = None if axis is None else tuple(i for i in range(values.ndim) if i != axis)
    low, high = np.minimum(values.min(others), 0), np.maximum(values.max(others), 0)
    info = np.iinfo(dtype)
    if symmetric:
        scale = np.maximum(-low, high) / (info.max - (info.max + info.min + 1) // 2)
        zero = np.full(np.shape(scale), (info.max + info.min + 1) // 2)
    else:
        scale = (high - low) / (info.max - info.min)
        zero = np.clip(np.rint(info.min - low / scale), info.min, info.max)
    return np.float32(scale), np.array(zero, dtype)


def quantize(values, scale, zero, axis=None):
    if axis is not None:
        shape = [-1 if i == axis else 1 for i in range(values.ndim)]
        scale, zero = np.reshape(scale, shape), np.reshape(zero, shape)
    info = np.iinfo(zero.dtype)
    integers = np.clip(np.rint(values / scale) + zero.astype(np.int64), info.min, info.max)
    return integers.astype(zero.dtype)


class Part:
    """Nodes and constants of a graph; every method gives the name of the new value."""

    def __init__(self):
        self.nodes, self.constants, self.scales = [], [], {}

    def constant(self, array):
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def op(self, kind, *operands, results=1, result=None, **attributes):
        number = len(self.nodes)
        names = [result or f"{kind}_{number}_{i}" for i in range(results)]
        attributes = {key: value for key, value in attributes.items() if value != ""}
        self.nodes.append(helper.make_node(kind, list(operands), names, name=f"{kind}_{number}",
                                           **attributes))
        return names[0] if results == 1 else names

    def finish(self, x_shape, y_shape, opset=13):
        info = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "foreign", [info("x", TensorProto.FLOAT, x_shape)],
                                  [info("y", TensorProto.FLOAT, y_shape)], self.constants)
        opsets = [helper.make_opsetid("", opset), helper.make_opsetid(MICROSOFT, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=10 if opset > 20 else 8)
