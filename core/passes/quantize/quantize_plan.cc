// SPDX-License-Identifier: Apache-2.0
#include "core/passes/quantize/quantize_plan.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/base/glob.h"
#include "core/ir/output_channels.h"
#include "core/ops/shared/useful_range.h"
#include "core/passes/analysis/value_ranges.h"
#include "core/passes/quantize/cancellation.h"
#include "core/passes/quantize/float_comparisons.h"
#include "core/passes/quantize/float_outputs.h"
#include "core/passes/quantize/float_weights.h"
#include "core/passes/quantize/squeeze_excite.h"
#include "core/passes/quantize/type_groups.h"
#include "core/passes/quantize/weight_type.h"
#include "core/passes/quantize/wide_values.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::QuantRule;
using ir::Role;
using ir::ValueId;
using Kind = ir::QuantRule::Kind;

bool IsReal(const ir::Type& type) { return type.dtype == ir::DType::kF32 || type.quantized(); }

class Planner {
 public:
  Planner(const Graph& graph, const FloatChoice& choice, Context& context)
      : graph_(graph),
        choice_(choice),
        context_(context),
        target_(context.settings().target),
        ranges_(graph, context.settings(), context.findings()),
        groups_(graph.value_bound()),
        scheme_(profile::SchemeOf(target_)) {
    plan_.integer.assign(graph.node_bound(), false);
    plan_.weights_only.assign(graph.node_bound(), false);
    plan_.types.resize(graph.value_bound());
    before_clamp_.assign(graph.value_bound(), false);
  }

  Result<QuantizePlan> Make() {
    for (const NodeId id : graph_.nodes()) Consider(id);
    KeepCancellations(graph_, context_, ranges_, plan_);
    if (!target_.fully_quantized) KeepBlocksWhole(graph_, target_, plan_);
    ChooseFloatOutputs(graph_, context_, plan_);
    if (!target_.fully_quantized) {
      KeepComparisonsExact(graph_, context_, ranges_, plan_);
      DropLoneMovers();
    }
    ChooseFloatWeights(graph_, choice_, context_.settings(), plan_);
    for (const NodeId id : graph_.nodes()) {
      if (plan_.IsInteger(id)) JoinTypes(id);
    }
    ChooseWideValues(graph_, plan_, groups_, context_);
    OCTAVO_CHECK(ChooseTypes());
    return std::move(plan_);
  }

 private:
  const profile::Entry* EntryOf(ValueId id) const { return ranges_.Of(id); }
  const profile::Entry* EntryOrMissing(ValueId id) {
    const profile::Entry* entry = EntryOf(id);
    if (entry == nullptr) missing_.insert(graph_.name(id));
    return entry;
  }
  QuantRule RuleOf(const Node& node) const { return target_.QuantOf(graph_, node); }

  // Whether the value's range will be known: measured, computed, or propagated by a same-scale op.
  bool HasRange(ValueId id) {
    if (graph_.IsConstant(id) || EntryOf(id) != nullptr) return true;
    const Node* producer = graph_.Producer(id);
    if (producer == nullptr || !plan_.IsInteger(graph_.value(id).producer)) return false;
    const Kind kind = RuleOf(*producer).kind;
    return kind == Kind::kFixed || kind == Kind::kSameScale;
  }

  // Whether the value is a dequantized constant that the model has in blocks.
  bool IsOfBlocks(ValueId id) const {
    const Node* producer = graph_.Producer(id);
    return producer != nullptr && producer->op->domain == "octavo" &&
           graph_.type(producer->input(0)).blocked();
  }

