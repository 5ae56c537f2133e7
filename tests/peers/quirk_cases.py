#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes quantized models that meet a quirk of ONNX Runtime, one or more for each row of
core/target/builtin/onnxruntime-1.30.json: DIR/ID/model.onnx or DIR/ID.CASE/model.onnx, with
samples.npz next to it, and case.json: {"scale": of the output, "options": of octavo optimize}.

    quirk_cases.py DIR
"""

import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Case:
    """A model in construction whose input is x, [1, ...]; it has as many samples as `x` has rows."""

    def __init__(self, name, x, opset=13, dtype=np.uint8):
        self.name, self.x, self.opset, self.dtype = name, np.asarray(x, np.float32), opset, dtype
        self.zero = 131 if dtype == np.uint8 else 3
        self.least = 0 if dtype == np.uint8 else -128
        self.nodes, self.constants = [], []

    def constant(self, values, dtype=np.float32):
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype),
                                                      f"c{len(self.constants)}"))
        return self.constants[-1].name

    def op(self, kind, *operands, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(operands), [name], name=f"{kind}.{name}",
                                           **attributes))
        return name

    def quantized(self, x, scale, zero=None, dtype=None, **axis):
        """QuantizeLinear and DequantizeLinear."""
        dtype = dtype or self.dtype
        scales = self.constant(scale)
        zeros = self.constant(np.broadcast_to(self.zero if zero is None else zero,
                                              np.shape(scale)), dtype)
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, scales, zeros, **axis),
                       scales, zeros, **axis)

    def weights(self, integers, scale, **axis):
        zeros = self.constant(np.zeros(np.shape(scale)), np.int8)
        return self.op("DequantizeLinear", self.constant(integers, np.int8), self.constant(scale),
                       zeros, **axis)

    def result(self, folder, y, scale, zero=None, options=()):
        """Quantizes and dequantizes `y` as the model's output, and writes the case."""
        y = self.quantized(y, scale, zero)
        info = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "quirk",
                                  [info("x", TensorProto.FLOAT, [1, *self.x.shape[1:]])],
                                  [info(y, TensorProto.FLOAT, None)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  ir_version=8)
        at = folder / self.name
        at.mkdir(parents=True, exist_ok=True)
        onnx.save(onnx.shape_inference.infer_shapes(model), str(at / "model.onnx"))
        np.savez(at / "samples.npz", x=self.x)
        (at / "case.json").write_text(json.dumps({"scale": scale, "options": list(options)}))


