// SPDX-License-Identifier: Apache-2.0
// Terms, their keys, and what both kinds of equations share.
#include "core/verify/term.h"

#include <algorithm>
#include <cmath>

#include "core/base/sha256.h"

namespace octavo::verify {
namespace {

// Of operands that are compared one by one: levels, and comparisons.
constexpr int kMaxDepth = 8;
constexpr int kMaxCompared = 4096;
// What a normal form may take apart: 32 for a term, and 1 for each of its operands.
constexpr int64_t kMaxDescended = 256;
// Of all constants that are computed.
constexpr int64_t kMaxElements = int64_t{1} << 28;

// Numbers print as the shortest text that gives them back, strings of a list with quotes.
std::string AttributeKey(const ir::Attribute& attribute) {
  const auto text = [](const auto& value) -> std::string {
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, ir::PayloadPtr>) {
      const ir::Tensor& tensor = value->tensor;
      return TypeKey({tensor.dtype(), tensor.shape(), {}, {}}) + Sha256Of(tensor.raw_bytes());
    } else {
      return fmt::format("{}", value);
    }
  };
  return fmt::format("{}{}", attribute.index(), std::visit(text, attribute));
}

}  // namespace

std::string TypeKey(const ir::Type& type) {
  std::string key = fmt::format("{}x{}", fmt::join(type.shape, "x"), Name(type.dtype));
  if (!type.quant) return key;
  key += fmt::format("@{}/{}", type.quant->axis.value_or(-1), type.quant->block);
  for (const float scale : type.quant->scales) key += fmt::format(" {:a}", scale);
  return key + fmt::format(" z{}", fmt::join(type.quant->zero_points, ","));
}

const std::string& Terms::DigestOf(const ir::PayloadPtr& payload) {
  auto& entry = digests_[payload.get()];
  if (!entry.first) entry = {payload, Sha256Of(payload->tensor.raw_bytes())};
  return entry.second;
}

std::string Terms::KeyOf(const Term& term) {
  std::string key = fmt::format("{}|{}|", static_cast<int>(term.kind), TypeKey(term.type));
  switch (term.kind) {
    case Term::Kind::kSymbol:
      return key + term.name;
    case Term::Kind::kConstant:
      return key + DigestOf(term.constant);
    case Term::Kind::kTable:
      key += fmt::format("{}|", static_cast<const void*>(term.table.get()));
      break;
    case Term::Kind::kClamp:
      key += fmt::format("{:a} {:a} {:a} {}|", term.clamp.low, term.clamp.high, term.clamp.slack,
                         term.name);
      break;
    case Term::Kind::kNode:
      key += fmt::format("{}.{}|{}|{}|", term.op->domain, term.op->name, term.result, term.results);
      for (const auto& [name, value] : term.attributes) {
        const std::string text = AttributeKey(value);
        key += fmt::format("{}={}:{};", name, text.size(), text);
      }
      break;
  }
  return key + fmt::format("({})", fmt::join(term.operands, ","));
}

TermId Terms::Intern(Term term) {
  const auto [at, fresh] = ids_.try_emplace(KeyOf(term), static_cast<TermId>(terms_.size()));
  if (!fresh) return at->second;
  term.range.reset();
  if (level_ != Level::kExact && term.kind != Term::Kind::kConstant) term.range = RangeOf(term);
  terms_.push_back(std::move(term));
  return at->second;
}

Terms::Descent::Descent(Terms& of, const Term& below) : terms(of) {
  ++terms.depth_;
  terms.descended_ += 32 + static_cast<int64_t>(below.operands.size());
  allowed = terms.descended_ <= kMaxDescended;
}

Terms::Descent::~Descent() {
  if (--terms.depth_ == 0) terms.descended_ = 0;
}

bool Terms::MayCompute(int64_t elements) {
  return elements <= kMaxElements && (computed_elements_ += elements) <= kMaxElements;
}

bool AllAre(int64_t number, const std::vector<int64_t>& list) {
  return std::all_of(list.begin(), list.end(), [&](int64_t each) { return each == number; });
}

// Without a proven range, which is a statement of the passes; equal channels are one.
ir::Type Plain(ir::Type type) {
  type.range.reset();
  if (type.quant && !type.quant->per_tensor() && !type.quant->scales.empty() &&
      type.quant->Uniform()) {
    type.quant = ir::Quant::PerTensor(type.quant->scales[0], type.quant->zero_points[0]);
  }
  return type;
}

ir::Type Terms::TypeOn(const ir::Type& type) const {
  return Plain(level_ == Level::kExact ? type : type.Expressed());
}

// A symbol keeps its quantization on the level kRounded: its range follows from it.
TermId Terms::Symbol(const std::string& name, const ir::Type& type) {
  return Intern({.kind = Term::Kind::kSymbol,
                 .name = name,
                 .type = Plain(level_ == Level::kReal ? type.Expressed() : type)});
}

TermId Terms::Constant(const ir::PayloadPtr& payload, const ir::Type& type) {
  return Intern({.kind = Term::Kind::kConstant, .constant = payload, .type = Plain(type)});
}

