// SPDX-License-Identifier: Apache-2.0
#include "tests/core/properties/bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace octavo::test {
namespace {

using ir::Graph;
using ir::Node;
using ir::Type;
using ir::ValueId;

double HalfStep(const Type& type) {
  if (!type.quantized()) return 0;
  return *std::max_element(type.quant->scales.begin(), type.quant->scales.end()) / 2.0;
}

bool IsReal(const Type& type) { return type.quantized() || ir::IsFloat(type.dtype); }

bool SameType(const Type& a, const Type& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.quant == b.quant;
}

double Largest(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::fabs(value));
  return largest;
}

// The largest sum of weight magnitudes that contributes to one result.
double WeightGain(const Graph& graph, const Node& node, const RunValues& run) {
  const ValueId weight = node.inputs[1];
  const std::vector<double>& values = run.real_values(weight);
  const ir::Shape& shape = graph.type(weight).shape;
  const int axis = node.op->weight_axis ? node.op->weight_axis(graph, node, 1) : -1;
  const int64_t channels = axis < 0 ? 1 : shape[axis];
  int64_t inner = 1;
  for (size_t i = axis + 1; axis >= 0 && i < shape.size(); ++i) inner *= shape[i];
  std::vector<double> sums(channels, 0);
  for (size_t i = 0; i < values.size(); ++i) {
    sums[(static_cast<int64_t>(i) / inner) % channels] += std::fabs(values[i]);
  }
  return Largest(sums);
}

// The Lipschitz constant of an op in one operand, provided that all operands move by at most 1.
double GainOf(const Graph& graph, const Node& node, size_t input, const RunValues& run) {
  if (node.op->RoleOf(1) == ir::Role::kWeight && node.inputs.size() > 1 && input < 2) {
    if (input == 0) return WeightGain(graph, node, run);
    return Largest(run.real_values(node.inputs[0])) *
           static_cast<double>(run.real_values(node.inputs[1]).size());
  }
  static const std::map<std::string_view, double> kGains = {{"HardSwish", 1.5}, {"Swish", 1.1}};
  if (node.op->name == "Mul") return Largest(run.real_values(node.inputs[1 - input]));
  const auto at = kGains.find(node.op->name);
  return at == kGains.end() ? 1.0 : at->second;
}

bool Chooses(const Node& node) { return node.op->name == "Max" || node.op->name == "Min"; }

bool FollowsFromConstants(const Graph& graph, ValueId id) {
  const Node* node = graph.Producer(id);
  if (node == nullptr) return graph.IsConstant(id);
  return std::ranges::all_of(
      node->inputs, [&](ValueId input) { return !input || FollowsFromConstants(graph, input); });
}

// The roundings of a value that follows from constants.
double RoundingsOf(const Graph& graph, ValueId id) {
  double slack = 0;
  const Node* node = graph.Producer(id);
  if (node == nullptr) return 0;
  for (const ValueId input : node->inputs) slack += input ? RoundingsOf(graph, input) : 0;
  return slack + HalfStep(graph.type(id));
}

