#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small float models with seeded random weights, and samples for them: DIR/NAME/model.onnx
and DIR/NAME/samples.npz.  Together they have every operator that folds to integers.

    generated_models.py DIR [--zoo GENMODELS.py NAME..]    with --zoo also models of that script
"""

import importlib.util
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SAMPLES = 4


class Builder:
    """Appends nodes; every method gives the name of the new value."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants = [], []

    def constant(self, values, dtype=np.float32):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def op(self, kind, *operands, results=1, **attributes):
        number = len(self.nodes)
        names = [f"v{number}" if results == 1 else f"v{number}.{i}" for i in range(results)]
        self.nodes.append(helper.make_node(kind, list(operands), names, name=f"{kind.lower()}{number}",
                                           **attributes))
        return names[0] if results == 1 else names

    def weights(self, shape, fan_in):
        return self.constant(self.random.normal(0, np.sqrt(2 / fan_in), shape))

    def bias(self, count):
        return self.constant(self.random.normal(0, 0.1, count))

    def conv(self, x, channels_in, channels, kernel, rank=2, group=1, **attributes):
        shape = [channels, channels_in // group, *[kernel] * rank]
        weights = self.weights(shape, np.prod(shape[1:]))
        attributes.setdefault("pads", [kernel // 2] * 2 * rank)
        return self.op("Conv", x, weights, self.bias(channels), group=group, **attributes)

    def linear(self, x, width_in, width):
        product = self.op("MatMul", x, self.weights([width_in, width], width_in))
        return self.op("Add", product, self.bias(width))

    def layer_norm(self, x, width):
        scale = self.constant(self.random.uniform(0.5, 1.5, width))
        return self.op("LayerNormalization", x, scale, self.bias(width), axis=-1)

    def model(self, inputs, result):
        info = helper.make_tensor_value_info
        self.nodes.append(helper.make_node("Identity", [result], ["y"]))
        graph = helper.make_graph(self.nodes, "generated",
                                  [info(name, TensorProto.FLOAT, shape) for name, shape in inputs],
                                  [info("y", TensorProto.FLOAT, None)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def images(seed):
    """Separable convolutions, residuals, squeeze and excitation, pools, upsampling."""
    b = Builder(seed)
    x = b.op("HardSwish", b.conv("x", 3, 16, 3, strides=[2, 2]))
    t = b.op("Clip", b.conv(x, 16, 16, 3, group=16), b.constant(0), b.constant(6))
    x = b.op("Add", b.conv(t, 16, 16, 1), x)
    gate = b.op("Relu", b.conv(b.op("GlobalAveragePool", x), 16, 4, 1))
    gate = b.op("HardSigmoid", b.conv(gate, 4, 16, 1), alpha=1 / 6, beta=0.5)
    x = b.op("Mul", x, gate)
    window = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    x = b.op("Concat", b.op("MaxPool", x, **window),
             b.op("AveragePool", x, **window, count_include_pad=1),
             b.op("LeakyRelu", b.conv(x, 16, 16, 3, strides=[2, 2], group=2), alpha=0.1), axis=1)
    left, right = b.op("Split", x, results=2, num_outputs=2, axis=1)
    x = b.op("Sub", left, b.op("Max", right, b.op("Sigmoid", left)))
    up = b.op("Resize", x, "", b.constant([1, 1, 2, 2]), mode="nearest")
    smooth = b.op("Resize", x, "", b.constant([1, 1, 2, 2]), mode="linear")
    deep = b.op("DepthToSpace", b.conv(x, 24, 32, 1), blocksize=2)
    back = b.op("ConvTranspose", x, b.weights([24, 8, 3, 3], 54), b.bias(8), strides=[2, 2],
                pads=[1, 1, 1, 1], output_padding=[1, 1])
    x = b.op("Concat", up, smooth, deep, back, axis=1)
    x = b.op("ReduceMean", b.op("PRelu", x, b.constant(np.full([64, 1, 1], 0.25))),
             b.constant([2, 3], np.int64), keepdims=0)
    return b.model([("x", [1, 3, 32, 32])],
                   b.op("Gemm", x, b.weights([10, 64], 64), b.bias(10), transB=1)), {}


def encoder(seed, width=32, heads=4, length=24):
    """Two layers of attention with a mask, layer normalization and Gelu."""
    b = Builder(seed)
    split = b.constant([1, length, heads, width // heads], np.int64)
    x = "x"
    for _ in range(2):
        q, k, v = (b.op("Reshape", b.linear(x, width, width), split) for _ in range(3))
        q, v = (b.op("Transpose", t, perm=[0, 2, 1, 3]) for t in (q, v))
        scores = b.op("MatMul", q, b.op("Transpose", k, perm=[0, 2, 3, 1]))
        scores = b.op("Div", scores, b.constant(np.sqrt(width // heads)))
        shares = b.op("Softmax", b.op("Add", scores, "mask"), axis=-1)
        mixed = b.op("Transpose", b.op("MatMul", shares, v), perm=[0, 2, 1, 3])
        mixed = b.op("Reshape", mixed, b.constant([1, length, width], np.int64))
        x = b.layer_norm(b.op("Add", b.linear(mixed, width, width), x), width)
        wide = b.op("Gelu", b.linear(x, width, 4 * width))
        x = b.layer_norm(b.op("Add", b.linear(wide, 4 * width, width), x), width)
    first = b.op("Gather", x, b.constant(0, np.int64), axis=1)
    mask = np.zeros([SAMPLES, 1, 1, length], np.float32)
    mask[:, :, :, length * 3 // 4:] = -4
    return b.model([("x", [1, length, width]), ("mask", [1, 1, 1, length])],
                   b.op("Tanh", b.linear(first, width, width))), {"mask": mask}


def signals(seed):
    """Dilated convolutions over time with gates, as in speech."""
    b = Builder(seed)
    x = b.conv("x", 8, 24, 5, rank=1)
    for dilation in (1, 2, 4):
        t = b.conv(x, 24, 48, 3, rank=1, dilations=[dilation], pads=[dilation] * 2)
        left, right = b.op("Split", t, results=2, num_outputs=2, axis=1)
        t = b.op("Mul", b.op("Tanh", left), b.op("Sigmoid", right))
        x = b.op("Add", b.conv(t, 24, 24, 1, rank=1), x)
    x = b.op("MaxPool", b.op("Elu", x), kernel_shape=[2], strides=[2])
    x = b.op("InstanceNormalization", x, b.constant(np.ones(24)), b.bias(24))
    x = b.op("Transpose", b.op("Softplus", x), perm=[0, 2, 1])
    x = b.op("Slice", x, b.constant([2], np.int64), b.constant([30], np.int64),
             b.constant([1], np.int64))
    return b.model([("x", [1, 8, 64])], b.op("LogSoftmax", b.linear(x, 24, 12), axis=-1)), {}


def volumes(seed):
    """Three spatial axes, and every operator that only moves elements."""
    b = Builder(seed)
    x = b.op("Relu", b.conv("x", 2, 12, 3, rank=3, strides=[2, 2, 2]))
    x = b.op("MaxPool", x, kernel_shape=[2, 2, 2], strides=[2, 2, 2])
    x = b.op("Pad", x, b.constant([0, 0, 0, 1, 1, 0, 0, 0, 1, 1], np.int64))
    x = b.op("Squeeze", b.conv(x, 12, 12, 3, rank=3, pads=[1, 0, 0, 1, 0, 0]),
             b.constant([0], np.int64))
    x = b.op("Reshape", x, b.constant([1, 48, 4, 4], np.int64))
    x = b.op("SpaceToDepth", x, blocksize=2)
    x = b.op("Tile", x, b.constant([1, 1, 1, 3], np.int64))
    x = b.op("Expand", b.op("Unsqueeze", x, b.constant([1], np.int64)),
             b.constant([1, 2, 192, 2, 6], np.int64))
    x = b.op("Gather", x, b.constant([5, 3, 1], np.int64), axis=4)
    x = b.op("Flatten", b.op("GlobalMaxPool", x))
    return b.model([("x", [1, 2, 16, 16, 16])], b.op("Gemm", x, b.weights([2, 6], 2), b.bias(6))), {}


def gates(seed):
    """SiLU, squeeze and excitation with a written-out HardSigmoid, norms along channels and rows."""
    b = Builder(seed)

    def silu(x, alpha=1):
        return b.op("Mul", x, b.op("Sigmoid", b.op("Mul", x, b.constant(alpha)) if alpha != 1 else x))

    x = silu(b.conv("x", 3, 24, 3, strides=[2, 2]))
    pooled = b.op("ReduceMean", x, b.constant([2, 3], np.int64))
    gate = b.conv(silu(b.conv(pooled, 24, 8, 1)), 8, 24, 1)
    gate = b.op("Clip", b.op("Add", gate, b.constant(3)), b.constant(0), b.constant(6))
    x = b.conv(b.op("Mul", x, b.op("Div", gate, b.constant(6))), 24, 24, 1)
    squares = b.op("ReduceSum", b.op("Mul", x, x), b.constant([1], np.int64))
    root = b.op("Sqrt", b.op("Max", squares, b.constant(1e-12)))
    x = silu(b.conv(b.op("Mul", x, b.op("Reciprocal", root)), 24, 16, 3, strides=[2, 2]), 1.702)
    x = b.op("Gemm", b.op("Flatten", x), b.weights([32, 1024], 1024), b.bias(32), transB=1)
    norm = b.op("Clip", b.op("ReduceL2", x, b.constant([1], np.int64)), b.constant(1e-12))
    return b.model([("x", [1, 3, 32, 32])], b.op("Div", x, norm)), {}


SMALL = {"images": images, "encoder": encoder, "signals": signals, "volumes": volumes,
         "gates": gates}


def write(folder, model, samples):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, str(folder / "model.onnx"))
    np.savez(folder / "samples.npz", **samples)
    print(folder.name)


def write_small(directory):
    for number, (name, build) in enumerate(SMALL.items()):
        model, samples = build(number)
        random = np.random.default_rng(number + 100)
        for value in model.graph.input:
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            drawn = random.normal(size=[SAMPLES * shape[0], *shape[1:]]).astype(np.float32)
            samples.setdefault(value.name, drawn)
        write(directory / name, model, samples)


def write_zoo(directory, script, names):
    spec = importlib.util.spec_from_file_location("zoo", script)
    zoo = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(zoo)
    for name in names:
        model = zoo.build(name)
        feeds = zoo.synth_inputs(model, SAMPLES)
        write(directory / name, model,
              {key: np.concatenate([feed[key] for feed in feeds]) for key in feeds[0]})


def main(arguments):
    if not arguments or arguments[1:2] not in ([], ["--zoo"]) or len(arguments) == 2:
        sys.exit(__doc__)
    directory = pathlib.Path(arguments[0])
    write_small(directory)
    if len(arguments) > 2:
        write_zoo(directory, arguments[2], arguments[3:])


if __name__ == "__main__":
    main(sys.argv[1:])
