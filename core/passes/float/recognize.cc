// SPDX-License-Identifier: Apache-2.0
// Recognizes large ops that a model decomposes into small ones, because each small op would round
// separately.  Matching starts at the last node of a pattern and follows producers; nodes that only
// the match used are erased.
#include <algorithm>

#include "core/passes/passes.h"
#include "core/patterns/patterns.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::NodeId;
using patterns::Pattern;

constexpr Rule kFuseGelu = {
    .id = "recognize/fuse-gelu",
    .pattern = "x * 0.5 * (1 + Erf(x / sqrt(2)))",
    .replacement = "Gelu(x)",
    .effect = Effect::kRealExact,
    .condition = "factors in any order",
};
constexpr Rule kFuseGeluTanh = {
    .id = "recognize/fuse-gelu-tanh",
    .pattern = "x * 0.5 * (1 + Tanh(0.79788 * (x + 0.044715 * x^3)))",
    .replacement = "Gelu{approximate=tanh}(x)",
    .effect = Effect::kRealExact,
    .condition = "factors in any order",
};
constexpr Rule kFuseLayerNorm = {
    .id = "recognize/fuse-layer-norm",
    .pattern = "(x - Mean(x)) / Sqrt(Mean((x - Mean(x))^2) + e) * g + b",
    .replacement = "LayerNormalization(x, g, b)",
    .effect = Effect::kRealExact,
    .condition = "the means are over trailing axes; g and b are constants of their shape",
};
constexpr Rule kFuseTwoMomentNorm = {
    .id = "recognize/fuse-two-moment-norm",
    .pattern = "(x - Mean(x)) / Sqrt(Mean(x^2) - Mean(x)^2 + e) * g + b",
    .replacement = "LayerNormalization(x, g, b)",
    .effect = Effect::kRealExact,
    .condition =
        "g and b are constants that vary along the axes of the means; a mean may be a sum times a "
        "constant, the variance may be bounded by 0; axes that are not trailing are moved there "
        "and back by Transposes",
};
constexpr Rule kFuseRmsNorm = {
    .id = "recognize/fuse-rms-norm",
    .pattern = "x / Sqrt(Mean(x^2) + e) * g",
    .replacement = "RMSNormalization(x, g)",
    .effect = Effect::kRealExact,
    .condition =
        "the mean is over trailing axes; g is a constant of their shape; x is not itself a "
        "deviation from a mean",
};
constexpr Rule kFuseHardSwish = {
    .id = "recognize/fuse-hard-swish",
    .pattern = "x * Clip(x + 3, 0, 6) / 6",
    .replacement = "HardSwish(x)",
    .effect = Effect::kRealExact,
    .condition = "or the pattern x * HardSigmoid{1/6, 1/2}(x)",
};
constexpr Rule kFuseHardSigmoid = {
    .id = "recognize/fuse-hard-sigmoid",
    .pattern = "Clip(k * x + m, 0, n) / n",
    .replacement = "HardSigmoid{k/n, m/n}(x)",
    .effect = Effect::kRealExact,
    .condition = "k, m and n are scalar constants; not the plain clamp k = 1, m = 0, n = 1",
};
constexpr Rule kFuseSwish = {
    .id = "recognize/fuse-swish",
    .pattern = "x * Sigmoid(a * x)",
    .replacement = "Swish{alpha=a}(x)",
    .effect = Effect::kRealExact,
    .condition = "a is a scalar constant; factors in any order",
};
constexpr Rule kFuseL2Norm = {
    .id = "recognize/fuse-l2-norm",
    .pattern = "x / Sqrt(Sum(x^2))",
    .replacement = "LpNormalization{p=2}(x)",
    .effect = Effect::kRealExact,
    .condition =
        "along one axis, kept or restored; a lower bound of the norm or a constant added to it, "
        "before or after the root, becomes the op's epsilon; a row of zeros stays 0 instead of NaN",
};
constexpr Rule kFuseSoftmax = {
    .id = "recognize/fuse-softmax",
    .pattern = "Exp(x - Max(x)) / Sum(Exp(x - Max(x)))",
    .replacement = "Softmax(x)",
    .effect = Effect::kRealExact,
    .condition = "Max and Sum along one axis, kept or restored; without the Max as well",
};
constexpr Rule kRules[] = {kFuseGelu,    kFuseGeluTanh,  kFuseLayerNorm,   kFuseTwoMomentNorm,
                           kFuseRmsNorm, kFuseHardSwish, kFuseHardSigmoid, kFuseSwish,
                           kFuseL2Norm,  kFuseSoftmax};

const Rule& RuleOf(const Pattern& pattern) {
  return *std::ranges::find(kRules, pattern.rule, &Rule::id);
}

// The patterns that the op table and the job's limit allow.
std::vector<const Pattern*> PatternsFor(const Context& context) {
  std::vector<const Pattern*> allowed;
  for (const Pattern& pattern : patterns::AllPatterns()) {
    if (context.Allows(RuleOf(pattern).effect)) allowed.push_back(&pattern);
  }
  return allowed;
}

void Recognize(Graph& graph, NodeId id, const std::vector<const Pattern*>& allowed,
               Context& context) {
  for (const Pattern* pattern : allowed) {
    auto form = pattern->match(graph, id);
    if (!form) continue;
    context.Applied(RuleOf(*pattern), graph.node(id).name, {graph.name(graph.node(id).result())});
    patterns::Apply(graph, id, *pattern, *std::move(form));
    return;
  }
}

Status Run(Graph& graph, Context& context) {
  const std::vector<const Pattern*> allowed = PatternsFor(context);
  for (const NodeId id : graph.nodes()) Recognize(graph, id, allowed, context);
  graph.EraseDead();
  return {};
}

}  // namespace

const Pass kRecognizePass = {
    .name = "recognize",
    .phase = Phase::kPrepare,
    .postcondition =
        "each Gelu, LayerNormalization, RMSNormalization, LpNormalization, HardSigmoid, HardSwish, "
        "Swish and Softmax is one node",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