def write_all(folder):
    random = np.random.default_rng(0)
    image = random.normal(0, 1.2, [2, 2, 6, 6])

    for name, extent, scale, result in (("softmax-overflow", 4, 1e-4, 0.26 / 255),
                                        ("softmax-overflow.axis-of-one", 1, 0.05, 1 / 256)):
        for dtype in (np.uint8, np.int8):
            case = Case(f"{name}.{dtype.__name__}", random.normal(0, 50 * scale, [3, extent]),
                        dtype=dtype)
            y = case.op("Softmax", case.quantized("x", scale), axis=1)
            case.result(folder, y, result, zero=case.least)

    case = Case("softmax-reciprocal", random.normal(0, 1.5, [400, 16]))
    y = case.quantized(case.op("Softmax", case.quantized("x", 0.05), axis=1), 1 / 255.99, zero=0)
    case.result(folder, y, 1 / 900, zero=0, options=["--numerics-limit", "exact"])

    for name, shape in (("one", [1]), ("scalar", []), ("row", [1, 1])):
        case = Case(f"gemm-bias-scale.{name}", random.normal(0, 1, [3, 5]))
        scales = np.float32([0.01, 0.02, 0.005, 0.04])
        x = case.quantized("x", 0.02)
        w = case.weights(random.integers(-127, 128, [4, 5]), scales, axis=0)
        b = case.op("DequantizeLinear", case.constant(np.full(shape, 2500), np.int32),
                    case.constant(np.float32(0.02) * scales[0]))
        case.result(folder, case.op("Gemm", x, w, b, transB=1), 0.05)

    for kind, shape, channels in (("Conv", [1, 4, 6, 6], [4, 4, 3, 3]),
                                  ("ConvTranspose", [1, 4, 6, 6], [4, 4, 3, 3]),
                                  ("Gemm", [1, 5], [5, 4])):
        case = Case(f"float-parameters.{kind.lower()}", random.normal(0, 1, [3, *shape[1:]]))
        weights = random.normal(0, 0.3, channels)
        weights.flat[0] = 15  # one scale for all leaves few steps for the others
        y = case.op(kind, case.quantized("x", 0.02), case.constant(weights),
                    case.constant(random.normal(0, 0.5, 4)))
        case.result(folder, y, 0.03)

    # The runtime looks through a clamp and moves QuantizeLinear and DequantizeLinear past movement.
    case = Case("float-parameters.conv-between", random.normal(0, 1, [3, 4, 6, 6]))
    weights = random.normal(0, 0.3, [4, 4, 3, 3])
    weights.flat[0] = 15
    x = case.op("Transpose", case.quantized("x", 0.02), perm=[0, 1, 3, 2])
    y = case.op("Relu", case.op("Conv", x, case.constant(weights)))
    case.result(folder, y, 0.03, options=["--keep-float", "Transpose", "--keep-float", "Relu"])

    for kind, operands in (("MatMul", []), ("Gemm", [np.zeros(16)])):
        case = Case(f"matmul-nbits.{kind.lower()}", random.normal(0, 1, [8, 64]))
        w = case.weights(random.integers(-127, 128, [64, 16]), np.full(16, 1 / 128), axis=1)
        y = case.op(kind, "x", w, *[case.constant(values) for values in operands])
        case.result(folder, case.op("Mul", y, case.constant(0.125)), 0.001)

    for dtype in (np.uint8, np.int8):
        case = Case(f"double-qdq.{dtype.__name__}", random.normal(0, 1, [300, 4]), dtype=dtype)
        case.result(folder, case.quantized("x", 0.02), 0.001, options=["--numerics-limit", "exact"])

    case = Case("average-pool-ceil", image)
    y = case.op("AveragePool", case.quantized("x", 0.02), kernel_shape=[3, 3], strides=[2, 2],
                pads=[1] * 4, ceil_mode=1, count_include_pad=1)
    case.result(folder, y, 0.02)

    # Scales that are powers of two, so that floats hold the mean exactly.
    case = Case("average-pool-odd-zero", image)
    y = case.op("AveragePool", case.quantized("x", 1 / 64), kernel_shape=[2, 2])
    case.result(folder, case.quantized(y, 1 / 64), 1 / 256, options=["--numerics-limit", "exact"])

    # The runtime believes that the pool gives 4 x 4, so that 9 columns do not fit the Gemm.
    for kind in ("AveragePool", "MaxPool"):
        case = Case(f"pool-ceil-shape.{kind.lower()}", random.normal(0, 1.2, [2, 1, 5, 5]))
        pool = case.op(kind, case.quantized("x", 0.02), kernel_shape=[2, 2], strides=[2, 2],
                       pads=[1] * 4, ceil_mode=1)
        weights = case.constant(random.normal(0, 0.5, [9, 3]))
        case.result(folder, case.op("Gemm", case.op("Flatten", pool), weights), 0.05)

    case = Case("average-pool-dilated", image, opset=19)
    y = case.op("AveragePool", case.quantized("x", 0.02), kernel_shape=[2, 2], dilations=[2, 2])
    case.result(folder, y, 0.02)

    for kind in ("ReduceMax", "ReduceMin"):
        for dtype in (np.uint8, np.int8):
            case = Case(f"reduce-opset.{kind.lower()}.{dtype.__name__}", image, 11, dtype)
            case.result(folder, case.op(kind, case.quantized("x", 0.02), axes=[2, 3]), 0.02)

    case = Case("depth-to-space-opset", random.normal(0, 1.2, [2, 4, 3, 3]), 10)
    case.result(folder, case.op("DepthToSpace", case.quantized("x", 0.02), blocksize=2), 0.02)

    for kind in ("Mul", "Sigmoid"):
        case = Case(f"per-channel-activation.{kind.lower()}", image)
        x = case.quantized("x", np.float32([0.02, 0.01]), axis=1)
        operands = [x] if kind == "Sigmoid" else [x, x]
        case.result(folder, case.op(kind, *operands), 0.03)

    # The variance as E[x^2] - E[x]^2, then 1 / Sqrt: 512 values that span a few LSBs.
    for kind, opset in (("ReduceMean", 13), ("ReduceSum", 13), ("ReduceMean", 18)):
        case = Case(f"difference-of-sums.{kind.lower()}.{opset}",
                    random.normal(0.8, 0.003, [4, 512, 8]), opset)
        x = case.quantized("x", 0.004, zero=3)

        def mean(values):
            if kind == "ReduceSum" or opset >= 18:
                total = case.op(kind, values, case.constant([1], np.int64), keepdims=1)
            else:
                total = case.op(kind, values, axes=[1], keepdims=1)
            return case.op("Mul", total, case.constant(1 / 512)) if kind == "ReduceSum" else total

        of_squares, of_values = mean(case.op("Mul", x, x)), mean(x)
        variance = case.op("Sub", of_squares, case.op("Mul", of_values, of_values))
        spread = case.op("Sqrt", case.op("Add", case.op("Max", variance, case.constant(0)),
                                         case.constant(1e-6)))
        case.result(folder, case.op("Reciprocal", spread), 1.5, zero=0)

    nan = random.normal(0, 1, [4, 6])
    nan[1:3, 2] = np.nan
    Case("nan-operand", nan).result(folder, "x", 0.02)
    for name, kind, scale in (("nan-root.sqrt", "Sqrt", 0.01), ("nan-root.log", "Log", 0.03),
                              ("nan-inverse", "Acos", 0.02)):
        case = Case(name, random.normal(0, 1, [4, 6]))
        case.result(folder, case.op(kind, case.quantized("x", 0.02)), scale, zero=90)
    case = Case("nan-quotient", random.normal(0, 0.02, [4, 60]))
    x = case.quantized("x", 0.02)
    case.result(folder, case.op("Div", x, x), 0.02)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_all(pathlib.Path(sys.argv[1]))
