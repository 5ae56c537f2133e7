# SPDX-License-Identifier: Apache-2.0
"""Two layers whose activations are quantized by the range of each sample, in the forms that
quantizers write: the operators for it, and the same written out."""

import numpy as np
from onnx import TensorProto

from foreign_parts import Part, quantize, scale_of

WIDTHS = (16, 24, 5)


def samples():
    return np.random.default_rng(8).normal(size=(6, WIDTHS[0])).astype(np.float32)


def layers():
    random = np.random.default_rng(9)
    for inner, outer in zip(WIDTHS, WIDTHS[1:]):
        yield (random.normal(0, np.sqrt(2 / inner), (inner, outer)).astype(np.float32),
               random.normal(0, 0.2, outer).astype(np.float32))


def network(layer):
    b, x = Part(), "x"
    for number, (w, bias) in enumerate(layers()):
        real = b.op("Add", layer(b, x, w), b.constant(bias))
        x = b.op("Relu", real) if number == 0 else real
    b.op("Identity", x, result="y")
    return b.finish([1, WIDTHS[0]], [1, WIDTHS[-1]])


def float_model():
    return network(lambda b, x, w: b.op("MatMul", x, b.constant(w)))


def integer_layer(dtype, per_channel):
    """ONNX Runtime's dynamic quantizer."""
    def layer(b, x, w):
        axis = 1 if per_channel else None
        scale, zero = scale_of(w, dtype, dtype == np.int8, axis)
        integers, s, z = b.op("DynamicQuantizeLinear", x, results=3)
        sums = b.op("MatMulInteger", integers, b.constant(quantize(w, scale, zero, axis)), z,
                    b.constant(zero))
        both = b.op("Mul", s, b.constant(scale))
        return b.op("Mul", b.op("Cast", sums, to=TensorProto.FLOAT), both)
    return layer


def written_out_layer(b, x, w):
    """Scale and zero point computed by plain operators, the product in float."""
    zero, top = b.constant(np.float32(0)), b.constant(np.float32(255))
    low = b.op("Min", b.op("ReduceMin", x, keepdims=0), zero)
    high = b.op("Max", b.op("ReduceMax", x, keepdims=0), zero)
    s = b.op("Div", b.op("Sub", high, low), top)
    z = b.op("Round", b.op("Div", b.op("Sub", zero, low), s))
    integers = b.op("Clip", b.op("Add", b.op("Round", b.op("Div", x, s)), z), zero, top)
    integers = b.op("Cast", integers, to=TensorProto.UINT8)
    centered = b.op("Sub", b.op("Cast", integers, to=TensorProto.FLOAT), z)
    return b.op("MatMul", b.op("Mul", centered, s), written_out_weight(b, w))


def written_out_weight(b, w):
    """A quantized weight, dequantized by plain operators."""
    scale, zero = scale_of(w, np.uint8, False)
    real = b.op("Cast", b.constant(quantize(w, scale, zero)), to=TensorProto.FLOAT)
    centered = b.op("Sub", real, b.constant(np.float32(zero)))
    return b.op("Mul", centered, b.constant(scale))


def weight_only_layer(b, x, w):
    scale, zero = scale_of(w, np.int8, True, 1)
    real = b.op("DequantizeLinear", b.constant(quantize(w, scale, zero, 1)), b.constant(scale),
                b.constant(zero), axis=1)
    return b.op("MatMul", x, real)


def convolution(quantized):
    """Over an image made of the sample."""
    b, x = Part(), "x"
    w = np.random.default_rng(10).normal(0, 0.4, (5, 1, 3, 3)).astype(np.float32)
    image = b.op("Reshape", x, b.constant(np.array([1, 1, 4, 4])))
    if quantized:
        scale, zero = scale_of(w, np.uint8, False)
        integers, s, z = b.op("DynamicQuantizeLinear", image, results=3)
        sums = b.op("ConvInteger", integers, b.constant(quantize(w, scale, zero)), z,
                    b.constant(zero), pads=[1, 1, 1, 1])
        real = b.op("Mul", b.op("Cast", sums, to=TensorProto.FLOAT),
                    b.op("Mul", s, b.constant(scale)))
    else:
        real = b.op("Conv", image, b.constant(w), pads=[1, 1, 1, 1])
    b.op("Flatten", b.op("GlobalMaxPool", b.op("Relu", real)), result="y")
    return b.finish([1, WIDTHS[0]], [1, 5])


def models():
    """Quantized and float model by name."""
    layers_of = {
        "dynamic-u8u8": integer_layer(np.uint8, per_channel=False),
        "dynamic-u8s8-per-channel": integer_layer(np.int8, per_channel=True),
        "dynamic-written-out": written_out_layer,
        "weight-only": weight_only_layer,
    }
    made = {name: (network(layer), float_model()) for name, layer in layers_of.items()}
    made["dynamic-conv"] = (convolution(True), convolution(False))
    return made
