// SPDX-License-Identifier: Apache-2.0
#include "core/passes/analysis/order.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/ops/quantize_math.h"
#include "core/passes/analysis/clamp.h"
#include "core/passes/analysis/data_movement.h"
#include "core/passes/analysis/type_range.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Movement;
using ir::Node;
using ir::Type;
using ir::Use;
using ir::ValueId;
using Elements = std::vector<float>;

// Values that one search visits; more count as a consumer whose order cannot be proved.
constexpr size_t kMaxVisited = 256;
// Elements of a constant that a proof compares with.
constexpr int64_t kMaxElements = 1 << 20;

bool MovesOne(const Node& node) {
  return node.op->moves_data != Movement::kNone && node.op->moves_data != Movement::kFill &&
         !node.op->clamps && DataInputs(node) == std::vector<size_t>{0};
}

// Whether elements of the operand reach the results.
bool PassesOn(const Node& node, int input) {
  if (node.op->domain == "octavo") return true;
  if (node.op->RoleOf(input) != ir::Role::kData) return false;
  return node.op->moves_data != Movement::kNone || SelectsOperand(node);
}

// Whether they reach them in their order, without other elements and without another rounding.
bool KeepsElements(const Node& node) { return IsOwn(node, "Dequantize") || MovesOne(node); }

// Values that a search has reached, sorted: every Rescale of a long chain starts a search, and a
// std::map took most of a job's time.
class Reached {
 public:
  // Whether the elements are those of the first value; null if the search has not reached it.
  const bool* Find(ValueId id) const {
    const auto at = std::lower_bound(values_.begin(), values_.end(), id, &Before);
    return at != values_.end() && at->id == id ? &at->kept : nullptr;
  }
  // Reaches the value; whether that is new.  Where two ways differ, the elements are not kept.
  bool Add(ValueId id, bool kept) {
    const auto at = std::lower_bound(values_.begin(), values_.end(), id, &Before);
    if (at == values_.end() || at->id != id) {
      values_.insert(at, {id, kept});
      return true;
    }
    if (at->kept == kept || !at->kept) return false;
    at->kept = kept;
    return true;
  }
  size_t size() const { return values_.size(); }

 private:
  struct Entry {
    ValueId id = {};
    bool kept = false;
  };
  static bool Before(const Entry& entry, ValueId id) { return entry.id < id; }

  std::vector<Entry> values_;
};

// The consumers of a value, direct or through data movement.
struct OrderUses {
  std::vector<Use> uses = {};
  Reached reached = {};
  bool complete = true;

  bool Kept(ValueId id) const {
    const bool* kept = reached.Find(id);
    return kept != nullptr && *kept;
  }
};

OrderUses OrderUsesOf(const Graph& graph, ValueId first) {
  OrderUses found;
  std::vector<ValueId> open = {first};
  found.reached.Add(first, true);
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (found.reached.size() > kMaxVisited) {
      found.complete = false;
      return found;
    }
    for (const Use& use : graph.value(id).uses) {
      const Node& node = graph.node(use.node);
      if (DependsOnOrder(graph, node)) found.uses.push_back(use);
      if (!PassesOn(node, use.input)) continue;
      const bool kept = found.Kept(id) && KeepsElements(node);
      for (const ValueId result : node.results) {
        if (found.reached.Add(result, kept)) open.push_back(result);
      }
    }
  }
  return found;
}

// The real values that the elements of `value` can have; nothing where that is not known.
std::optional<Elements> PossibleElements(const Graph& graph, ValueId value,
                                         const numerics::Mode& mode) {
  const ValueId source = SourceOf(graph, value);
  const Type& type = graph.type(source);
  Elements elements;
  if (type.quantized()) {
    if (!type.quant->per_tensor() || ir::SizeOf(type.dtype) > 2) return std::nullopt;
    const ir::IntegerRange range = PossibleValues(type, 0, mode);
    for (int64_t code = range.min; code <= range.max; ++code) {
      elements.push_back(ops::DequantizeOne(static_cast<int32_t>(code), type.quant->scale(),
                                            type.quant->zero_point()));
    }
  } else {
    if (!graph.IsConstant(source) || type.dtype != ir::DType::kF32) return std::nullopt;
    const ir::Tensor& tensor = graph.value(source).constant->tensor;
    if (tensor.size() > kMaxElements) return std::nullopt;
    elements.assign(tensor.values<float>().begin(), tensor.values<float>().end());
    // Comparisons with a NaN do not depend on the other operand.
    std::erase_if(elements, [](float x) { return x != x; });
  }
  std::ranges::sort(elements);
  return elements;
}

// Whether elements are equal in `after` exactly where they are in `before`, and in the same order.
bool SameRanks(const Elements& before, const Elements& after) {
  for (size_t i = 0; i + 1 < before.size(); ++i) {
    if ((before[i] == before[i + 1]) != (after[i] == after[i + 1])) return false;
  }
  return std::ranges::is_sorted(before) && std::ranges::is_sorted(after);
}