  // "" if the node can run in integers, else the reason as a sentence.
  std::string WhyFloat(const Node& node) {
    const Settings& settings = context_.settings();
    const QuantRule rule = RuleOf(node);
    if (std::string why = choice_.WhyFloat(graph_, node); !why.empty()) return why;
    if (IsNamedBy(settings.options.weights_only, graph_, node)) {
      return "only its weights are quantized, on request";
    }
    if (rule.kind == Kind::kFloatOnly) return std::string(rule.why);
    if (rule.kind == Kind::kNotReal) return "its results are not real numbers";
    // Uses the op's own rule: even if a target lets the op keep a type, the op still computes.
    const Kind own = node.op->QuantOf(graph_, node).kind;
    if (std::string why = target_.WhyFloat(node.op->name, own); !why.empty()) return why;
    if (rule.kind == Kind::kSameScale && ReadsPlaces(node)) {
      return "its indices have a consumer, and rounding can change them";
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueId input = node.inputs[i];
      if (!input || graph_.type(input).dtype != ir::DType::kF32) continue;
      if (IsOfBlocks(input)) {
        return fmt::format("its operand '{}' is quantized in blocks", graph_.name(input));
      }
      const Role role = node.op->RoleOf(i);
      if (role != Role::kParameter && graph_.IsConstant(input)) {
        const ir::Range range = RangeOf(graph_.value(input).constant->tensor);
        if (!std::isfinite(range.min) || !std::isfinite(range.max)) {
          return fmt::format("its operand '{}' contains an infinity", graph_.name(input));
        }
      }
      if (role == Role::kBias) {
        if (!graph_.IsConstant(input)) return "its bias is not constant";
        if (!ir::HasPlainBias(graph_, node)) return "its bias is not one value per channel";
      } else if (role != Role::kParameter && !HasRange(input)) {
        missing_.insert(graph_.name(input));
        return fmt::format("the profile has no range for '{}'", graph_.name(input));
      }
    }
    if (rule.kind == Kind::kFree) {
      for (const ValueId result : node.results) {
        if (graph_.type(result).dtype == ir::DType::kF32 && !EntryOrMissing(result)) {
          return fmt::format("the profile has no range for '{}'", graph_.name(result));
        }
      }
    }
    return {};
  }

  // Whether a result that gives positions in the operand (the indices of MaxPool and TopK) has a
  // consumer.
  bool ReadsPlaces(const Node& node) const {
    return std::ranges::any_of(node.results, [&](ValueId result) {
      return !IsReal(graph_.type(result)) && graph_.CountUses(result) > 0;
    });
  }

