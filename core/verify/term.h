// SPDX-License-Identifier: Apache-2.0
// Values of two graphs as terms over shared symbols.  Terms are brought into a normal form by
// equations that hold for all values of the symbols, and equal normal forms have equal ids: so two
// values with one id are equal.  README.md lists the equations.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ir/graph.h"
#include "core/verify/arithmetic.h"

namespace octavo::verify {

// What equality of two terms means.
enum class Level {
  kExact,    // every stored element is equal
  kRounded,  // the same real function with the same clamps; only roundings between may differ
  kReal,     // the same real function; roundings and the clamps of types may differ
};

using TermId = int32_t;
inline constexpr TermId kAbsent = -1;

// A function of one stored integer of 8 or 16 bits: element i is the result for the i-th value from
// the least.
using Table = std::vector<int32_t>;

struct Interval {
  double low = 0, high = 0;
  double slack = 0;  // half a step of the type that it comes from

  bool operator==(const Interval&) const = default;
};

// scale * of + shift, per channel (axis 1).
struct Affine {
  TermId of = kAbsent;
  std::vector<double> scale = {}, shift = {};
};

struct Term {
  enum class Kind { kSymbol, kConstant, kNode, kTable, kClamp };
  Kind kind = Kind::kSymbol;
  std::string name = {};          // of a symbol; of a clamp per channel, its type
  const ir::OpDef* op = nullptr;  // of a node
  ir::AttrMap attributes = {};
  int result = 0;
  int results = 1;
  bool moves = false;    // each result element is one of operand 0's
  bool fills = false;    // ..or zero
  bool selects = false;  // each result element is one of the data operands'
  std::vector<TermId> operands = {};
  ir::PayloadPtr constant = {};
  std::shared_ptr<const Table> table = {};
  Interval clamp = {};                 // of a clamp per channel: what any channel can hold
  Interval core = {};                  // what every channel can hold; else equal to `clamp`
  std::optional<Interval> range = {};  // of the real values, where it is known; Intern sets it
  std::vector<ir::Shape> result_shapes = {};  // of a node with several results
  ir::Type type = {};  // without proven range; the expressed type below kExact
};

// Whether the term is a node of Octavo's own domain, or of ONNX's, with this op.
inline bool IsOwn(const Term& term, std::string_view op) {
  return term.kind == Term::Kind::kNode && term.op->domain == "octavo" && term.op->name == op;
}
inline bool Is(const Term& term, std::string_view op) {
  return term.kind == Term::Kind::kNode && term.op->domain.empty() && term.op->name == op;
}
inline bool IsConversion(const Term& term) {
  return IsOwn(term, "Quantize") || IsOwn(term, "Dequantize") || IsOwn(term, "Rescale");
}
// Whether a function of the type's stored integers can be enumerated.
bool HasTable(const ir::Type& type);
// Whether the list holds nothing but this number; an absent list does.
bool AllAre(int64_t number, const std::vector<int64_t>& list);

// The type's text, with every bit of every parameter.
std::string TypeKey(const ir::Type& type);
ir::Type Plain(ir::Type type);

class Terms {
 public:
  Terms(Level level, Mode mode) : level_(level), mode_(mode) {}

  const Term& term(TermId id) const { return terms_[id]; }
  TermId Symbol(const std::string& name, const ir::Type& type);
  TermId Constant(const ir::PayloadPtr& payload, const ir::Type& type);
  // Result `result` of a node whose operands have these terms.
  TermId Node(const ir::Graph& graph, const ir::Node& node, size_t result,
              const std::vector<TermId>& operands);
  // The term of a graph input that has become quantized: Quantize(symbol).
  TermId Quantized(TermId real, const ir::Type& type);
  TermId Dequantized(TermId stored);
  // Whether the terms are equal; folds constants where the ids differ.
  bool Same(TermId a, TermId b);
  // Whether they provably differ: two constants, or two tables of one operand, that are not equal.
  bool Differ(TermId a, TermId b);
  // The type as terms carry it on this level.
  ir::Type TypeOn(const ir::Type& type) const;

 private:
  // Equations that push a term below the ops of its operand take terms apart; how far is bounded,
  // so that a chain is normalized in time proportional to its length.
  struct Descent {
    Descent(Terms& terms, const Term& below);
    ~Descent();
    Terms& terms;
    bool allowed = false;
  };

  TermId Intern(Term term);
  TermId BuildNode(const ir::OpDef& op, std::vector<TermId> operands, const ir::Type& type);
  TermId Build(Term term);
  TermId BuildExact(Term term);
  TermId BuildReal(Term term);
  // Equations; kAbsent where one does not apply.
  TermId AsTable(const Term& term);
  TermId MakeTable(TermId operand, Table table, const ir::Type& type);
  TermId BelowMove(const Term& term);
  TermId Moved(const Term& term);
  TermId AboveSelection(const Term& term);
  TermId Unchanged(const Term& term);
  TermId PlainBias(const Term& term);
  TermId BelowDequantize(const Term& term);
  std::optional<Interval> ClampOf(const Term& term);
  bool OnlyMovesOnes(const Term& term) const;
  TermId FoldedAffine(const Term& term);
  std::optional<Affine> AffineOf(const Term& term) const;
  std::optional<std::vector<double>> PerChannel(TermId id, const ir::Shape& shape) const;
  std::optional<Table> TableOf(const Term& term, const ir::Type& from);
  bool KeepsZero(const Term& term) const;
  TermId Rewritten(const Term& term);
  TermId Clamped(TermId operand, const Interval& clamp);
  TermId ClampedPerChannel(TermId operand, const ir::Type& type);
  const std::optional<Interval>& RangeOf(TermId id);
  std::optional<Interval> RangeOf(const Term& term);
  // The real values of a constant.
  std::optional<std::vector<double>> ValuesOf(TermId id) const;
  std::optional<double> ScalarOf(TermId id) const;
  bool SameTo(TermId a, TermId b, int depth, int& work);
  ir::PayloadPtr Folded(TermId id, int depth = 0);
  std::optional<ir::Tensor> FoldedTerm(const Term& term, int depth);
  // Whether as many more elements may be computed.
  bool MayCompute(int64_t elements);
  std::optional<ir::Tensor> Evaluated(const Term& term, std::vector<ir::Tensor> operands);
  TermId ConstantOf(TermId id);
  bool SameConstants(TermId a, TermId b);
  std::string KeyOf(const Term& term);
  const std::string& DigestOf(const ir::PayloadPtr& payload);

  Level level_;
  Mode mode_;
  std::deque<Term> terms_;  // their addresses stay
  std::unordered_map<std::string, TermId> ids_;
  std::unordered_map<const ir::Payload*, std::pair<ir::PayloadPtr, std::string>> digests_;
  std::unordered_map<std::string, std::shared_ptr<const Table>> tables_;
  std::unordered_map<TermId, ir::PayloadPtr> folded_;
  std::map<std::pair<TermId, TermId>, bool> same_constants_;
  int64_t table_entries_ = 0, computed_elements_ = 0;
  int64_t depth_ = 0, descended_ = 0;  // of descents
};

}  // namespace octavo::verify
