// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/wide_values.h"

#include "core/base/glob.h"
#include "core/passes/quantize/unknown_names.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::NodeId;
using ir::ValueId;

class Widener {
 public:
  Widener(const Graph& graph, const QuantizePlan& plan, TypeGroups& groups, Context& context)
      : graph_(graph), plan_(plan), groups_(groups), context_(context) {}

  void Run() {
    const std::vector<std::string>& names = context_.settings().options.int16;
    if (names.empty()) return;
    WarnOfUnknown(names, "int16", graph_, context_);
    for (const std::string& name : names) Widen(name);
    for (const NodeId id : graph_.nodes()) {
      std::vector<std::string> wide;
      for (const ValueId result : graph_.node(id).results) {
        if (IsQuantized(result) && groups_.IsWide(result)) wide.push_back(graph_.name(result));
      }
      if (!wide.empty()) context_.Applied(kInt16, graph_.node(id).name, std::move(wide));
    }
  }

 private:
  // Whether integers of the value will be computed.
  bool IsQuantized(ValueId value) const {
    if (!value || graph_.IsConstant(value) || graph_.type(value).dtype != ir::DType::kF32) {
      return false;
    }
    const NodeId producer = graph_.value(value).producer;
    if (producer && plan_.IsInteger(producer) && !plan_.HasFloatResult(producer)) return true;
    return HasIntegerConsumer(graph_, plan_, value);
  }

  void Widen(const std::string& name) {
    std::vector<ValueId> named;
    for (const ValueId input : graph_.inputs()) {
      if (MatchesGlob(name, graph_.name(input))) named.push_back(input);
    }
    for (const NodeId id : graph_.nodes()) {
      const ir::Node& node = graph_.node(id);
      if (!IsNamedBy({name}, graph_, node)) continue;
      named.insert(named.end(), node.results.begin(), node.results.end());
    }
    bool known = !named.empty(), effective = false, fixed = false;
    for (const ValueId value : named) {
      if (!IsQuantized(value)) continue;
      if (groups_.FixedOf(value) != nullptr) {
        fixed = true;
        continue;
      }
      groups_.Widen(value);
      effective = true;
    }
    if (effective || (!known && !IsKnown(name, graph_))) return;
    context_.Warn("no_effect",
                  fmt::format("--int16 '{}' has no effect: {}", name,
                              fixed   ? "the target fixes the type of these results"
                              : known ? "what it names is not quantized"
                                      : "no operator of the prepared graph has that name"));
  }

  const Graph& graph_;
  const QuantizePlan& plan_;
  TypeGroups& groups_;
  Context& context_;
};

}  // namespace

void ChooseWideValues(const Graph& graph, const QuantizePlan& plan, TypeGroups& groups,
                      Context& context) {
  Widener(graph, plan, groups, context).Run();
}

}  // namespace octavo::passes