// Whether a Transpose keeps the order of all axes with more than one element.
bool KeepsOrder(const Graph& graph, const Node& transpose) {
  const ir::Shape& shape = graph.type(transpose.inputs[0]).shape;
  int64_t last = -1;
  for (const int64_t axis : transpose.attributes.Ints("perm")) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// The operand that a node returns except for rounding and clamping; invalid if there is none.
ValueId PassedThrough(const Graph& graph, const Node& node) {
  if (node.op->domain == "octavo" || node.op->clamps) return node.inputs[0];
  const bool same_shape = graph.type(node.inputs[0]).shape == graph.type(node.result()).shape;
  if (node.op->name == "Reshape" || node.op->name == "Flatten") {
    return same_shape ? node.inputs[0] : ValueId{};
  }
  if (node.op->name == "Transpose") {
    return same_shape && KeepsOrder(graph, node) ? node.inputs[0] : ValueId{};
  }
  if (node.op->name == "AveragePool") {  // with windows of one element
    const std::vector<int64_t> window = node.attributes.Ints("kernel_shape");
    const bool one = std::all_of(window.begin(), window.end(), [](int64_t k) { return k == 1; });
    return one && same_shape ? node.inputs[0] : ValueId{};
  }
  if (Chooses(node) && node.inputs.size() == 2) {  // with a constant: a clamp
    for (const size_t i : {0, 1}) {
      const bool all = graph.type(node.inputs[i]).shape == graph.type(node.result()).shape;
      if (all && FollowsFromConstants(graph, node.inputs[1 - i])) return node.inputs[i];
    }
  }
  return {};
}

// A value before the last chain of roundings and clamps.
struct Peeled {
  ValueId id = {};
  double slack = 0;
};
Peeled Peel(const Graph& graph, ValueId id) {
  Peeled peeled{.id = id};
  while (const Node* node = graph.Producer(peeled.id)) {
    const ValueId operand = PassedThrough(graph, *node);
    if (!operand) break;
    peeled.slack += HalfStep(graph.type(peeled.id));
    if (Chooses(*node)) {  // the constant bound moves by its own roundings
      for (const ValueId bound : node->inputs) {
        if (bound != operand) peeled.slack += RoundingsOf(graph, bound);
      }
    }
    peeled.id = operand;
  }
  return peeled;
}

bool IsSameScale(const Graph& graph, const Node& node) {
  return node.op->QuantOf(graph, node).kind == ir::QuantRule::Kind::kSameScale;
}

class Bounds {
 public:
  Bounds(const Graph& before, const RunValues& was, const Graph& after, const RunValues& is)
      : before_(before), was_(was), after_(after), is_(is) {}

  Status Check(ValueId b, ValueId a) const {
    const double distance = Distance(was_.real_values(b), is_.real_values(a));
    if (distance == 0) return {};
    const Peeled from = Peel(before_, b), to = Peel(after_, a);
    OCTAVO_TRY(const Bound bound, BoundOf(from, to));
    const double noise = 1e-5 * (bound.most + Largest(was_.real_values(b)));
    // No rounding happens elsewhere: the same op on the same operands gives the same bits.
    const bool plain = from.id == b && to.id == a && SameType(before_.type(b), after_.type(a));
    const double most = plain && bound.operands_equal ? 0 : bound.most + noise;
    if (distance <= most) return {};
    return Fail(Code::kInternal, "'{}' moved by {}, but its bound is {}", before_.name(b), distance,
                most);
  }

 private:
  struct Bound {
    double most = 0;
    bool operands_equal = true;
  };

  Failure Unmatched(const Peeled& from) const {
    return Fail(Code::kInternal, "the computation of '{}' cannot be matched",
                before_.name(from.id));
  }

  Result<Bound> BoundOf(const Peeled& from, const Peeled& to) const {
    Bound bound{.most = from.slack + to.slack};
    const Node* old_node = before_.Producer(from.id);
    const Node* new_node = after_.Producer(to.id);
    if (old_node == nullptr || new_node == nullptr) {
      if (old_node != nullptr || new_node != nullptr) return Unmatched(from);
      const double distance = Distance(was_.real_values(from.id), is_.real_values(to.id));
      bound.most += distance;
      bound.operands_equal = distance == 0;
      return bound;
    }
    if (old_node->op != new_node->op || old_node->inputs.size() != new_node->inputs.size()) {
      return Unmatched(from);
    }
    bound.most += HalfStep(before_.type(from.id)) + HalfStep(after_.type(to.id));
    for (size_t i = 0; i < old_node->inputs.size(); ++i) {
      const ValueId x = old_node->inputs[i], y = new_node->inputs[i];
      if (!x.valid() && !y.valid()) continue;
      if (!x.valid() || !y.valid()) return Unmatched(from);
      const double distance = Distance(was_.real_values(x), is_.real_values(y));
      if (distance == 0) continue;
      if (!std::isfinite(distance)) return Unmatched(from);
      bound.operands_equal = false;
      // Indices that follow from values which may move choose any elements.
      if (!IsReal(before_.type(x))) {
        bound.most = std::numeric_limits<double>::infinity();
        continue;
      }
      // A Rescale moved past data movement clips the same values on its other side.  An op that
      // selects a value clamps it to its own type.
      const bool retyped = !SameType(before_.type(from.id), after_.type(to.id));
      const bool clips_beyond =
          IsSameScale(before_, *old_node) && (to.slack > 0 || from.slack > 0 || retyped);
      if (!clips_beyond && !Chooses(*old_node) && after_.Resolve(before_.name(x)) != y) {
        OCTAVO_CHECK(Check(x, y));
      }
      bound.most += distance * std::max(GainOf(before_, *old_node, i, was_),
                                        GainOf(after_, *new_node, i, is_));
    }
    return bound;
  }

  const Graph& before_;
  const RunValues& was_;
  const Graph& after_;
  const RunValues& is_;
};

// Whether data movement produces the value and no output uses it.
bool IsMoved(const Graph& graph, ValueId id) {
  const Node* node = graph.Producer(id);
  return node != nullptr && !graph.IsOutput(id) && graph.type(id).quantized() &&
         IsSameScale(graph, *node);
}

std::vector<bool> Alive(const Graph& graph) {
  std::vector<bool> alive(graph.value_bound(), false);
  std::vector<ValueId> open = graph.outputs();
  while (!open.empty()) {
    const ValueId id = open.back();
    open.pop_back();
    if (!id || alive[id.index]) continue;
    alive[id.index] = true;
    const Node* node = graph.Producer(id);
    if (node != nullptr) open.insert(open.end(), node->inputs.begin(), node->inputs.end());
  }
  return alive;
}

// Visits every value that reaches an output and whose name still exists afterwards.
template <class Visit>
Status ForEachShared(const Graph& before, const Graph& after, Movement movement, Visit visit) {
  const std::vector<bool> alive = Alive(before);
  for (const ir::NodeId id : before.nodes()) {
    for (const ValueId b : before.node(id).results) {
      const ValueId a = after.Resolve(before.name(b));
      if (!a || !alive[b.index]) continue;
      const bool above = movement == Movement::kMayStandBeyondARescale &&
                         (IsMoved(before, b) || IsMoved(after, a));
      if (above) continue;
      if (before.type(b).shape != after.type(a).shape) {
        return Fail(Code::kInternal, "the name '{}' now leads to '{}' of another shape",
                    before.name(b), after.name(a));
      }
      OCTAVO_CHECK(visit(b, a));
    }
  }
  return {};
}

// Whether every consumer only changes the value's type, and the type has changed: a producer may
// adopt its consumer's type, directly or behind data movement.
bool IsRetyped(const Graph& before, ValueId b, const Graph& after, ValueId a, Movement movement) {
  const ir::Value& value = before.value(b);
  return value.output_uses == 0 && !SameType(value.type, after.type(a)) &&
         std::all_of(value.uses.begin(), value.uses.end(), [&](const ir::Use& use) {
           const Node& consumer = before.node(use.node);
           return PassedThrough(before, consumer) == b ||
                  (movement == Movement::kMayStandBeyondARescale && IsSameScale(before, consumer));
         });
}

}  // namespace

