#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes quantized models with the structures that exporters give, one network in each style:
DIR/NAME/quantized.onnx, NAME/float.onnx and samples.npz.

    foreign_models.py DIR
"""

import dataclasses
import pathlib
import sys

import numpy as np
import onnx
from onnx import numpy_helper

import float_net
import foreign_dynamic
import foreign_qoperator
import foreign_sequence
from foreign_parts import Part, quantize, scale_of

TYPES = {"u8": np.uint8, "s8": np.int8, "u16": np.uint16, "s16": np.int16}


@dataclasses.dataclass
class Style:
    activations: str = "u8"
    weights: str = "s8"
    per_channel: bool = True
    symmetric: bool = False
    bias: str = "int32"          # int32: integers and DequantizeLinear; float; added: by an Add
    parameters: str = "initializer"  # initializer; node: a Constant; cast: of int64 and a Cast
    between: str = ""            # an op between QuantizeLinear and DequantizeLinear
    dedicated: bool = False      # each reader has a QuantizeLinear and DequantizeLinear of its own
    stored: str = "integers"     # weights: integers; float: QuantizeLinear of floats; view: the
                                 # same as [channels, rest]; transposed: integers with axes permuted
    relu: str = "Relu"           # Relu; Clip and MinMax: up to 6
    last: bool = False           # input [batch, height, width, channels] and Transposes
    domain: str = ""             # of QuantizeLinear and DequantizeLinear
    opset: int = 13


class Writer(Part):
    """Appends the network's nodes in one style."""

    def __init__(self, style):
        super().__init__()
        self.style = style
        self.integers = {}  # float value -> its integers with scale and zero point
        relu = (lambda v: np.maximum(v, 0)) if style.relu == "Relu" else (lambda v: np.clip(v, 0, 6))
        self.values, self.weights = float_net.values(relu), float_net.weights()

    def parameter(self, array):
        if self.style.parameters == "initializer":
            return self.constant(array)
        if self.style.parameters == "cast" and array.dtype.kind in "iu":
            wide = self.op("Constant", value=numpy_helper.from_array(array.astype(np.int64), "v"))
            return self.op("Cast", wide, to=onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype])
        return self.op("Constant", value=numpy_helper.from_array(array, "v"))

    def pair(self, real, scale, zero, **axis):
        """QuantizeLinear and DequantizeLinear of a real value."""
        style = self.style
        s, z = self.parameter(np.float32(scale)), self.parameter(zero)
        integers = self.op("QuantizeLinear", real, s, z, domain=style.domain, **axis)
        if style.between == "Identity":
            integers = self.op("Identity", integers)
        if style.between == "Cast":
            integers = self.op("Cast", integers, to=onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[zero.dtype])
        return integers, (s, z), self.op("DequantizeLinear", integers, s, z, domain=style.domain, **axis)

    def activation(self, real, key):
        style = self.style
        scale, zero = scale_of(self.values[key], TYPES[style.activations], style.symmetric)
        self.scales[key] = scale
        self.integers[key] = (real, scale, zero)
        return key, self.pair(real, scale, zero)[2]

    def read(self, activation):
        """The activation for one more reader."""
        key, dequantized = activation
        return self.pair(*self.integers[key])[2] if self.style.dedicated else dequantized

    def weight(self, key, axis):
        style, w = self.style, self.weights[key]
        kept = axis if style.per_channel else None
        scale, zero = scale_of(w, TYPES[style.weights], style.weights[0] == "s", kept)
        self.scales[key] = scale
        at = {} if kept is None else {"axis": kept}
        if style.stored == "float":
            return self.pair(self.constant(w), scale, zero, **at)[2]
        if style.stored == "view" and kept == 0:
            flat = self.op("Reshape", self.constant(w), self.constant(np.array([len(w), -1])))
            flat = self.pair(flat, scale, zero, **at)[2]
            return self.op("Reshape", flat, self.constant(np.array(w.shape)))
        order = list(range(w.ndim))
        if style.stored == "transposed" and w.ndim == 4:
            order = [2, 3, 1, 0]  # height, width, in, out
            at = {"axis": order.index(kept)} if at else {}
        integers = self.constant(np.transpose(quantize(w, scale, zero, kept), order))
        real = self.op("DequantizeLinear", integers, self.parameter(np.float32(scale)),
                       self.parameter(zero), domain=style.domain, **at)
        if order == sorted(order):
            return real
        return self.op("Transpose", real, perm=[int(i) for i in np.argsort(order)])

    def bias(self, number, x):
        b = self.weights[f"b{number}"]
        if self.style.bias == "added":
            return []
        if self.style.bias == "float":
            return [self.constant(b)]
        scale = np.float32(self.scales[x[0]]) * np.float32(self.scales[f"w{number}"])
        integers = np.rint(b / scale).astype(np.int32)
        at = {"axis": 0} if np.ndim(scale) else {}
        zero = self.parameter(np.zeros(np.shape(scale), np.int32))
        return [self.op("DequantizeLinear", self.constant(integers), self.parameter(scale), zero, **at)]

    def product(self, kind, number, x, axis, bias_shape=(-1, 1, 1), **attributes):
        w = self.weight(f"w{number}", axis)
        result = self.op(kind, self.read(x), w, *self.bias(number, x), **attributes)
        if self.style.bias != "added":
            return result
        return self.op("Add", result, self.constant(self.weights[f"b{number}"].reshape(bias_shape)))

    def rectified(self, real):
        if self.style.relu == "Relu":
            return self.op("Relu", real)
        zero, six = self.constant(np.float32(0)), self.constant(np.float32(6))
        if self.style.relu == "Clip":
            return self.op("Clip", real, zero, six)
        return self.op("Min", self.op("Max", real, zero), six)

    def mean(self, x):
        if self.style.last:
            return self.op("ReduceMean", self.read(x), axes=[2, 3], keepdims=0)
        return self.op("Flatten", self.read(self.activation(
            self.op("GlobalAveragePool", self.read(x)), "g")))

    def network(self):
        start = "x"
        if self.style.last:
            # The image comes in as bytes and is converted to the activations' type.
            scale, zero = scale_of(self.values["x"], np.uint8, False)
            start = self.op("Transpose", self.pair("x", scale, zero)[2], perm=[0, 3, 1, 2])
        x = self.activation(start, "x")
        r1 = self.activation(self.rectified(self.product("Conv", 1, x, 0, pads=float_net.PADS)), "r1")
        p1 = self.activation(self.op("MaxPool", self.read(r1), kernel_shape=[2, 2], strides=[2, 2]),
                             "p1")
        c2 = self.activation(self.product("Conv", 2, p1, 0, pads=float_net.PADS), "c2")
        r2 = self.activation(self.rectified(self.op("Add", self.read(c2), self.read(p1))), "r2")
        t = self.activation(self.product("ConvTranspose", 3, r2, 1, strides=[2, 2]), "t")
        k = self.activation(self.op("Concat", self.read(t), self.read(r1), axis=1), "k")
        f = self.activation(self.mean(k), "f")
        if self.style.bias == "added":
            y = self.product("MatMul", 4, f, 1, bias_shape=(-1,))
        else:
            y = self.product("Gemm", 4, f, 1)
        self.op("Identity", self.activation(y, "y")[1], result="y")

    def model(self):
        self.network()
        c, h, w = float_net.IMAGE
        return self.finish([1, h, w, c] if self.style.last else [1, c, h, w], [1, 5],
                           self.style.opset)


