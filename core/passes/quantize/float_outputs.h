// SPDX-License-Identifier: Apache-2.0
// Graph outputs that an integer op computes are not rounded to integers.  A product (Conv, Gemm,
// MatMul) dequantizes its accumulator: float(sum + bias) * (s_x * s_w[c]).  Any other op computes
// in float on dequantized operands.
//
// Data movement, clamps and sums with a constant between that op and the output also run in float.
// An output with an integer consumer, directly or behind such ops, keeps the type that the consumer
// reads, and is that rounded value: one value then has one meaning, and its product stays one
// integer op in runtimes that fuse by pattern.
#pragma once

#include <string>

#include "core/passes/quantize/quantize_plan.h"

namespace octavo::passes {

inline constexpr Rule kFloatOutput = {
    .id = "quantize/float-output",
    .pattern = "output Dequantize(Op(x, w) : t)",
    .replacement = "output Op(x, w) : f32",
    .effect = Effect::kFewerRoundings,
    .condition =
        "neither --no-float-outputs nor --integer-io; the target has float ops and the numerics "
        "mode defines Op without a rounded result (onnx); no integer op reads the result; also "
        "through data movement, clamps and sums with a constant before the output. Where Op is no "
        "product, it becomes a float op on dequantized operands",
};

// Why no product of the job may dequantize its sums; empty if they may.
std::string WhyRoundedProducts(const Context& context);
// Why no output of the job's graph may be float so; empty if they may.
std::string WhyIntegerOutputs(const Context& context);
// Whether the node is a product of data and weights.
bool IsProduct(const ir::Node& node);

// Makes the nodes float, or their results, that the rule applies to, and records each.
void ChooseFloatOutputs(const ir::Graph& graph, Context& context, QuantizePlan& plan);

}  // namespace octavo::passes
