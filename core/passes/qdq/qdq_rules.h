// SPDX-License-Identifier: Apache-2.0
// The rules of the pass fold-qdq, in order of application.
//
// A model in QDQ form computes in float between DequantizeLinear and QuantizeLinear; the pass turns
// these computations into ops on quantized operands.  The job's limit on numeric effects does not
// apply: a model in QDQ form requests integer arithmetic.
#pragma once

#include "core/passes/ledger.h"

namespace octavo::passes {

inline constexpr Rule kSinkDequantize = {
    .id = "fold-qdq/sink-dequantize",
    .pattern = "Transpose(Dequantize(w))",
    .replacement = "Dequantize(Transpose(w))",
    .effect = Effect::kExact,
    .condition =
        "any op that only moves elements, with constant parameters; w follows from constants; one "
        "set of quantization parameters describes the result",
};
inline constexpr Rule kRecognizeOp = {
    .id = "fold-qdq/recognize-op",
    .pattern = "Quantize(x * Sigmoid(x))",
    .replacement = "Quantize(Swish(x))",
    .effect = Effect::kRealExact,
    .condition =
        "any pattern of the pass recognize; x comes out of Dequantize, and every consumer of the "
        "result is a Quantize, or Octavo wrote the op out for an opset that lacks it",
};
inline constexpr Rule kAddToBias = {
    .id = "fold-qdq/add-to-bias",
    .pattern = "Add(Conv(x, w), b)",
    .replacement = "Conv(x, w, b)",
    .effect = Effect::kRealExact,
    .condition =
        "Conv, ConvTranspose, Gemm, or MatMul of matrices, which becomes Gemm; x and w come out of "
        "Dequantize; b is a constant with one element per channel; the Add is the product's only "
        "consumer",
};
inline constexpr Rule kMaxToClip = {
    .id = "fold-qdq/max-to-clip",
    .pattern = "Max(x, c)",
    .replacement = "Clip(x, c)",
    .effect = Effect::kExact,
    .condition =
        "or Min; c is a scalar constant; every consumer of the result is a Quantize, or the only "
        "one a clamp",
};
inline constexpr Rule kTypedConstant = {
    .id = "fold-qdq/typed-constant",
    .pattern = "Reinterpret(c) : t",
    .replacement = "c : t",
    .effect = Effect::kExact,
    .condition = "c is a constant, or an input whose only consumer is the Reinterpret",
};
inline constexpr Rule kDropPair = {
    .id = "fold-qdq/drop-pair",
    .pattern = "Quantize(Dequantize(x)) : t(x)",
    .replacement = "x",
    .effect = Effect::kExact,
    .condition = "same dtype and parameters; not a graph output",
};
inline constexpr Rule kPairToRescale = {
    .id = "fold-qdq/pair-to-rescale",
    .pattern = "Quantize(Dequantize(x)) : t",
    .replacement = "Rescale(x) : t",
    .effect = Effect::kNewArithmetic,
    .condition =
        "both types are per tensor; exact where the mode defines Rescale as this pair (onnx, "
        "glow-interpreter)",
};
inline constexpr Rule kSameScaleOp = {
    .id = "fold-qdq/same-scale-op",
    .pattern = "Quantize(Concat(Dequantize(x), ..)) : t",
    .replacement = "Concat(Rescale(x) : t, ..)",
    .effect = Effect::kNewArithmetic,
    .condition =
        "any op that requires equal parameters on inputs and output; with one input the Rescale "
        "follows the op where it can; types that differ are per tensor; every consumer of the "
        "result is a Quantize of one type",
};
inline constexpr Rule kQuantizeBias = {
    .id = "fold-qdq/quantize-bias",
    .pattern = "Conv(Dequantize(x), Dequantize(w), b)",
    .replacement = "Conv(x, w, Quantize(b))",
    .effect = Effect::kNewArithmetic,
    .condition =
        "Quantize rounds b to int32 at s_x * s_w, which is at most the result's scale; b fits 31 "
        "bits; of a model that Octavo wrote, only a bias that its metadata lists",
};
inline constexpr Rule kMatMulToGemm = {
    .id = "fold-qdq/matmul-to-gemm",
    .pattern = "Quantize(Add(MatMul(x, w), b))",
    .replacement = "Reshape(Gemm(Reshape(x), w, Quantize(b)))",
    .effect = Effect::kNewArithmetic,
    .condition =
        "x has more than two axes, w is a matrix, b has one element per column and meets the "
        "condition of quantize-bias; the Add is the product's only consumer",
};
inline constexpr Rule kIntegerOp = {
    .id = "fold-qdq/integer-op",
    .pattern = "Quantize(Op(Dequantize(x), ..)) : t",
    .replacement = "Op(x, ..) : t",
    .effect = Effect::kNewArithmetic,
    .condition =
        "Op is defined on quantized operands; every float operand comes out of Dequantize, a bias "
        "at s_x * s_w; every consumer of the result is a Quantize of one per-tensor type, or the "
        "only one a clamp before such a Quantize",
};

inline constexpr Rule kFloatResult = {
    .id = "fold-qdq/float-result",
    .pattern = "Op(Dequantize(x), Dequantize(w)) : f32",
    .replacement = "Op(x, w) : f32",
    .effect = Effect::kNewArithmetic,
    .condition =
        "Octavo wrote the model, and its metadata lists Op: a product that dequantizes its int32 "
        "sums (quantize/float-output); every float operand comes out of Dequantize, a bias at "
        "s_x * s_w; no Quantize reads the result",
};

}  // namespace octavo::passes
