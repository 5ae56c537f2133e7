# SPDX-License-Identifier: Apache-2.0
"""Two linear layers on rows of a sequence, as PyTorch's exporters write them: weights stored
[out, in], Transpose and MatMul, and a float bias that is added."""

import numpy as np

from foreign_parts import Part, quantize, scale_of

LENGTH, WIDTHS = 7, (16, 24, 5)


def samples():
    return np.random.default_rng(18).normal(size=(6, LENGTH, WIDTHS[0])).astype(np.float32)


def layers():
    random = np.random.default_rng(19)
    for inner, outer in zip(WIDTHS, WIDTHS[1:]):
        yield (random.normal(0, np.sqrt(2 / inner), (outer, inner)).astype(np.float32),
               random.normal(0, 0.2, outer).astype(np.float32))


def activations():
    """The input and every layer's result."""
    values = [samples()]
    for number, (w, bias) in enumerate(layers()):
        real = values[-1] @ w.T + bias
        values.append(np.maximum(real, 0) if number == 0 else real)
    return values


def network(part, pair, weight):
    ranges = activations()
    x = pair("x", ranges[0])
    for number, (w, bias) in enumerate(layers()):
        product = part.op("MatMul", x, part.op("Transpose", weight(w), perm=[1, 0]))
        real = part.op("Add", product, part.constant(bias))
        x = pair(part.op("Relu", real) if number == 0 else real, ranges[number + 1])
    part.op("Identity", x, result="y")
    return part.finish([1, LENGTH, WIDTHS[0]], [1, LENGTH, WIDTHS[-1]], 17)


def model():
    part = Part()

    def pair(real, values):
        scale, zero = (part.constant(array) for array in scale_of(values, np.uint8, False))
        return part.op("DequantizeLinear", part.op("QuantizeLinear", real, scale, zero), scale, zero)

    def weight(w):
        scale, zero = scale_of(w, np.int8, True, 0)
        integers = part.constant(quantize(w, scale, zero, 0))
        return part.op("DequantizeLinear", integers, part.constant(scale), part.constant(zero), axis=0)

    return network(part, pair, weight)


def float_model():
    part = Part()
    return network(part, lambda real, values: real, part.constant)