TermId Terms::Node(const ir::Graph& graph, const ir::Node& node, size_t result,
                   const std::vector<TermId>& operands) {
  Term term{.kind = Term::Kind::kNode,
            .op = node.op,
            .attributes = node.attributes,
            .result = static_cast<int>(result),
            .results = static_cast<int>(node.results.size()),
            .operands = operands,
            .type = graph.type(node.results[result])};
  term.type = Plain(term.type);
  for (const ir::ValueId each : node.results) {
    if (node.results.size() > 1) term.result_shapes.push_back(graph.type(each).shape);
  }
  int data = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    data += node.inputs[i] && node.op->RoleOf(i) == ir::Role::kData ? 1 : 0;
  }
  const bool same_scale = node.op->QuantOf(graph, node).kind == ir::QuantRule::Kind::kSameScale &&
                          !node.op->depends_on_order;
  const bool copies = same_scale && node.op->moves_data >= ir::Movement::kCopy;
  term.fills = same_scale && data == 1 && node.op->moves_data == ir::Movement::kFill &&
               (node.inputs.size() < 3 || !node.inputs[2]) &&
               node.attributes.String("mode", "constant") == "constant" &&
               node.attributes.Float("value", 0) == 0;
  term.moves = (copies || term.fills) && data == 1 && !node.inputs.empty() &&
               node.op->RoleOf(0) == ir::Role::kData;
  term.selects = (copies && data > 1) ||
                 (node.op->moves_data == ir::Movement::kSelect && node.results.size() == 1);
  return Build(std::move(term));
}

TermId Terms::Build(Term term) {
  return level_ == Level::kExact ? BuildExact(std::move(term)) : BuildReal(std::move(term));
}

std::optional<std::vector<double>> Terms::ValuesOf(TermId id) const {
  if (id == kAbsent || terms_[id].kind != Term::Kind::kConstant) return std::nullopt;
  return RealValuesOf(terms_[id].constant->tensor, terms_[id].type);
}

std::optional<double> Terms::ScalarOf(TermId id) const {
  if (id == kAbsent || terms_[id].type.elements() != 1) return std::nullopt;
  const auto values = ValuesOf(id);
  if (!values || std::isnan(values->front())) return std::nullopt;
  return values->front();
}

TermId Terms::ConstantOf(TermId id) {
  const ir::PayloadPtr folded = Folded(id);
  return folded ? Constant(folded, terms_[id].type) : kAbsent;
}

bool Terms::Same(TermId a, TermId b) {
  int work = 0;
  return SameTo(a, b, 0, work);
}

bool Terms::SameTo(TermId a, TermId b, int depth, int& work) {
  if (a == b) return true;
  if (a == kAbsent || b == kAbsent || ++work > kMaxCompared) return false;
  const Term &left = terms_[a], &right = terms_[b];
  if (left.kind == Term::Kind::kClamp && right.kind == Term::Kind::kClamp) {
    const double slack = std::max(left.clamp.slack, right.clamp.slack);
    const auto near = [&](double x, double y) { return x == y || std::fabs(x - y) < slack; };
    if (left.name == right.name && near(left.clamp.low, right.clamp.low) &&
        near(left.clamp.high, right.clamp.high) && depth < kMaxDepth) {
      return SameTo(left.operands[0], right.operands[0], depth + 1, work);
    }
    return false;
  }
  if (left.kind == Term::Kind::kNode && right.kind == Term::Kind::kNode && depth < kMaxDepth) {
    bool same = left.op->name == right.op->name && left.op->domain == right.op->domain &&
                left.result == right.result && left.results == right.results &&
                left.type == right.type && left.attributes == right.attributes &&
                left.operands.size() == right.operands.size();
    for (size_t i = 0; same && i < left.operands.size(); ++i) {
      same = SameTo(left.operands[i], right.operands[i], depth + 1, work);
    }
    if (same) return true;
  }
  const TermId c = ConstantOf(a), d = ConstantOf(b);
  if (c == kAbsent || d == kAbsent) return false;
  if (c == d || level_ == Level::kExact) return c == d;
  const auto [at, fresh] = same_constants_.try_emplace({c, d});
  if (fresh) at->second = SameConstants(c, d);
  return at->second;
}

// Two constants that represent the same real values, up to the rounding to each type and to float.
bool Terms::SameConstants(TermId a, TermId b) {
  const Term &left = terms_[a], &right = terms_[b];
  if (left.type.shape != right.type.shape) return false;
  const auto x = ValuesOf(a), y = ValuesOf(b);
  if (!x || !y) return false;
  double largest = 0;
  for (const double each : *x) largest = std::max(largest, std::fabs(each));
  const bool one_type = left.type.SameQuantization(right.type);
  for (size_t i = 0; i < x->size(); ++i) {
    double bound = 1e-6 * largest;
    for (const ir::Type* type : {&left.type, &right.type}) {
      if (!type->quant || one_type) continue;
      bound += 0.501 * type->quant->scale(ir::ScaleOf(*type, static_cast<int64_t>(i)));
    }
    if (!(std::fabs((*x)[i] - (*y)[i]) <= bound)) return false;
  }
  return true;
}

bool Terms::Differ(TermId a, TermId b) {
  if (a == b || level_ != Level::kExact) return false;
  const Term &left = terms_[a], &right = terms_[b];
  if (left.kind == Term::Kind::kTable && right.kind == Term::Kind::kTable) {
    return left.operands == right.operands && left.type == right.type;
  }
  const TermId c = ConstantOf(a), d = ConstantOf(b);
  return c != kAbsent && d != kAbsent && c != d;
}

}  // namespace octavo::verify
