// SPDX-License-Identifier: Apache-2.0
// The rules of absorb-rescales.  place-rescales also applies kAbsorbRules after each move. t1, t2,
// .. are quantized types; range(t) is the real interval that t can represent, or the value's proven
// range if that is narrower.  A type is an implicit Relu if its range ends at zero
// (analysis/implicit_relu.h).
#pragma once

#include "core/passes/common_subexpressions.h"

namespace octavo::passes::absorb_rules {

inline constexpr Rule kRemoveIdentity = {
    .id = "absorb-rescales/remove-identity",
    .pattern = "Rescale(x) : t(x)",
    .replacement = "x",
    .effect = Effect::kExact,
    .condition = "same quantization parameters",
};
inline constexpr Rule kDequantizeQuantizeToRescale = {
    .id = "absorb-rescales/dequantize-quantize-to-rescale",
    .pattern = "Quantize(Dequantize(x)) : t",
    .replacement = "Rescale(x) : t, or x",
    .effect = Effect::kExact,
    .condition =
        "exact where the numerics mode defines Rescale as this pair (onnx, glow-interpreter), else "
        "new-arithmetic",
};
inline constexpr Rule kCancel = {
    .id = "absorb-rescales/cancel",
    .pattern = "Rescale(Rescale(x) : t2) : t(x)",
    .replacement = "x",
    .effect = Effect::kExact,
    .condition =
        "every possible value of x returns to itself, by enumeration (8 and 16 bits, any scales, "
        "the numerics mode's own Rescale)",
};
inline constexpr Rule kMerge = {
    .id = "absorb-rescales/merge",
    .pattern = "Rescale(Rescale(x : t1) : t2) : t3",
    .replacement = "Rescale(x) : t3",
    .effect = Effect::kFewerRoundings,
    .condition =
        "range(t1) and range(t3) intersect within range(t2), else fewer-clamps; t2 is an implicit "
        "Relu only where t1 or t3 is; exact where both sides are equal, by enumeration",
};
inline constexpr Rule kFoldIntoQuantize = {
    .id = "absorb-rescales/fold-into-quantize",
    .pattern = "Rescale(Quantize(x) : t1) : t",
    .replacement = "Quantize(x) : t",
    .effect = Effect::kFewerRoundings,
    .condition =
        "the Quantize has one consumer, or x is constant; range(t) within range(t1), or x is a "
        "constant whose elements t1 does not clamp, else fewer-clamps; t1 is an implicit Relu only "
        "where t is, or where x already ends at zero",
};
inline constexpr Rule kFoldIntoDequantize = {
    .id = "absorb-rescales/fold-into-dequantize",
    .pattern = "Dequantize(Rescale(x : t1) : t2)",
    .replacement = "Dequantize(x)",
    .effect = Effect::kFewerRoundings,
    .condition =
        "range(t1) within range(t2), else fewer-clamps; t2 is an implicit Relu only where t1 is",
};
inline constexpr Rule kFoldIntoProducer = {
    .id = "absorb-rescales/fold-into-producer",
    .pattern = "Rescale(Op(..) : t1) : t3",
    .replacement = "Op(..) : t3",
    .effect = Effect::kFewerRoundings,
    .condition =
        "Op's result parameters are free; its result has one consumer; range(t3) within range(t1), "
        "else fewer-clamps; t1 is an implicit Relu only where t3 or Op is; exact where Op selects "
        "among values of t1 (Max, Min, Relu; Clip with such bounds)",
};
inline constexpr Rule kFoldIntoConsumer = {
    .id = "absorb-rescales/fold-into-consumer",
    .pattern = "Op(Rescale(x : t1) : t2, ..)",
    .replacement = "Op(x, ..)",
    .effect = Effect::kFewerRoundings,
    .condition =
        "Op scales that operand itself (a weight only where it is computed and Op has no bias); "
        "range(t1) within range(t2), else fewer-clamps; t2 is an implicit Relu only where t1 or Op "
        "is; a bias is re-expressed at the new scales",
};
inline constexpr Rule kFoldIntoClamp = {
    .id = "absorb-rescales/fold-into-clamp",
    .pattern = "Clamp(Rescale(x) : t, ..) : t",
    .replacement = "Clamp(x, ..) : t",
    .effect = Effect::kExact,
    .condition =
        "Clamp is Relu, Clip, Max or Min, and its result has the Rescale's own type; not Clip in "
        "glow-cpu",
};
inline constexpr Rule kFoldIntoArgMax = {
    .id = "absorb-rescales/fold-into-arg-max",
    .pattern = "Op(Rescale(x), ..)",
    .replacement = "Op(x, ..)",
    .effect = Effect::kExact,
    .condition =
        "Op depends on the order of its operands (ArgMax, ArgMin, comparisons); the order of all "
        "possible values stays, by enumeration, else new-parameters",
};

inline constexpr Rule kFoldConstant = {
    .id = "absorb-rescales/fold-constant",
    .pattern = "Rescale(c) : t",
    .replacement = "Quantize(real values of c) : t",
    .effect = Effect::kExact,
    .condition =
        "c is a rounded constant, or a pending one that the limit forbids to give t: its own "
        "rounding is then evaluated; the mode defines Rescale as Quantize(Dequantize) (onnx, "
        "glow-interpreter)",
};

inline constexpr Rule kIdentityToRescale = {
    .id = "absorb-rescales/identity-to-rescale",
    .pattern = "Op(x) : t",
    .replacement = "Rescale(x) : t",
    .effect = Effect::kExact,
    .condition =
        "Op returns every real value of x unchanged, and only the quantization parameters differ: "
        "a pool with a 1x1 window, Max with a constant at or below range(x), a clamp outside of "
        "it; except in onnx and glow-interpreter only Relu",
};

inline constexpr Rule kSinkBelowTopK = {
    .id = "absorb-rescales/sink-below-top-k",
    .pattern = "TopK(Rescale(x))",
    .replacement = "Rescale(TopK(x))",
    .effect = Effect::kExact,
    .condition =
        "the Rescale keeps distinct possible values distinct, by enumeration, so the indices stay; "
        "it has one consumer",
};

inline constexpr Rule kAbsorbRules[] = {kRemoveIdentity,   kDequantizeQuantizeToRescale,
                                        kCancel,           kMerge,
                                        kFoldIntoQuantize, kFoldIntoDequantize,
                                        kFoldConstant,     kIdentityToRescale,
                                        kFoldIntoProducer, kFoldIntoConsumer,
                                        kFoldIntoClamp,    kFoldIntoArgMax,
                                        kSinkBelowTopK};

inline constexpr Rule kCse = CseRule("absorb-rescales/cse");
inline constexpr Rule kCancelQuantizeDequantize = {
    .id = "absorb-rescales/cancel-quantize-dequantize",
    .pattern = "Dequantize(Quantize(x))",
    .replacement = "x",
    .effect = Effect::kFewerClamps,
    .condition =
        "--leave-integers and a limit other than exact; an output keeps its name; the type between "
        "is an implicit Relu only where x already ends at zero",
};

}  // namespace octavo::passes::absorb_rules