Status CheckBounds(const Graph& before, const RunValues& was, const Graph& after,
                   const RunValues& is, Movement movement) {
  const Bounds bounds(before, was, after, is);
  return ForEachShared(before, after, movement, [&](ValueId b, ValueId a) -> Status {
    return IsReal(before.type(b)) && !IsRetyped(before, b, after, a, movement) ? bounds.Check(b, a)
                                                                               : Status{};
  });
}

Status CheckEqualBits(const Graph& before, const RunValues& was, const Graph& after,
                      const RunValues& is, Movement movement) {
  OCTAVO_CHECK(ForEachShared(before, after, movement, [&](ValueId b, ValueId a) -> Status {
    if (before.name(b) != after.name(a) || !SameType(before.type(b), after.type(a))) return {};
    if (was.stored(b) == is.stored(a)) return {};
    return Fail(Code::kInternal, "'{}' moved by {}, but every application is exact", before.name(b),
                Distance(was.real_values(b), is.real_values(a)));
  }));
  for (size_t i = 0; i < before.outputs().size(); ++i) {
    const ValueId b = before.outputs()[i], a = after.outputs()[i];
    const double distance = Distance(was.real_values(b), is.real_values(a));
    // With --integer-io, an output becomes the operand of its Dequantize: the same real values.
    if (distance == 0) continue;
    return Fail(Code::kInternal, "output '{}' moved by {}, but every application is exact",
                before.name(b), distance);
  }
  return {};
}

}  // namespace octavo::test
