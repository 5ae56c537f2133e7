#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Networks of the MobileNetV3 and EfficientNet kind with seeded random weights, their activations and
squeeze-and-excite blocks in the forms that exporters write.

    gate_models.py DIR [--scale S] [--image N]     DIR/mobilenetv3.onnx, efficientnet_b0.onnx and their
                                                   samples .npz
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SAMPLES = 8


class Net:
    """Appends nodes; every method gives the name of the new value."""

    def __init__(self, seed, scale):
        self.random, self.scale = np.random.default_rng(seed), scale
        self.nodes, self.constants, self.blocks = [], [], 0

    def wide(self, channels):
        return max(4, int(channels * self.scale + 2) // 4 * 4)

    def constant(self, values, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def op(self, kind, *operands, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(operands), [name], name=f"n_{name}",
                                           **attributes))
        return name

    def weights(self, *shape):
        fan_in = np.prod(shape[1:])
        return self.constant(self.random.normal(0, np.sqrt(2 / fan_in), shape))

    def bias(self, count):
        return self.constant(self.random.normal(0, 0.1, count))

    def conv(self, x, channels_in, channels, kernel, stride=1, group=1):
        return self.op("Conv", x, self.weights(channels, channels_in // group, kernel, kernel),
                       self.bias(channels), group=group, strides=[stride] * 2,
                       pads=[kernel // 2] * 4)

    def gemm(self, x, width_in, width):
        return self.op("Gemm", x, self.weights(width, width_in), self.bias(width), transB=1)

    # ------------------------------------------------------------ activations

    def silu(self, x):
        return self.op("Mul", x, self.op("Sigmoid", x))

    def hard_sigmoid(self, x, written_out):
        if not written_out:
            return self.op("HardSigmoid", x, alpha=1 / 6, beta=0.5)
        shifted = self.op("Add", x, self.constant(3))
        clipped = self.op("Clip", shifted, self.constant(0), self.constant(6))
        return self.op("Div", clipped, self.constant(6))

    def hard_swish(self, x):
        if self.blocks % 2:
            return self.op("HardSwish", x)
        return self.op("Mul", x, self.hard_sigmoid(x, written_out=True))

    # ------------------------------------------------------------ squeeze and excitation

    def squeeze_excite(self, x, channels, hidden, activation, gate):
        """In turns: torchvision's, timm's, Keras's, and one of matrices with factors at the end."""
        form = self.blocks % 4
        self.blocks += 1
        if form < 2:
            if form == 0:
                pooled = self.op("GlobalAveragePool", x)
            else:
                pooled = self.op("ReduceMean", x, axes=[2, 3], keepdims=1)
            excited = self.conv(activation(self.conv(pooled, channels, hidden, 1)), hidden, channels, 1)
            return self.op("Mul", *((x, gate(excited)) if form else (gate(excited), x)))
        if form == 2:
            pooled = self.op("Flatten", self.op("GlobalAveragePool", x))
            excited = gate(self.gemm(activation(self.gemm(pooled, channels, hidden)), hidden, channels))
        else:
            pooled = self.op("ReduceMean", x, axes=[2, 3], keepdims=0)
            product = self.op("MatMul", pooled, self.weights(channels, hidden))
            squeezed = activation(self.op("Add", product, self.bias(hidden)))
            product = self.op("MatMul", squeezed, self.weights(hidden, channels))
            excited = gate(self.op("Add", product, self.bias(channels)))
        return self.op("Mul", x, self.op("Reshape", excited,
                                         self.constant([1, channels, 1, 1], np.int64)))

    def model(self, image, result):
        graph = helper.make_graph(
            self.nodes, "gates",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, image, image])],
            [onnx.ValueInfoProto(name=result)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
        model.ir_version = 8
        return model


def mobilenetv3(scale, image):
    """MobileNetV3-Small: 9 blocks with squeeze and excitation, of 11."""
    net = Net(3, scale)
    x, inner = net.hard_swish(net.conv("x", 3, net.wide(16), 3, 2)), net.wide(16)
    rows = [(3, 16, 16, 1, 0, 2), (3, 72, 24, 0, 0, 2), (3, 88, 24, 0, 0, 1), (5, 96, 40, 1, 1, 2),
            (5, 240, 40, 1, 1, 1), (5, 240, 40, 1, 1, 1), (5, 120, 48, 1, 1, 1),
            (5, 144, 48, 1, 1, 1), (5, 288, 96, 1, 1, 2), (5, 576, 96, 1, 1, 1),
            (5, 576, 96, 1, 1, 1)]
    for kernel, expanded, channels, excited, hard, stride in rows:
        activation = net.hard_swish if hard else lambda v: net.op("Relu", v)
        expanded, channels = net.wide(expanded), net.wide(channels)
        y = activation(net.conv(x, inner, expanded, 1))
        y = activation(net.conv(y, expanded, expanded, kernel, stride, expanded))
        if excited:
            written_out = net.blocks % 3 == 1
            y = net.squeeze_excite(y, expanded, net.wide(expanded / 4), lambda v: net.op("Relu", v),
                                   lambda v, out=written_out: net.hard_sigmoid(v, out))
        y = net.conv(y, expanded, channels, 1)
        x, inner = (net.op("Add", x, y) if stride == 1 and inner == channels else y), channels
    x = net.hard_swish(net.conv(x, inner, net.wide(576), 1))
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    x = net.hard_swish(net.gemm(x, net.wide(576), net.wide(1024)))
    return net.model(image, net.gemm(x, net.wide(1024), 10))


def efficientnet_b0(scale, image):
    """EfficientNet-B0: 16 blocks with squeeze and excitation, SiLU everywhere."""
    net = Net(4, scale)
    x, inner = net.silu(net.conv("x", 3, net.wide(32), 3, 2)), net.wide(32)
    rows = [(1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
            (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3)]
    for factor, channels, count, stride, kernel in rows:
        channels = net.wide(channels)
        for number in range(count):
            step, expanded = stride if number == 0 else 1, inner * factor
            y = net.silu(net.conv(x, inner, expanded, 1)) if factor > 1 else x
            y = net.silu(net.conv(y, expanded, expanded, kernel, step, expanded))
            y = net.squeeze_excite(y, expanded, max(4, inner // 4), net.silu,
                                   lambda v: net.op("Sigmoid", v))
            y = net.conv(y, expanded, channels, 1)
            x, inner = (net.op("Add", x, y) if step == 1 and inner == channels else y), channels
    x = net.silu(net.conv(x, inner, net.wide(1280), 1))
    x = net.op("Flatten", net.op("GlobalAveragePool", x))
    return net.model(image, net.gemm(x, net.wide(1280), 10))


NETWORKS = {"mobilenetv3": mobilenetv3, "efficientnet_b0": efficientnet_b0}


def samples(image, seed=7):
    """Smooth images, as photographs are: noise of three sizes."""
    random = np.random.default_rng(seed)
    made = np.zeros((SAMPLES, 3, image, image))
    for cells in (1, image // 8, image):
        noise = random.normal(0, 1, (SAMPLES, 3, cells, cells))
        made += noise.repeat(image // cells, 2).repeat(image // cells, 3)
    return made.astype(np.float32)


def write(folder, scale, image):
    folder.mkdir(parents=True, exist_ok=True)
    for name, build in NETWORKS.items():
        onnx.save(build(scale, image), str(folder / f"{name}.onnx"))
        np.savez(folder / f"{name}.npz", x=samples(image))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--image", type=int, default=224)
    given = parser.parse_args()
    write(given.folder, given.scale, given.image)


if __name__ == "__main__":
    main()
