// Large ops that a model spells out in small ones: each small op would be rounded on its own.
// Matching starts at the last node of a form and reads upwards; what only the form read is erased.
#include "core/ops/op_table.h"
#include "core/passes/forms.h"
#include "core/passes/passes.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

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
constexpr Rule kHardSwish = {"hard-swish", "x * Clip(x + 3, 0, 6) / 6 -> HardSwish(x)",
                             Effect::kRealExact, "or x * HardSigmoid{1/6, 1/2}(x)"};
constexpr Rule kSoftmax = {"softmax", "Exp(x - Max(x)) / Sum(Exp(x - Max(x))) -> Softmax(x)",
                           Effect::kRealExact,
                           "Max and Sum along one axis, kept or put back; the Max may be left out"};
constexpr Rule kRules[] = {kGelu, kGeluTanh, kLayerNorm, kHardSwish, kSoftmax};

struct Row {
  const Rule* rule;
  std::string_view op;
  std::optional<Form> (*match)(Graph& graph, NodeId last);
};

constexpr Row kForms[] = {
    {&kGelu, "Gelu", &MatchGelu},
    {&kGeluTanh, "Gelu", &MatchGeluTanh},
    {&kLayerNorm, "LayerNormalization", &MatchLayerNorm},
    {&kHardSwish, "HardSwish", &MatchHardSwish},
    {&kSoftmax, "Softmax", &MatchSoftmax},
};

// Origins of the nodes between the form's operand and its result.
std::vector<std::string> OriginsOf(const Graph& graph, NodeId last, ValueId x) {
  std::vector<std::string> origins;
  std::vector<NodeId> open = {last};
  std::set<NodeId> seen = {last};
  while (!open.empty()) {
    const ir::Node& node = graph.node(open.back());
    open.pop_back();
    origins.insert(origins.end(), node.origin.begin(), node.origin.end());
    for (const ValueId input : node.inputs) {
      if (!input || input == x) continue;
      const NodeId producer = graph.value(input).producer;
      if (producer && seen.insert(producer).second) open.push_back(producer);
    }
  }
  return origins;
}

// The rows that the op table and the job's limit allow.
std::vector<const Row*> FormsFor(const Context& context) {
  std::vector<const Row*> forms;
  for (const Row& row : kForms) {
    if (ops::FindOp(row.op) && context.Allows(row.rule->effect)) forms.push_back(&row);
  }
  return forms;
}

bool Recognize(Graph& graph, NodeId id, const std::vector<const Row*>& forms, Context& context) {
  for (const Row* row : forms) {
    auto form = row->match(graph, id);
    if (!form) continue;
    const std::vector<std::string> origins = OriginsOf(graph, id, form->inputs[0]);
    context.Applied(*row->rule, graph.node(id).name, {graph.name(graph.node(id).result())});
    graph.AddOrigin(id, origins);
    graph.Redefine(id, ops::FindOp(row->op), std::move(form->inputs), std::move(form->attributes));
    return true;
  }
  return false;
}

Status Run(Graph& graph, Context& context) {
  const std::vector<const Row*> forms = FormsFor(context);
  for (const NodeId id : graph.nodes()) Recognize(graph, id, forms, context);
  graph.EraseDead();
  return {};
}

}  // namespace

const Pass kRecognizePass = {
    .name = "recognize",
    .promise = "Gelu, LayerNormalization, HardSwish and Softmax stand as one node each",
    .rules = kRules,
    .run = &Run,
};

}  // namespace octavo::passes