class FloatWriter(Writer):
    """The same network without a quantized value."""

    def activation(self, real, key):
        return key, real

    def read(self, activation):
        return activation[1]

    def weight(self, key, axis):
        return self.constant(self.weights[key])

    def bias(self, number, x):
        return [] if self.style.bias == "added" else [self.constant(self.weights[f"b{number}"])]

    def pair(self, real, scale, zero, **axis):
        return None, None, real


STYLES = {
    "onnxruntime-u8s8": Style(),
    "onnxruntime-u8u8": Style(weights="u8", per_channel=False),
    "onnxruntime-s8s8": Style(activations="s8", symmetric=True),
    "onnxruntime-u16s8": Style(activations="u16", domain="com.microsoft"),
    "onnxruntime-u16s8-opset21": Style(activations="u16", opset=21),
    "onnxruntime-dedicated": Style(dedicated=True),
    "onnxruntime-float-weights": Style(stored="float", bias="float"),
    "torch-fx": Style(bias="float", parameters="node"),
    "torch-fx-int32-bias": Style(parameters="node", between="Identity"),
    "torch-pt2e": Style(activations="s8", bias="float", parameters="cast", between="Identity",
                        opset=17),
    "torch-cast": Style(between="Cast", parameters="cast", per_channel=False),
    "torch-fake-quantize": Style(stored="float", bias="float", parameters="cast"),
    "torch-views": Style(stored="view", bias="float", parameters="node"),
    "tf2onnx-relu6": Style(activations="s8", per_channel=False, bias="added", stored="transposed",
                           relu="Clip", last=True),
    "tf2onnx-min-max": Style(stored="float", per_channel=False, bias="added", relu="MinMax",
                             last=True),
    "tflite-int8": Style(activations="s8", stored="transposed", relu="Clip", last=True),
}

# Those whose every operator can compute in integers.
IN_INTEGERS = [*STYLES, "torch-sequence"]


def write(folder, quantized, float_model, samples):
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(quantized, str(folder / "quantized.onnx"))
    onnx.save(float_model, str(folder / "float.onnx"))
    np.savez(folder / "samples.npz", **samples)


def main(arguments):
    if len(arguments) != 1:
        sys.exit(__doc__)
    directory = pathlib.Path(arguments[0])
    images = float_net.images()
    for name, style in STYLES.items():
        x = np.transpose(images, [0, 2, 3, 1]) if style.last else images
        write(directory / name, Writer(style).model(), FloatWriter(style).model(), {"x": x})
    write(directory / "onnxruntime-qoperator", foreign_qoperator.model(),
          FloatWriter(Style()).model(), {"x": images})
    write(directory / "torch-sequence", foreign_sequence.model(), foreign_sequence.float_model(),
          {"x": foreign_sequence.samples()})
    for name, (quantized, float_model) in foreign_dynamic.models().items():
        write(directory / name, quantized, float_model, {"x": foreign_dynamic.samples()})


if __name__ == "__main__":
    main(sys.argv[1:])
