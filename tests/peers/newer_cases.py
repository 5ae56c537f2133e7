#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes cases in the form of ONNX's test data for operators and options that those data lack:
what came with opset 18 to 24, and attributes in combination.  answer_cases.mjs gives the answers.

    newer_cases.py DIR        DIR/node/NAME/model.onnx and test_data_set_0/input_K.npy
"""

import pathlib
import sys

import numpy as np
import onnx
from onnx import helper, numpy_helper

from submodels import ELEMENT_TYPES

RANDOM = np.random.RandomState(1)
NOTHING = None


def floats(*shape):
    return RANDOM.randn(*shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def scales(*values):
    return np.array(values, np.float32)


def element_type(array):
    return next(number for dtype, number in ELEMENT_TYPES.items() if dtype == array.dtype)


class FourBit:
    """Integers of 4 bits, which numpy has no type for."""

    def __init__(self, values, signed):
        self.values, self.signed = np.asarray(values), signed

    def tensor(self, name):
        flat = self.values.reshape(-1) & 15
        flat = np.append(flat, np.zeros(len(flat) % 2, flat.dtype)).astype(np.uint8)
        return onnx.TensorProto(name=name, data_type=22 if self.signed else 21,
                                dims=self.values.shape,
                                raw_data=(flat[0::2] | flat[1::2] << 4).tobytes())


def constant(value, name):
    if isinstance(value, FourBit):
        return value.tensor(name)
    return numpy_helper.from_array(value, name)


class Writer:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder) / "node"

    def case(self, name, op, inputs, opset=18, constants=(), outputs=1, domain="", **attributes):
        """One operator; inputs whose place is in `constants` become initializers."""
        names = ["" if array is NOTHING else f"input_{place}"
                 for place, array in enumerate(inputs)]
        fed = [place for place, array in enumerate(inputs)
               if array is not NOTHING and place not in constants]
        node = helper.make_node(op, names, [f"y{k}" for k in range(outputs)],
                                domain=domain, **attributes)
        graph = helper.make_graph(
            [node], name,
            [helper.make_tensor_value_info(names[place], element_type(inputs[place]),
                                           inputs[place].shape) for place in fed],
            [onnx.ValueInfoProto(name=output) for output in node.output],
            [constant(inputs[place], names[place]) for place in constants])
        opsets = [helper.make_opsetid("", opset)]
        if domain:
            opsets.append(helper.make_opsetid(domain, 1))
        model = helper.make_model(graph, opset_imports=opsets)
        model.ir_version = 8
        samples = self.folder / name / "test_data_set_0"
        samples.mkdir(parents=True, exist_ok=True)
        (self.folder / name / "model.onnx").write_bytes(model.SerializeToString())
        for k, place in enumerate(fed):
            np.save(samples / f"input_{k}.npy", inputs[place])


def norms_and_pools(write):
    write("lp_pool", "LpPool", [floats(1, 2, 7, 7)], kernel_shape=[3, 3], strides=[2, 2],
          pads=[1, 1, 1, 1])
    write("lp_pool_of_3", "LpPool", [floats(1, 2, 7)], kernel_shape=[3], p=3)
    write("global_lp_pool", "GlobalLpPool", [floats(2, 2, 5, 5)])
    for p in (1, 2):
        write(f"lp_normalization_{p}", "LpNormalization", [floats(3, 4, 5)], axis=1, p=p)
    write("rms_normalization", "RMSNormalization", [floats(3, 4, 5), floats(5)], opset=23)
    write("rms_normalization_of_two_axes", "RMSNormalization", [floats(3, 4, 5), floats(4, 5)],
          opset=23, axis=1, epsilon=0.1)
    write("group_normalization", "GroupNormalization", [floats(2, 4, 3, 3), floats(4), floats(4)],
          opset=21, num_groups=2)
    write("mean_variance", "MeanVarianceNormalization", [floats(2, 3, 4, 4)], opset=13)
    write("average_pool_ceil", "AveragePool", [floats(1, 1, 7, 7)], opset=19, kernel_shape=[3, 3],
          strides=[2, 2], ceil_mode=1, pads=[1, 1, 1, 1], count_include_pad=1)
    write("average_pool_dilated", "AveragePool", [floats(1, 1, 9, 9)], opset=19,
          kernel_shape=[3, 3], dilations=[2, 2])
    write("max_pool_dilated", "MaxPool", [floats(1, 1, 9, 9)], opset=12, outputs=2,
          kernel_shape=[2, 3], dilations=[2, 2], pads=[1, 1, 0, 2], ceil_mode=1, strides=[2, 3])


def resizes(write):
    image, smaller = floats(1, 1, 8, 8), scales(1, 1, .6, .6)
    for mode in ("linear", "cubic"):
        write(f"antialias_{mode}", "Resize", [image, NOTHING, smaller], constants=(2,), mode=mode,
              antialias=1)
    write("antialias_inside", "Resize", [image, NOTHING, smaller], constants=(2,), mode="cubic",
          antialias=1, exclude_outside=1, cubic_coeff_a=-0.5)
    write("antialias_sizes", "Resize", [floats(1, 1, 9, 7), NOTHING, NOTHING, ints(1, 1, 4, 3)],
          constants=(3,), mode="linear", antialias=1)
    write("resize_axes", "Resize", [image, NOTHING, scales(.6, 1.7)], constants=(2,),
          mode="linear", axes=[2, 3])
    for policy in ("not_larger", "not_smaller"):
        write(f"resize_{policy}", "Resize", [floats(1, 1, 4, 6), NOTHING, NOTHING, ints(7, 8)],
              constants=(3,), mode="linear", axes=[2, 3], keep_aspect_ratio_policy=policy)
    for mode in ("linear", "cubic"):
        write(f"resize_crop_{mode}", "Resize",
              [floats(1, 1, 4, 4), scales(0, 0, .1, .2, 1, 1, .9, .8), NOTHING, ints(1, 1, 5, 5)],
              constants=(1, 3), mode=mode, coordinate_transformation_mode="tf_crop_and_resize")
    write("resize_symmetric", "Resize", [floats(1, 1, 5, 5), NOTHING, scales(1, 1, 1.3, .7)],
          opset=19, constants=(2,), mode="linear",
          coordinate_transformation_mode="half_pixel_symmetric")


def movements(write):
    write("pad_wrap", "Pad", [floats(3, 4), ints(1, 2, 2, 1)], opset=19, constants=(1,), mode="wrap")
    write("pad_edge_axes", "Pad", [floats(3, 4), ints(2, 1), NOTHING, ints(1)], constants=(1, 3),
          mode="edge")
    write("pad_reflect", "Pad", [floats(4, 4), ints(2, 3, 1, 0)], constants=(1,), mode="reflect")
    write("col2im", "Col2Im", [floats(1, 18, 9), ints(5, 5), ints(3, 3)], constants=(1, 2),
          strides=[2, 2], pads=[1, 1, 1, 1])
    write("crop_or_pad", "CenterCropPad", [floats(10, 7, 3), ints(7, 10, 4)], constants=(1,))
    write("crop_axes", "CenterCropPad", [floats(10, 7, 3), ints(7, 4)], constants=(1,), axes=[0, -2])
    for reduction in ("max", "min", "add", "mul"):
        write(f"scatter_{reduction}", "ScatterElements",
              [floats(3, 3), ints(0, 1, 1, 2, 0, 0).reshape(2, 3), floats(2, 3)],
              reduction=reduction)
        write(f"scatter_nd_{reduction}", "ScatterND",
              [floats(4, 3), ints(0, 2, 0).reshape(3, 1), floats(3, 3)], reduction=reduction)
    write("unique_rows", "Unique", [RANDOM.randint(0, 4, (4, 3)).astype(np.float32)], opset=11,
          outputs=4, axis=0, sorted=0)


def grids(write):
    for mode in ("nearest", "bilinear", "bicubic"):
        for padding in ("zeros", "border", "reflection"):
            for align in (0, 1):
                grid = (RANDOM.rand(1, 3, 4, 2) * 3 - 1.5).astype(np.float32)
                write(f"grid_{mode}_{padding}_{align}", "GridSample", [floats(1, 1, 4, 5), grid],
                      opset=16, mode=mode, padding_mode=padding, align_corners=align)
    grid = (RANDOM.rand(1, 2, 2, 2, 3) * 2.4 - 1.2).astype(np.float32)
    write("grid_of_3_axes", "GridSample", [floats(1, 2, 3, 4, 5), grid], opset=20, mode="linear")
    regions = np.array([[0, 0, 5, 5], [1, 2, 7, 6]], np.float32)
    for mode, ratio in (("max", 2), ("avg", 0)):
        write(f"roi_{mode}", "RoiAlign", [floats(1, 2, 8, 8), regions, ints(0, 0)], opset=16,
              mode=mode, output_height=3, output_width=2, sampling_ratio=ratio)


def sequences(write):
    lengths = np.array([4, 2], np.int32)
    write("lstm_both_ways", "LSTM",
          [floats(4, 2, 3), floats(2, 20, 3), floats(2, 20, 5), floats(2, 40), lengths,
           floats(2, 2, 5), floats(2, 2, 5), floats(2, 15)],
          opset=14, outputs=3, hidden_size=5, direction="bidirectional", clip=0.7)
    write("gru_both_ways", "GRU",
          [floats(4, 2, 3), floats(2, 15, 3), floats(2, 15, 5), floats(2, 30), lengths,
           floats(2, 2, 5)],
          opset=14, outputs=2, hidden_size=5, direction="bidirectional", linear_before_reset=1)
    write("gru_reverse", "GRU", [floats(4, 2, 3), floats(1, 15, 3), floats(1, 15, 5), floats(1, 30)],
          opset=14, outputs=2, hidden_size=5, direction="reverse")
    write("rnn_leaky", "RNN", [floats(4, 2, 3), floats(1, 5, 3), floats(1, 5, 5), floats(1, 10)],
          opset=14, outputs=2, hidden_size=5, activations=["LeakyRelu"], activation_alpha=[0.3])


def arithmetic(write):
    for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        a, b = (RANDOM.randint(-99, 99, shape).astype(np.int32) for shape in ((3, 4), (4,)))
        write(op.lower(), op, [a, b])
    write("bitwisenot", "BitwiseNot", [RANDOM.randint(0, 255, (9,)).astype(np.uint8)])
    write("mish", "Mish", [floats(9)])
    for approximate in ("none", "tanh"):
        write(f"gelu_{approximate}", "Gelu", [floats(9)], opset=20, approximate=approximate)
    for alpha in (1.0, 1.702):
        write(f"swish_{alpha}", "Swish", [floats(9)], opset=24, alpha=alpha)
    write("einsum_of_3", "Einsum", [floats(2, 3), floats(3, 4), floats(4, 2)], opset=12,
          equation="ij,jk,kl->il")
    write("einsum_dots", "Einsum", [floats(2, 3, 4), floats(2, 4, 5)], opset=12,
          equation="b...j,bjk->b...k")
    write("matmul_i32", "MatMul", [RANDOM.randint(-9, 9, shape).astype(np.int32)
                                   for shape in ((2, 3), (3, 2))], opset=13)
    write("gemm_f64", "Gemm", [RANDOM.randn(2, 3), RANDOM.randn(3, 2), RANDOM.randn(2)], opset=13,
          alpha=0.5)
    write("log_sum_exp", "ReduceLogSumExp", [floats(3, 4), ints(1)], constants=(1,), keepdims=0)


def integers(*shape, dtype=np.uint8):
    info = np.iinfo(dtype)
    return RANDOM.randint(info.min, info.max + 1, shape).astype(dtype)


def qlinear(write):
    """ONNX Runtime's own integer operators.  Scales are powers of two, so that no rounding of a
    quotient of scales stands between the two answers, and zero points are even: its kernels add
    them before they round halves to even, QuantizeLinear adds them after."""
    for dtype in (np.uint8, np.int8):
        x = [np.float32(0.125), dtype(4)]
        y = [np.float32(0.25), dtype(250 if dtype is np.uint8 else -6)]

        def case(op, inputs, fed=(0,), name="", **attributes):
            places = [place for place in range(len(inputs)) if place not in fed]
            write(f"{op}_{name or 'plain'}_{np.dtype(dtype).name}", op, inputs, opset=13,
                  domain="com.microsoft", constants=places, **attributes)

        def data(*shape):
            return integers(*shape, dtype=dtype)

        case("QLinearAdd", [data(2, 3, 4), *x, data(3, 4), *y, *y], fed=(0, 3))
        case("QLinearMul", [data(2, 3, 4), *x, data(4), *x, *y], fed=(0, 3))
        case("QLinearConcat", [*y, data(1, 2, 5), *x, data(1, 3, 5), *y], fed=(2, 5), axis=1)
        case("QLinearLeakyRelu", [data(3, 7), *x, *y], alpha=0.25)
        case("QLinearSigmoid", [data(3, 7), *x, np.float32(1 / 256), dtype(0)])
        case("QLinearAveragePool", [data(1, 3, 8, 8), *x, *x], kernel_shape=[2, 2], strides=[2, 2])
        case("QLinearGlobalAveragePool", [data(2, 3, 4, 4), *x, *x], channels_last=0)
        weights = integers(5, 4, dtype=np.int8)
        case("QGemm", [data(3, 5), *x, weights, np.float32(0.03125), np.int8(0),
                       RANDOM.randint(-2000, 2000, 4).astype(np.int32), np.float32(4), y[1]])
        case("QGemm", [data(3, 5), *x, weights, np.float32(0.03125), np.int8(0)], name="float")
    write("QLinearWhere", "QLinearWhere",
          [RANDOM.rand(4, 5) < 0.5, integers(4, 5), np.float32(0.5), np.uint8(7), integers(4, 5),
           np.float32(0.25), np.uint8(0), np.float32(0.5), np.uint8(7)], opset=13,
          domain="com.microsoft", constants=(2, 3, 5, 6, 7, 8))


def blocks(write):
    """DequantizeLinear of opset 21: 4 bits, and blocks along either axis."""
    nibbles = RANDOM.randint(-8, 8, (6, 5))
    write("int4", "DequantizeLinear", [FourBit(nibbles, True), np.float32(0.5)], opset=21,
          constants=(0, 1))
    write("uint4_by_row", "DequantizeLinear",
          [FourBit(nibbles + 8, False), scales(*range(1, 7)), FourBit(np.arange(6), False)],
          opset=21, constants=(0, 1, 2), axis=0)
    for axis, block in ((0, 2), (0, 4), (1, 3)):
        shape = [6, 5]
        shape[axis] = -(-shape[axis] // block)
        of_blocks = np.abs(floats(*shape)) + np.float32(0.1)
        write(f"blocks_of_{block}_along_{axis}", "DequantizeLinear",
              [integers(6, 5, dtype=np.int8), of_blocks, integers(*shape, dtype=np.int8)], opset=21,
              constants=(0, 1, 2), axis=axis, block_size=block)
        write(f"int4_blocks_of_{block}_along_{axis}", "DequantizeLinear",
              [FourBit(nibbles, True), of_blocks], opset=21, constants=(0, 1), axis=axis,
              block_size=block)


def main(folder):
    write = Writer(folder).case
    for group in (norms_and_pools, resizes, movements, grids, sequences, arithmetic, qlinear,
                  blocks):
        group(write)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