// Whether every element compares with each of the others as before; `others` are sorted.
bool SamePlaces(const Elements& before, const Elements& after, const Elements& others,
                bool equality) {
  for (size_t i = 0; i < before.size(); ++i) {
    // Iterator pairs: clang 14 cannot read std::ranges::equal_range of GCC 12's library.
    const auto was = std::equal_range(others.begin(), others.end(), before[i]);
    const auto is = std::equal_range(others.begin(), others.end(), after[i]);
    if (equality && was.first == was.second && is.first == is.second) continue;
    if (was != is) return false;
  }
  // Only then do ops on the way that select elements (MaxPool) select the same ones.
  return std::ranges::is_sorted(before) && std::ranges::is_sorted(after);
}

struct Change {
  std::optional<Elements> before = {}, after = {};

  static Change Of(const numerics::Mode& mode, RescaleChain before, RescaleChain after) {
    return {RealResults(before, mode), RealResults(after, mode)};
  }
};

// Whether the results of an order-dependent node stay; `reached` are the values whose elements
// change together, the operand itself aside.
bool ResultsStay(const Graph& graph, const numerics::Mode& mode, const Use& use,
                 const OrderUses& reached, const Change& change) {
  const Node& node = graph.node(use.node);
  if (!change.before || !change.after || node.op->RoleOf(use.input) != ir::Role::kData) {
    return false;
  }
  const Type& read = graph.type(node.inputs[use.input]);
  if (!read.quantized() && read.dtype != ir::DType::kF32) return false;  // rounds once more
  bool among_themselves = true;
  for (const size_t i : DataInputs(node)) {
    const ValueId other = node.inputs[i];
    if (static_cast<int>(i) == use.input || reached.Kept(other)) continue;
    among_themselves = false;
    if (reached.reached.Find(other) != nullptr) return false;
    const auto elements = PossibleElements(graph, other, mode);
    if (!elements || !SamePlaces(*change.before, *change.after, *elements, TestsEquality(node))) {
      return false;
    }
  }
  return !among_themselves || SameRanks(*change.before, *change.after);
}

std::string Reason(const Node& node) {
  return fmt::format(
      "{} '{}' depends on the order of its operand, and the order is not proved to stay",
      node.op->name, node.name);
}

}  // namespace

bool DependsOnOrder(const Graph& graph, const Node& node) {
  if (!node.op->depends_on_order) return false;
  if (node.op->moves_data == Movement::kNone) return true;
  for (size_t i = 1; i < node.results.size(); ++i) {
    if (graph.CountUses(node.results[i]) > 0) return true;
  }
  return false;
}

// A comparison that does not distinguish its operands.
bool TestsEquality(const Node& node) { return node.op->depends_on_order && node.op->commutative; }

bool ReadsOnlyOrder(const Node& node, int input) {
  return node.op->depends_on_order && node.op->quant.kind == ir::QuantRule::Kind::kNotReal &&
         node.op->RoleOf(input) == ir::Role::kData;
}

OrderFollows::OrderFollows(const Graph& graph) : follows_(graph.value_bound(), false) {
  std::vector<ir::NodeId> order;
  for (const ir::NodeId id : graph.nodes()) order.push_back(id);
  std::reverse(order.begin(), order.end());
  for (const ir::NodeId id : order) {
    const Node& node = graph.node(id);
    const bool follows =
        node.op->depends_on_order || std::ranges::any_of(node.results, [&](ValueId result) {
          return result && follows_[result.index];
        });
    if (!follows) continue;
    for (const ValueId input : node.inputs) {
      if (input) follows_[input.index] = true;
    }
  }
}

ValueId SourceOf(const Graph& graph, ValueId value) {
  while (const Node* node = graph.Producer(value)) {
    if (!KeepsElements(*node)) break;
    value = node->inputs[0];
  }
  return value;
}

std::string WhyOrderChanges(const Graph& graph, const numerics::Mode& mode, ValueId value,
                            RescaleChain before, RescaleChain after) {
  const OrderUses found = OrderUsesOf(graph, value);
  if (!found.complete) return WhyOrderChanges(graph, value);
  if (found.uses.empty()) return {};
  const Change change = Change::Of(mode, before, after);
  for (const Use& use : found.uses) {
    const Node& node = graph.node(use.node);
    const bool stays =
        found.Kept(node.inputs[use.input]) && ResultsStay(graph, mode, use, found, change);
    if (!stays) return Reason(node);
  }
  return {};
}

std::string WhyOrderChanges(const Graph& graph, ValueId value) {
  const OrderUses found = OrderUsesOf(graph, value);
  if (!found.uses.empty()) return Reason(graph.node(found.uses.front().node));
  if (found.complete) return {};
  return fmt::format("more than {} values have elements of '{}', and one may depend on their order",
                     kMaxVisited, graph.name(value));
}

std::string WhyOrderChanges(const Graph& graph, const numerics::Mode& mode, const Use& use,
                            RescaleChain before, RescaleChain after) {
  // Only this operand changes, even where the other one is the same value.
  if (ResultsStay(graph, mode, use, OrderUses{}, Change::Of(mode, before, after))) return {};
  return Reason(graph.node(use.node));
}

}  // namespace octavo::passes