  void Consider(NodeId id) {
    const Node& node = graph_.node(id);
    bool computes = false;  // has at least one float result
    bool quantized = false;
    for (const ValueId result : node.results) {
      computes |= graph_.type(result).dtype == ir::DType::kF32;
      quantized |= graph_.type(result).quantized();
    }
    bool reads = false;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!node.inputs[i]) continue;
      reads |= IsRealOperand(graph_, node, i);
      quantized |= graph_.type(node.inputs[i]).quantized();
    }
    if (quantized || !reads) return;  // already quantized by import, or computes only shapes
    const std::string why = WhyFloat(node);
    if (why.empty() && computes) {
      plan_.integer[id.index] = true;
    } else {
      plan_.reasons[id] = why.empty() ? "its results are not real numbers" : why;
    }
  }

  bool Moves(NodeId id) const {
    const Node& node = graph_.node(id);
    return plan_.IsInteger(id) && node.op->QuantOf(graph_, node).kind == Kind::kSameScale;
  }

  // Quantizing data movement only pays if an adjacent op computes in integers.
  void DropLoneMovers() {
    std::vector<bool> fed(graph_.node_bound()), feeds(graph_.node_bound());
    std::vector<NodeId> order;
    for (const NodeId id : graph_.nodes()) order.push_back(id);
    for (const NodeId id : order) {
      for (const ValueId input : graph_.node(id).inputs) {
        const NodeId producer = input ? graph_.value(input).producer : NodeId{};
        if (!producer || !plan_.IsInteger(producer)) continue;
        if (!Moves(producer) || fed[producer.index]) fed[id.index] = true;
      }
    }
    for (size_t k = order.size(); k-- > 0;) {
      for (const ValueId result : graph_.node(order[k]).results) {
        for (const ir::Use& use : graph_.value(result).uses) {
          if (!plan_.IsInteger(use.node)) continue;
          if (!Moves(use.node) || feeds[use.node.index]) feeds[order[k].index] = true;
        }
      }
    }
    for (const NodeId id : order) {
      if (!Moves(id) || fed[id.index] || feeds[id.index]) continue;
      plan_.integer[id.index] = false;
      plan_.reasons[id] = "it only moves values between float nodes";
    }
  }

  void JoinTypes(NodeId id) {
    const Node& node = graph_.node(id);
    const QuantRule rule = RuleOf(node);
    if (const target::FixedResult* fixed = target_.ResultOf(node.op->name)) {
      for (const ValueId result : node.results) groups_.Fix(result, *fixed);
    }
    const bool clamp_of_one = node.op->clamps && graph_.CountUses(node.inputs[0]) == 1;
    if (rule.kind != Kind::kSameScale) {
      // A clamp narrows the range; its producer can directly store the narrowed range.
      if (clamp_of_one && graph_.Producer(node.inputs[0]) && !groups_.FixedOf(node.inputs[0]) &&
          plan_.IsInteger(graph_.value(node.inputs[0]).producer)) {
        before_clamp_[node.inputs[0].index] = true;
        groups_.Join(node.inputs[0], node.result());
      }
      return;
    }
    for (const ValueId result : node.results) {
      if (graph_.type(result).dtype == ir::DType::kF32) groups_.Join(result, node.result());
    }
    // A result without its own range takes the parameters of its operands.
    const bool own =
        context_.settings().options.own_parameters && EntryOf(node.result()) != nullptr;
    if (clamp_of_one && !own) before_clamp_[node.inputs[0].index] = true;
    size_t operands = 0;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (IsData(node, i)) ++operands;
    }
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (!IsData(node, i)) continue;
      const ValueId input = node.inputs[i];
      if (graph_.IsConstant(input)) {
        payload_ranges_.push_back({node.result(), RangeOf(graph_.value(input).constant->tensor)});
      } else if (!own &&
                 (operands == 1 || (graph_.CountUses(input) == 1 && !groups_.FixedOf(input)))) {
        groups_.Join(input, node.result());
      }
    }
  }

  bool IsData(const Node& node, size_t input) const {
    return node.inputs[input] && node.op->RoleOf(input) == Role::kData &&
           graph_.type(node.inputs[input]).dtype == ir::DType::kF32;
  }

  ir::Range RangeFor(ValueId id, const profile::Entry* entry) {
    const Node* producer = graph_.Producer(id);
    if (producer && plan_.IsInteger(graph_.value(id).producer)) {
      const QuantRule rule = RuleOf(*producer);
      // The measured range is within the possible one, and often much narrower.
      if (rule.kind == Kind::kFixed && (entry == nullptr || entry->min == entry->max)) {
        return rule.range;
      }
    }
    const auto range =
        profile::Calibrate(*entry, context_.settings().options.calibration, SchemeFor(id));
    if (range.used_min_max) {
      context_.Warn("no_histogram",
                    fmt::format("'{}' has no histogram; using its min and max", graph_.name(id)));
    }
    return {range.min, range.max};
  }

  profile::Scheme SchemeFor(ValueId id) {
    return groups_.IsWide(id) ? profile::SchemeOf(target_, ir::DType::kI16) : scheme_;
  }

  static ir::Type TypeAt(const ir::Value& value, ir::DType dtype, float scale, int32_t zero_point) {
    return {dtype, value.type.shape, ir::Quant::PerTensor(scale, zero_point), {}};
  }

  // If a HardSigmoid is a value's only consumer, the value needs only the op's linear range.
  void NarrowToUse(std::vector<std::optional<ir::Range>>& ranges) {
    std::vector<int32_t> members(graph_.value_bound(), 0);
    for (size_t i = 0; i < members.size(); ++i) ++members[groups_.Of({static_cast<int32_t>(i)})];
    for (const NodeId id : graph_.nodes()) {
      const auto useful = plan_.IsInteger(id) ? ops::UsefulRange(graph_.node(id)) : std::nullopt;
      if (!useful) continue;
      const ValueId x = graph_.node(id).input(0);
      std::optional<ir::Range>& range = ranges[groups_.Of(x)];
      if (!range || members[groups_.Of(x)] != 1 || graph_.CountUses(x) != 1) continue;
      const ir::Range both = {std::max(range->min, useful->min), std::min(range->max, useful->max)};
      if (both.min < both.max) range = both;
    }
  }

  // Chooses one range per group: the widest measured range of its members.
  Status ChooseTypes() {
    std::vector<std::optional<ir::Range>> ranges(graph_.value_bound());
    const auto widen = [&](int32_t group, const ir::Range& range) {
      std::optional<ir::Range>& widest = ranges[group];
      if (!widest || range.max - range.min > widest->max - widest->min) widest = range;
    };
    for (size_t i = 0; i < graph_.value_bound(); ++i) {
      const ValueId id{static_cast<int32_t>(i)};
      const ir::Value& value = graph_.value(id);
      if (value.erased || value.constant || value.type.dtype != ir::DType::kF32) continue;
      if (before_clamp_[i]) continue;
      const profile::Entry* entry = EntryOf(id);
      const bool fixed = value.producer && plan_.IsInteger(value.producer) &&
                         RuleOf(graph_.node(value.producer)).kind == Kind::kFixed;
      if (entry == nullptr && !fixed) continue;
      widen(groups_.Of(id), RangeFor(id, entry));
    }
    for (const auto& [id, range] : payload_ranges_) widen(groups_.Of(id), range);
    NarrowToUse(ranges);

    for (size_t i = 0; i < graph_.value_bound(); ++i) {
      const ValueId id{static_cast<int32_t>(i)};
      const ir::Value& value = graph_.value(id);
      if (value.erased || value.constant || value.type.dtype != ir::DType::kF32) continue;
      if (const target::FixedResult* fixed = groups_.FixedOf(id)) {
        plan_.types[i] = TypeAt(value, scheme_.dtype, fixed->scale, fixed->zero_point);
        continue;
      }
      const std::optional<ir::Range>& range = ranges[groups_.Of(id)];
      if (!range) continue;
      const profile::Scheme scheme = SchemeFor(id);
      const profile::Params params = profile::ChooseParams(range->min, range->max, scheme);
      if (params.floored) {
        context_.Warn("scale_floored", fmt::format("the range of '{}' is so small that its scale "
                                                   "was raised to {}",
                                                   value.name, params.scale));
      }
      plan_.types[i] = TypeAt(value, scheme.dtype, params.scale, params.zero_point);
    }
    std::vector<std::string>& missing = context_.findings().missing_values;
    missing.assign(missing_.begin(), missing_.end());
    return {};
  }

  const Graph& graph_;
  const FloatChoice& choice_;
  Context& context_;
  const target::Target& target_;
  ValueRanges ranges_;
  TypeGroups groups_;
  QuantizePlan plan_;
  profile::Scheme scheme_;
  std::vector<bool> before_clamp_;  // by value: its only consumer is a clamp
  std::set<std::string> missing_;
  std::vector<std::pair<ValueId, ir::Range>> payload_ranges_;
};

}  // namespace

