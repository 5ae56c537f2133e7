# SPDX-License-Identifier: Apache-2.0
"""The network as ONNX Runtime's static quantizer writes it in its operator form."""

import numpy as np

import float_net
from foreign_parts import MICROSOFT, Part, quantize, scale_of


class Writer(Part):
    def __init__(self):
        super().__init__()
        self.values, self.weights = float_net.values(), float_net.weights()

    def parameters(self, key):
        """Names of scale and zero point."""
        scale, zero = scale_of(self.values[key], np.uint8, False)
        self.scales[key] = scale
        return [self.constant(scale), self.constant(zero)]

    def weight(self, number, axis):
        w = self.weights[f"w{number}"]
        scale, zero = scale_of(w, np.int8, True, axis)
        self.scales[f"w{number}"] = scale
        return [self.constant(quantize(w, scale, zero, axis)), self.constant(scale),
                self.constant(zero)]

    def bias(self, number, key):
        scale = np.float32(self.scales[key]) * self.scales[f"w{number}"]
        return self.constant(np.rint(self.weights[f"b{number}"] / scale).astype(np.int32))

    def conv(self, number, integers, key, result):
        x, w = self.parameters(key), self.weight(number, 0)
        return self.op("QLinearConv", integers, *x, *w, *self.parameters(result),
                       self.bias(number, key), pads=float_net.PADS)


def model():
    b = Writer()
    x = b.op("QuantizeLinear", "x", *b.parameters("x"))
    r1 = b.conv(1, x, "x", "r1")  # the Relu is in its range
    p1 = b.op("MaxPool", r1, kernel_shape=[2, 2], strides=[2, 2])
    b.values["p1"] = b.values["r1"]
    c2 = b.conv(2, p1, "p1", "c2")
    r2 = b.op("QLinearAdd", c2, *b.parameters("c2"), p1, *b.parameters("p1"), *b.parameters("r2"),
              domain=MICROSOFT)
    # There is no quantized ConvTranspose: it runs in float.
    real = b.op("DequantizeLinear", r2, *b.parameters("r2"))
    t = b.op("ConvTranspose", real, b.constant(b.weights["w3"]), b.constant(b.weights["b3"]),
             strides=[2, 2])
    t = b.op("QuantizeLinear", t, *b.parameters("t"))
    k = b.op("QLinearConcat", *b.parameters("k"), t, *b.parameters("t"), r1, *b.parameters("r1"),
             axis=1, domain=MICROSOFT)
    g = b.op("QLinearGlobalAveragePool", k, *b.parameters("k"), *b.parameters("g"),
             domain=MICROSOFT, channels_last=0)
    f = b.op("Flatten", g)
    y = b.op("QGemm", f, *b.parameters("g"), *b.weight(4, 1), b.bias(4, "g"), *b.parameters("y"),
             domain=MICROSOFT)
    b.op("DequantizeLinear", y, *b.parameters("y"), result="y")
    return b.finish([1, *float_net.IMAGE], [1, 5])
