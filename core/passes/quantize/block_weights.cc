// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/block_weights.h"

#include <algorithm>
#include <cmath>

#include "core/base/mapped_pages.h"
#include "core/ir/blocks.h"
#include "core/options/option_words.h"
#include "core/passes/quantize/quantize_plan.h"
#include "core/passes/quantize/weight_type.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

// Why the weight cannot be quantized in blocks along the inputs of an output; "" if it can.
std::string WhyNoBlocks(const ir::Graph& graph, const ir::Node& node, size_t input,
                        const ir::Tensor& weight, int block) {
  if (!(Is(node, "MatMul") || Is(node, "Gemm")) || weight.rank() != 2) {
    return "only matrices of MatMul and Gemm have 4 bits";
  }
  const int64_t terms = weight.shape()[static_cast<size_t>(*TermAxis(graph, node, input))];
  if (terms == 0 || terms % block != 0) {
    return fmt::format("its {} inputs are not a multiple of the block of {}", terms, block);
  }
  const ir::Range range = RangeOf(weight);
  if (!std::isfinite(range.min) || !std::isfinite(range.max)) {
    return "they contain an infinity";
  }
  return {};
}

// In the ledger, and in the report's list of weights.
void KeepEightBits(const ir::Node& node, const ir::Tensor& weight, std::string_view why,
                   Context& context) {
  std::string reason = fmt::format("its weights have {} instead of i4: {}",
                                   ir::Name(context.settings().target.weights.dtype), why);
  context.findings().weights.push_back({.node = node.name,
                                        .op = std::string(node.op->name),
                                        .rounding = std::string(WordOf(Rounding::kNearest)),
                                        .reason = reason,
                                        .elements = weight.size()});
  context.Keep(node.name, std::move(reason));
}

}  // namespace

ir::Type BlockType(const ir::Tensor& weight, int axis, int block) {
  ir::Quant quant{.scales = {}, .zero_points = {}, .axis = axis, .block = block};
  const ir::Blocks blocks = ir::Blocks::Of(quant, weight.shape());
  quant.zero_points.assign(static_cast<size_t>(blocks.scales()), 0);
  std::vector<float>& largest = quant.scales;
  largest.assign(quant.zero_points.size(), 0.0f);
  const std::span<const float> values = weight.values<float>();
  for (int64_t i = 0; i < weight.size(); ++i) {
    const float value = values[static_cast<size_t>(i)];
    float& most = largest[static_cast<size_t>(blocks.ScaleOf(i))];
    if (std::fabs(value) > std::fabs(most)) most = value;
  }
  for (float& scale : largest) {
    scale /= -8.0f;
    if (scale == 0) scale = 1;
  }
  ReleasePages(weight.raw_bytes());
  return {ir::DType::kI4, weight.shape(), std::move(quant), {}};
}

ir::Type StoredWeightType(const ir::Graph& graph, const ir::Node& node, size_t input,
                          const ir::Tensor& weight, Context& context) {
  const Settings& settings = context.settings();
  // A table that is quantized without being named has bytes.
  if (FourBitWeights(settings.options) && IsNamedBy(settings.options.weights_only, graph, node)) {
    const std::string why = WhyNoBlocks(graph, node, input, weight, settings.options.block);
    if (why.empty()) {
      return BlockType(weight, *TermAxis(graph, node, input), settings.options.block);
    }
    KeepEightBits(node, weight, why, context);
  }
  return WeightType(weight, ScaleAxis(graph, node, input), node.op->name, settings.target);
}

}  // namespace octavo::passes