bool IsNamedBy(const std::vector<std::string>& names, const Graph& graph, const Node& node) {
  const auto named = [&](std::string_view name) {
    return std::ranges::any_of(names, [&](const auto& each) { return MatchesGlob(each, name); });
  };
  return named(node.name) || named(node.op->name) || std::ranges::any_of(node.origin, named) ||
         std::ranges::any_of(node.results, [&](ValueId r) { return named(graph.name(r)); });
}

bool IsConstantWeight(const Graph& graph, const Node& node, size_t input) {
  const ValueId value = node.inputs[input];
  return value && IsWeight(node, input) && graph.IsConstant(value) &&
         graph.type(value).dtype == ir::DType::kF32;
}

bool IsFloatNode(const Graph& graph, const Node& node) {
  if (node.op->domain == "octavo" || ir::DequantizesSums(graph, node)) return false;
  const auto is_float = [&](ValueId value) { return graph.type(value).dtype == ir::DType::kF32; };
  if (std::ranges::any_of(node.results, is_float)) return true;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (!input || !IsRealOperand(graph, node, i)) continue;
    // A bias stays float until its final scales are known.
    if (is_float(input) && node.op->RoleOf(i) != Role::kBias) return true;
  }
  return false;
}

bool IsRealOperand(const Graph& graph, const Node& node, size_t input) {
  return node.inputs[input] && IsReal(graph.type(node.inputs[input])) &&
         node.op->RoleOf(input) != Role::kParameter;
}

bool HasIntegerConsumer(const Graph& graph, const QuantizePlan& plan, ValueId value) {
  return std::ranges::any_of(graph.value(value).uses, [&](const ir::Use& use) {
    return plan.IsInteger(use.node) &&
           IsRealOperand(graph, graph.node(use.node), static_cast<size_t>(use.input));
  });
}

Result<QuantizePlan> PlanQuantization(const Graph& graph, const FloatChoice& choice,
                                      Context& context) {
  return Planner(graph, choice, context).Make();
}

}  // namespace octavo::passes
