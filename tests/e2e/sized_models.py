# SPDX-License-Identifier: Apache-2.0
"""Models whose inputs have symbolic dimensions, as PyTorch exports them."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Collects nodes; every node is named after its result."""

    def __init__(self, shape, opset=13):
        self.shape, self.opset, self.nodes, self.constants = shape, opset, [], []
        self.random = np.random.default_rng(5)

    def op(self, kind, *operands, name=None, **attributes):
        name = name or f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(operands), [name], name=f"node.{name}",
                                           **attributes))
        return name

    def constant(self, values, dtype=np.int64):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def weight(self, *shape):
        scale = 1 / np.sqrt(np.prod(shape[1:]) if len(shape) > 2 else shape[0])
        return self.constant(self.random.normal(size=shape) * scale, np.float32)

    def conv(self, x, channels_in, channels_out, stride=1, kernel=3):
        x = self.op("Conv", x, self.weight(channels_out, channels_in, kernel, kernel),
                    self.weight(channels_out), strides=[stride] * 2, pads=[kernel // 2] * 4)
        return self.op("Relu", x)

    def size(self, x, axis):
        """x.size(axis) as a list of one."""
        extent = self.op("Gather", self.op("Shape", x), self.constant(axis))
        return self.op("Unsqueeze", extent, self.constant([0]))

    def model(self, output, output_shape):
        self.op("Identity", output, name="y")
        graph = helper.make_graph(
            self.nodes, "sized",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, output_shape)],
            self.constants)
        return helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)


IMAGE = ["batch", 3, "height", "width"]


def classifier():
    """Convolutions, x.mean over the image, view(x.size(0), -1), a linear layer."""
    net = Builder(IMAGE)
    x = net.conv("x", 3, 8, stride=2)
    x = net.op("Add", net.conv(x, 8, 8), x)
    x = net.op("GlobalAveragePool", x)
    target = net.op("Concat", net.size(x, 0), net.constant([-1]), axis=0)
    x = net.op("Reshape", x, target)
    return net.model(net.op("Gemm", x, net.weight(8, 10)), ["batch", 10])


def segmenter():
    """Down and up again: Resize to the size of what is concatenated, which is no whole multiple."""
    net = Builder(IMAGE)
    skip = net.conv("x", 3, 8, stride=2)
    low = net.conv(net.conv(skip, 8, 16, stride=2), 16, 8)
    size = net.op("Concat", net.op("Slice", net.op("Shape", low), net.constant([0]),
                                   net.constant([2])),
                  net.size(skip, 2), net.size(skip, 3), axis=0)
    high = net.op("Resize", low, "", "", size, mode="nearest",
                  coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = net.conv(net.op("Concat", skip, high, axis=1), 16, 4)
    return net.model(x, ["batch", 4, "out_height", "out_width"])


def detector():
    """A map to boxes: permute, then view(batch, -1, 4)."""
    net = Builder(IMAGE)
    x = net.conv(net.conv("x", 3, 8, stride=2), 8, 12, stride=2)
    x = net.op("Transpose", x, perm=[0, 2, 3, 1])
    target = net.op("Concat", net.size("x", 0), net.constant([-1]), net.constant([4]), axis=0)
    return net.model(net.op("Sigmoid", net.op("Reshape", x, target)), ["batch", "boxes", 4])


def windows():
    """Windows of 4 x 4, as view(batch, height // 4, 4, width // 4, 4, channels) makes them."""
    net = Builder(IMAGE)
    x = net.op("Transpose", net.conv("x", 3, 8), perm=[0, 2, 3, 1])

    def part(axis):
        return net.op("Div", net.size(x, axis), net.constant([4]))

    target = net.op("Concat", net.size(x, 0), part(1), net.constant([4]), part(2),
                    net.constant([4]), net.constant([8]), axis=0)
    x = net.op("Transpose", net.op("Reshape", x, target), perm=[0, 1, 3, 2, 4, 5])
    x = net.op("Reshape", x, net.constant([-1, 128]))
    return net.model(net.op("MatMul", x, net.weight(128, 10)), ["windows", 10])


def attention():
    """A layer of a transformer, [batch, sequence, 32] in 4 heads."""
    net = Builder(["batch", "sequence", 32])
    batch, sequence = net.size("x", 0), net.size("x", 1)

    def heads(weights, perm):
        target = net.op("Concat", batch, sequence, net.constant([4]), net.constant([8]), axis=0)
        projected = net.op("MatMul", "x", weights)
        return net.op("Transpose", net.op("Reshape", projected, target), perm=perm)

    query, key = heads(net.weight(32, 32), [0, 2, 1, 3]), heads(net.weight(32, 32), [0, 2, 3, 1])
    value = heads(net.weight(32, 32), [0, 2, 1, 3])
    scores = net.op("Mul", net.op("MatMul", query, key), net.constant(8 ** -0.5, np.float32))
    mixed = net.op("MatMul", net.op("Softmax", scores, axis=-1), value)
    mixed = net.op("Transpose", mixed, perm=[0, 2, 1, 3])
    target = net.op("Concat", batch, sequence, net.constant([32]), axis=0)
    x = net.op("Add", net.op("Reshape", mixed, target), "x")
    x = net.op("MatMul", net.op("Relu", net.op("MatMul", x, net.weight(32, 64))),
               net.weight(64, 32))
    return net.model(x, ["batch", "sequence", 32])


def whole_window():
    """AveragePool over what is the whole image at 16 x 16."""
    net = Builder(IMAGE)
    x = net.conv("x", 3, 8)
    return net.model(net.op("AveragePool", x, name="pool", kernel_shape=[16, 16]),
                     ["batch", 8, 1, 1])


def slice_of_16():
    """A Slice to 16 rows, which is all of them at 16 x 16."""
    net = Builder(IMAGE)
    x = net.op("Slice", net.conv("x", 3, 8), net.constant([0]), net.constant([16]),
               net.constant([2]), name="slice")
    return net.model(net.conv(x, 8, 4), ["batch", 4, "rows", "width"])


def divided_by_area():
    """A float constant that follows from the size."""
    net = Builder(IMAGE)
    x = net.conv("x", 3, 8)
    width = net.op("Cast", net.size("x", 3), to=TensorProto.FLOAT)
    return net.model(net.op("Div", x, width, name="divide"), ["batch", 8, "height", "width"])


def linear_of_image():
    """view(x.size(0), -1) of an image, then a linear layer: the model takes 16 x 16 only."""
    net = Builder(IMAGE)
    x = net.conv("x", 3, 4)
    target = net.op("Concat", net.size(x, 0), net.constant([-1]), axis=0)
    return net.model(net.op("Gemm", net.op("Reshape", x, target), net.weight(1024, 10),
                            name="linear"), ["batch", 10])
