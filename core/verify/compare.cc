// SPDX-License-Identifier: Apache-2.0
#include "core/verify/compare.h"

namespace octavo::verify {
namespace {

using ir::Graph;
using ir::ValueId;

template <class Visit>
void ForEachValue(const Graph& graph, Visit&& visit) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ValueId id{static_cast<int32_t>(i)};
    if (!graph.value(id).erased) visit(id);
  }
}

class Comparison {
 public:
  Comparison(const Graph& before, const Graph& after, Level level, Mode mode)
      : before_(before),
        after_(after),
        level_(level),
        terms_(level, mode),
        old_terms_(before.value_bound(), kAbsent),
        new_terms_(after.value_bound(), kAbsent) {}

  Compared Run() {
    Start();
    for (const ir::NodeId id : after_.nodes()) {
      const ir::Node& node = after_.node(id);
      for (const ValueId result : node.results) {
        new_terms_[result.index] = TermOf(after_, result, new_terms_, terms_);
      }
      for (const ValueId result : node.results) Meet(result);
    }
    for (size_t i = 0; i < after_.outputs().size(); ++i) {
      MeetOutput(before_.outputs()[i], after_.outputs()[i]);
    }
    return std::move(compared_);
  }

 private:
  bool Comparable(const ir::Type& a, const ir::Type& b) const {
    if (a.shape != b.shape) return false;
    return level_ == Level::kReal ? a.Expressed().dtype == b.Expressed().dtype
                                  : a.SameQuantization(b);
  }

  // Inputs are symbols; one that becomes quantized is the Quantize of the former symbol.
  void Start() {
    for (size_t i = 0; i < before_.inputs().size(); ++i) {
      const ValueId was = before_.inputs()[i], is = after_.inputs()[i];
      const TermId symbol = terms_.Symbol(before_.name(was), before_.type(was));
      old_terms_[was.index] = new_terms_[is.index] = symbol;
      if (Comparable(before_.type(was), after_.type(is))) continue;
      new_terms_[is.index] = terms_.Quantized(symbol, after_.type(is));
    }
    for (const Graph* graph : {&before_, &after_}) {
      std::vector<TermId>& terms = graph == &before_ ? old_terms_ : new_terms_;
      ForEachValue(*graph, [&](ValueId id) {
        const ir::Value& value = graph->value(id);
        if (value.constant) terms[id.index] = terms_.Constant(value.constant, value.type);
      });
    }
    ForEachValue(after_, [&](ValueId id) {
      if (after_.IsConstant(id)) Meet(id);
    });
  }

  static TermId TermOf(const Graph& graph, ValueId id, const std::vector<TermId>& known,
                       Terms& terms) {
    const ir::Value& value = graph.value(id);
    const ir::Node& node = graph.node(value.producer);
    std::vector<TermId> operands;
    for (const ValueId input : node.inputs) {
      operands.push_back(input ? known[input.index] : kAbsent);
    }
    return terms.Node(graph, node, static_cast<size_t>(value.result), operands);
  }

  // The term of a value of the graph before.  Its operands may have become symbols since it was
  // last computed, so it is computed again.
  TermId OldTerm(ValueId id) {
    std::vector<ValueId> open = {id};
    while (!open.empty()) {
      const ValueId at = open.back();
      const ir::Node* node = before_.Producer(at);
      if (node == nullptr || (old_terms_[at.index] != kAbsent && at != id)) {
        open.pop_back();
        continue;
      }
      const size_t known = open.size();
      for (const ValueId input : node->inputs) {
        if (input && old_terms_[input.index] == kAbsent) open.push_back(input);
      }
      if (open.size() > known) continue;
      old_terms_[at.index] = TermOf(before_, at, old_terms_, terms_);
      open.pop_back();
    }
    return old_terms_[id.index];
  }

  void Meet(ValueId is) {
    const ValueId was = before_.Find(after_.name(is));
    if (!was || !Comparable(before_.type(was), after_.type(is))) return;
    // What reads a constant that is another now is compared, not the constant.
    if (before_.IsConstant(was) && after_.IsConstant(is) && !after_.IsOutput(is) &&
        !terms_.Same(OldTerm(was), new_terms_[is.index])) {
      return;
    }
    Settle(was, is, OldTerm(was), new_terms_[is.index]);
  }

  void MeetOutput(ValueId was, ValueId is) {
    if (Comparable(before_.type(was), after_.type(is))) return;  // met as a value
    const bool leaves_integers = after_.type(is).quantized() && !before_.type(was).quantized();
    TermId term = new_terms_[is.index];
    if (leaves_integers) term = terms_.Dequantized(term);
    Names& names = terms_.Same(OldTerm(was), term) ? compared_.equal : compared_.unproved;
    names.insert(after_.name(is));
  }

  void Settle(ValueId was, ValueId is, TermId old_term, TermId new_term) {
    const std::string& name = after_.name(is);
    if (terms_.Same(old_term, new_term)) {
      compared_.equal.insert(name);
    } else {
      compared_.unproved.insert(name);
      if (terms_.Differ(old_term, new_term)) compared_.refuted.insert(name);
    }
    if (old_term == new_term) return;
    // Elements that are known stay known to what is computed from them.
    if (terms_.term(new_term).kind == Term::Kind::kConstant && compared_.equal.count(name)) {
      old_terms_[was.index] = new_term;
      return;
    }
    old_terms_[was.index] = new_terms_[is.index] = terms_.Symbol(name, after_.type(is));
  }

  const Graph &before_, &after_;
  Level level_;
  Terms terms_;
  std::vector<TermId> old_terms_, new_terms_;
  Compared compared_;
};

