// Large ops that a model spells out in small ones: each small op would be rounded on its own.
// Matching starts at the last node of a form and reads upwards; what only the form read is erased.
#include <algorithm>

#include "core/passes/passes.h"
#include "core/patterns/patterns.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::NodeId;
using patterns::Pattern;

constexpr Rule kGelu = {"gelu", "x * 0.5 * (1 + Erf(x / sqrt(2))) -> Gelu(x)", Effect::kRealExact,
                        "factors in any order"};
constexpr Rule kGeluTanh = {"gelu-tanh",
                            "x * 0.5 * (1 + Tanh(0.79788 * (x + 0.044715 * x^3))) -> "
                            "Gelu{approximate=tanh}(x)",
                            Effect::kRealExact, "factors in any order"};
constexpr Rule kLayerNorm = {
    "layer-norm",
    "(x - Mean(x)) / Sqrt(Mean((x - Mean(x))^2) + e) * g + b -> "
    "LayerNormalization(x, g, b)",
    Effect::kRealExact, "the mean is over trailing axes, g and b are constants of their shape"};
constexpr Rule kRmsNorm = {"rms-norm", "x / Sqrt(Mean(x^2) + e) * g -> RMSNormalization(x, g)",
                           Effect::kRealExact,
                           "the mean is over trailing axes, g is a constant of their shape; x is "
                           "no deviation from a mean"};
constexpr Rule kHardSwish = {"hard-swish", "x * Clip(x + 3, 0, 6) / 6 -> HardSwish(x)",
                             Effect::kRealExact, "or x * HardSigmoid{1/6, 1/2}(x)"};
constexpr Rule kHardSigmoid = {
    "hard-sigmoid", "Clip(k * x + m, 0, n) / n -> HardSigmoid{k/n, m/n}(x)", Effect::kRealExact,
    "k, m and n are numbers, m and n not 0 and 1 without a k"};
constexpr Rule kSwish = {"swish", "x * Sigmoid(a * x) -> Swish{alpha=a}(x)", Effect::kRealExact,
                         "a is a number; factors in any order"};
constexpr Rule kL2Norm = {
    "l2-norm", "x / Sqrt(Sum(x^2)) -> LpNormalization{p=2}(x)", Effect::kRealExact,
    "along one axis, kept or put back; the norm may have a least value or a number added, before "
    "or after the root, which the op keeps as its epsilon; a row of zeros stays 0 instead of NaN"};
constexpr Rule kSoftmax = {"softmax", "Exp(x - Max(x)) / Sum(Exp(x - Max(x))) -> Softmax(x)",
                           Effect::kRealExact,
                           "Max and Sum along one axis, kept or put back; the Max may be left out"};
constexpr Rule kRules[] = {kGelu,        kGeluTanh, kLayerNorm, kRmsNorm, kHardSwish,
                           kHardSigmoid, kSwish,    kL2Norm,    kSoftmax};

const Rule& RuleOf(const Pattern& pattern) {
  return *std::ranges::find(kRules, pattern.name, &Rule::name);
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
    .promise =
        "Gelu, LayerNormalization, RMSNormalization, LpNormalization, HardSigmoid, HardSwish, "
        "Swish "
        "and Softmax stand as one node each",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