bool SameStatement(const Graph& before, ValueId was, const Graph& after, ValueId is) {
  if (Plain(before.type(was)) != Plain(after.type(is))) return false;
  const ir::Value &old_value = before.value(was), &value = after.value(is);
  if (old_value.is_input != value.is_input) return false;
  if (old_value.constant || value.constant) {
    if (!old_value.constant || !value.constant) return false;
    const ir::Tensor &a = old_value.constant->tensor, &b = value.constant->tensor;
    return a.raw() == b.raw() || a == b;
  }
  if (value.is_input) return true;
  const ir::Node &a = *before.Producer(was), &b = *after.Producer(is);
  if (a.op != b.op || old_value.result != value.result || a.inputs.size() != b.inputs.size() ||
      a.results.size() != b.results.size() || !(a.attributes == b.attributes)) {
    return false;
  }
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    const ValueId x = a.inputs[i], y = b.inputs[i];
    if (bool{x} != bool{y} || (x && before.name(x) != after.name(y))) return false;
  }
  return true;
}

using Parameters = std::set<std::tuple<ir::DType, float, int32_t>>;
void AddParameters(const ir::Type& type, Parameters& parameters) {
  if (!type.quant || ir::SizeOf(type.dtype) > 2) return;  // a bias follows from its operands
  for (size_t i = 0; i < type.quant->scales.size(); ++i) {
    parameters.emplace(type.dtype, type.quant->scales[i], type.quant->zero_points[i]);
  }
}

}  // namespace

Compared Compare(const Graph& before, const Graph& after, Level level, Mode mode) {
  return Comparison(before, after, level, mode).Run();
}

Status CheckInterface(const Graph& before, const Graph& after) {
  const auto check = [&](std::string_view what, const std::vector<ValueId>& was,
                         const std::vector<ValueId>& is) -> Status {
    if (was.size() != is.size()) {
      return Fail(Code::kInvalidArgument, "the certificate changes the number of {}s", what);
    }
    for (size_t i = 0; i < was.size(); ++i) {
      const std::string& name = before.name(was[i]);
      if (name == after.name(is[i]) && before.type(was[i]).shape == after.type(is[i]).shape) {
        continue;
      }
      return Fail(Code::kInvalidArgument, "the certificate changes {} '{}'", what, name)
          .Field(name);
    }
    return {};
  };
  OCTAVO_CHECK(check("input", before.inputs(), after.inputs()));
  return check("output", before.outputs(), after.outputs());
}

Regions::Regions(const Graph& before, const Graph& after) : before_(before), after_(after) {
  const auto add = [&](const std::string& name) {
    const auto [at, fresh] = changed_.try_emplace(name, static_cast<int>(parents_.size()));
    if (fresh) parents_.push_back(at->second);
  };
  Names retyped;
  ForEachValue(before_, [&](ValueId was) {
    const ValueId is = after_.Find(before_.name(was));
    if (is && SameStatement(before_, was, after_, is)) return;
    add(before_.name(was));
    const bool constant = before_.IsConstant(was) || (is && after_.IsConstant(is));
    if (!is || constant || Plain(before_.type(was)) != Plain(after_.type(is))) {
      retyped.insert(before_.name(was));
    }
  });
  ForEachValue(after_, [&](ValueId is) {
    if (!before_.Find(after_.name(is))) add(after_.name(is));
    const ir::Node* node = after_.Producer(is);
    if (node == nullptr) return;
    for (const ValueId input : node->inputs) {
      if (input && retyped.count(after_.name(input))) add(after_.name(is));
    }
  });
  JoinOperands(before_);
  JoinOperands(after_);
  std::map<int, int> numbers;
  for (size_t i = 0; i < parents_.size(); ++i) {
    const auto [at, fresh] = numbers.try_emplace(Root(static_cast<int>(i)), count_);
    count_ += fresh ? 1 : 0;
    regions_.push_back(at->second);
  }
}

void Regions::JoinOperands(const Graph& graph) {
  for (const ir::NodeId id : graph.nodes()) {
    const ir::Node& node = graph.node(id);
    int first = -1;
    const auto join = [&](ValueId value) {
      const auto at = value ? changed_.find(graph.name(value)) : changed_.end();
      if (at == changed_.end()) return;
      if (first >= 0) Join(first, at->second);
      first = at->second;
    };
    for (const ValueId result : node.results) join(result);
    if (first < 0) continue;  // the node reads only what others compute
    for (const ValueId input : node.inputs) join(input);
  }
}

int Regions::Root(int index) const {
  while (parents_[index] != index) {
    parents_[index] = parents_[parents_[index]];
    index = parents_[index];
  }
  return index;
}

int Regions::RegionOf(std::string_view value) const {
  const auto at = changed_.find(value);
  return at == changed_.end() ? -1 : regions_[at->second];
}

int Regions::RegionOfName(std::string_view name) const {
  if (const int region = RegionOf(name); region >= 0) return region;
  for (const Graph* graph : {&before_, &after_}) {
    const ir::NodeId node = graph->FindNode(name);
    if (!node || graph->node(node).erased) continue;
    for (const ValueId result : graph->node(node).results) {
      if (const int region = RegionOf(graph->name(result)); region >= 0) return region;
    }
  }
  return -1;
}

std::vector<std::string> Regions::NewParameters() const {
  Parameters known;
  ForEachValue(before_, [&](ValueId id) { AddParameters(before_.type(id), known); });
  std::vector<std::string> found(count_);
  ForEachValue(after_, [&](ValueId id) {
    const int region = RegionOf(after_.name(id));
    if (region < 0 || !found[region].empty()) return;
    Parameters own;
    AddParameters(after_.type(id), own);
    for (const auto& each : own) {
      if (!known.count(each)) found[region] = after_.name(id);
    }
  });
  return found;
}

}  // namespace octavo::verify
