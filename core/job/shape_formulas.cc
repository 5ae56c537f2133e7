// SPDX-License-Identifier: Apache-2.0
#include "core/job/shape_formulas.h"

#include <algorithm>
#include <numeric>

#include "core/ops/op_table.h"

namespace octavo::job {
namespace {

using ir::NodeId;
using ir::Shape;
using ir::ValueId;

// Larger numbers are no sizes; sums and products of smaller ones fit in 64 bits.
constexpr int64_t kMostExtent = int64_t{1} << 30;

bool AreExtents(const std::vector<int64_t>& series) {
  return std::ranges::all_of(
      series, [](int64_t each) { return each >= -kMostExtent && each <= kMostExtent; });
}

bool Varies(const std::vector<int64_t>& series) {
  return std::ranges::count(series, series.front()) != std::ssize(series);
}

const ir::OpDef* Op(std::string_view name) { return ops::FindOp(name, ""); }

}  // namespace

ShapeFormulas::ShapeFormulas(ir::Graph& graph, std::span<const ir::Graph* const> sized)
    : graph_(graph), sized_(sized) {
  for (const NodeId id : graph.nodes()) node_names_.insert(graph.node(id).name);
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const auto rank = static_cast<int64_t>(graph.type(graph.inputs()[i]).shape.size());
    for (int64_t axis = 0; axis < rank; ++axis) {
      Extent extent{.value = graph.inputs()[i], .axis = axis};
      for (const ir::Graph* at : sized_) {
        extent.series.push_back(at->type(at->inputs()[i]).shape[static_cast<size_t>(axis)]);
      }
      const bool known = std::ranges::count(inputs_, extent.series, &Extent::series) > 0;
      if (Varies(extent.series) && AreExtents(extent.series) && !known) {
        inputs_.push_back(std::move(extent));
      }
    }
  }
}

// Empty if a size lacks the value or the axis.
ShapeFormulas::Series ShapeFormulas::ExtentsOf(std::string_view name, int64_t axis) const {
  Series series;
  for (const ir::Graph* at : sized_) {
    const ValueId value = at->Find(name);
    if (!value || axis >= std::ssize(at->type(value).shape)) return {};
    series.push_back(at->type(value).shape[static_cast<size_t>(axis)]);
  }
  return series;
}

// ---------------------------------------------------------------- fitting

std::optional<ShapeFormulas::Term> ShapeFormulas::FitLine(const Series& series) const {
  for (const Extent& extent : inputs_) {
    const Series& x = extent.series;
    size_t j = 1;
    while (x[j] == x[0]) ++j;
    const int64_t rise = series[j] - series[0], run = x[j] - x[0];
    if (rise == 0 || (rise % run != 0 && run % rise != 0)) continue;
    Term term{.factors = {extent}};
    if (rise % run == 0) {
      term.scale = rise / run;
    } else {
      term.divisor = run / rise;
    }
    // Rounding down, if anything, is what models do.
    const auto value = [&](int64_t at) { return term.scale * at / term.divisor; };
    if (term.divisor < 0) continue;
    term.offset = series[0] - value(x[0]);
    bool fits = true;
    for (size_t i = 0; i < series.size(); ++i) fits &= series[i] == value(x[i]) + term.offset;
    if (fits) return term;
  }
  return std::nullopt;
}

std::optional<ShapeFormulas::Term> ShapeFormulas::FitProduct(const Series& series) const {
  constexpr size_t kMostFactors = 3;
  std::vector<Term> open;
  for (const Extent& extent : inputs_) open.push_back({.factors = {extent}});
  const auto fits = [&](Term& term) {
    for (size_t i = 0; i < series.size(); ++i) {
      int64_t product = 1;
      for (const Extent& factor : term.factors) {
        const int64_t extent = factor.series[i];
        if (extent <= 0 || product > kMostExtent / extent) return false;
        product *= extent;
      }
      if (series[i] <= 0) return false;
      if (i == 0) {
        const int64_t common = std::gcd(series[0], product);
        term.scale = series[0] / common;
        term.divisor = product / common;
      }
      if (series[i] * term.divisor != term.scale * product) return false;
    }
    return true;
  };
  for (size_t factors = 2; factors <= kMostFactors; ++factors) {
    std::vector<Term> longer;
    for (const Term& term : open) {
      const auto last = std::ranges::find(inputs_, term.factors.back().series, &Extent::series);
      for (auto next = last + 1; next < inputs_.end(); ++next) {
        Term product = term;
        product.factors.push_back(*next);
        if (fits(product)) return product;
        longer.push_back(std::move(product));
      }
    }
    open = std::move(longer);
  }
  return std::nullopt;
}

// An extent of a value that is known before the constant's first consumer.
std::optional<ShapeFormulas::Term> ShapeFormulas::FindExtent(const Series& series,
                                                             ValueId constant) const {
  const NodeId first = graph_.Consumers(constant).front();
  for (const NodeId id : graph_.nodes()) {
    if (id == first) break;
    for (const ValueId result : graph_.node(id).results) {
      const auto rank = std::ssize(graph_.type(result).shape);
      for (int64_t axis = 0; axis < rank; ++axis) {
        if (graph_.type(result).shape[static_cast<size_t>(axis)] != series.front()) continue;
        if (ExtentsOf(graph_.name(result), axis) == series) {
          return Term{.factors = {{.value = result, .axis = axis, .series = series}}};
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<ShapeFormulas::Term> ShapeFormulas::Fit(const Series& series,
                                                      ValueId constant) const {
  if (!AreExtents(series)) return std::nullopt;
  if (const auto term = FitLine(series)) return term;
  if (const auto term = FitProduct(series)) return term;
  return FindExtent(series, constant);
}

bool ShapeFormulas::IsReshapeTarget(ValueId constant) const {
  return std::ranges::all_of(graph_.value(constant).uses, [&](const ir::Use& use) {
    const ir::Node& node = graph_.node(use.node);
    return node.op == Op("Reshape") && use.input == 1 && node.attributes.Int("allowzero", 0) == 0;
  });
}

bool ShapeFormulas::KeepsExtent(ValueId constant, int64_t axis, const Series& series) const {
  return std::ranges::all_of(graph_.value(constant).uses, [&](const ir::Use& use) {
    return ExtentsOf(graph_.name(graph_.node(use.node).input(0)), axis) == series;
  });
}

std::optional<std::vector<ShapeFormulas::Term>> ShapeFormulas::TermsOf(
    ValueId constant, const std::vector<Series>& series) const {
  const bool reshapes = IsReshapeTarget(constant);
  std::vector<Term> terms(series.size());
  std::vector<size_t> open;
  bool remaining = false;  // an element is -1
  for (size_t i = 0; i < series.size(); ++i) {
    const bool varies = Varies(series[i]);
    if (!varies) terms[i].literal = series[i].front();
    remaining |= !varies && series[i].front() == -1;
    if (!varies || (reshapes && KeepsExtent(constant, static_cast<int64_t>(i), series[i]))) {
      continue;
    }
    open.push_back(i);
  }
  if (open.size() == 1 && reshapes && !remaining) {
    terms[open.front()].literal = -1;
    return terms;
  }
  for (const size_t i : open) {
    if (auto term = Fit(series[i], constant)) {
      terms[i] = *std::move(term);
    } else if (reshapes && !remaining) {
      terms[i].literal = -1;
      remaining = true;
    } else {
      return std::nullopt;
    }
  }
  return terms;
}

bool ShapeFormulas::Generalize(ValueId constant, const SizedElements& elements) {
  const ir::Type type = graph_.type(constant);
  if (type.dtype != ir::DType::kI64 || type.shape.size() > 1) return false;
  if (graph_.IsOutput(constant) || graph_.value(constant).uses.empty()) return false;
  std::vector<Series> series(elements.front().size());
  for (const std::vector<int64_t>& at_size : elements) {
    if (at_size.size() != series.size()) return false;
    for (size_t i = 0; i < series.size(); ++i) series[i].push_back(at_size[i]);
  }
  const auto terms = TermsOf(constant, series);
  if (!terms) return false;
  Define(constant, *terms);
  return true;
}

// ---------------------------------------------------------------- writing

std::string ShapeFormulas::Fresh(const std::string& name) const {
  std::string fresh = name;
  for (int i = 1; graph_.Find(fresh) || node_names_.contains(fresh); ++i) {
    fresh = fmt::format("{}_{}", name, i);
  }
  return fresh;
}

ValueId ShapeFormulas::Ints(const std::string& name, const Shape& shape,
                            std::vector<int64_t> values) {
  return graph_.AddConstant(Fresh(name), ir::Tensor::Of<int64_t>(shape, values));
}

ValueId ShapeFormulas::Insert(std::string_view op, std::vector<ValueId> inputs,
                              const std::string& name, const Shape& shape) {
  const std::string fresh = Fresh(name);
  node_names_.insert(fresh);
  const NodeId id =
      graph_.InsertBefore(before_, {.name = fresh,
                                    .op = Op(op),
                                    .inputs = std::move(inputs),
                                    .results = {{fresh, {ir::DType::kI64, shape, {}, {}}}}});
  return graph_.node(id).result();
}

ValueId ShapeFormulas::ShapeOf(ValueId value) {
  if (const auto known = shapes_.find(value); known != shapes_.end()) return known->second;
  const std::string name = Fresh(graph_.name(value) + ".extents");
  node_names_.insert(name);
  const auto rank = std::ssize(graph_.type(value).shape);
  const ir::Graph::Definition definition{.name = name,
                                         .op = Op("Shape"),
                                         .inputs = {value},
                                         .results = {{name, {ir::DType::kI64, {rank}, {}, {}}}}};
  const NodeId producer = graph_.value(value).producer;
  const NodeId id = producer ? graph_.InsertAfter(producer, definition)
                             : graph_.InsertBefore(graph_.first(), definition);
  return shapes_[value] = graph_.node(id).result();
}

ValueId ShapeFormulas::Compute(const Term& term, const std::string& name, const Shape& shape) {
  ValueId product;
  for (const Extent& factor : term.factors) {
    const ValueId extents = ShapeOf(factor.value);
    const std::string extent = fmt::format("{}.extent", name);
    const ValueId axis = Ints(extent + ".axis", shape, {factor.axis});
    const ValueId next = Insert("Gather", {extents, axis}, extent, shape);
    product = product ? Insert("Mul", {product, next}, name + ".product", shape) : next;
  }
  if (term.scale != 1) {
    const ValueId scale = Ints(name + ".scale", shape, {term.scale});
    product = Insert("Mul", {product, scale}, name + ".scaled", shape);
  }
  if (term.divisor != 1) {
    const ValueId divisor = Ints(name + ".divisor", shape, {term.divisor});
    product = Insert("Div", {product, divisor}, name + ".quotient", shape);
  }
  if (term.offset != 0) {
    const ValueId offset = Ints(name + ".offset", shape, {term.offset});
    product = Insert("Add", {product, offset}, name + ".sum", shape);
  }
  return product;
}

void ShapeFormulas::Define(ValueId constant, const std::vector<Term>& terms) {
  const std::string name = graph_.name(constant);
  const ir::Type type = graph_.type(constant);
  if (std::ranges::all_of(terms, [](const Term& term) { return term.factors.empty(); })) {
    std::vector<int64_t> literals;
    for (const Term& term : terms) literals.push_back(term.literal);
    ir::Tensor tensor = ir::Tensor::Of<int64_t>(type.shape, literals);
    graph_.SetPayload(constant, ir::MakePayload(std::move(tensor)), type);
    return;
  }
  before_ = graph_.Consumers(constant).front();
  const bool list = !type.shape.empty();
  std::vector<ValueId> parts;
  for (size_t i = 0; i < terms.size(); ++i) {
    const std::string part = list ? fmt::format("{}.{}", name, i) : name;
    if (!terms[i].factors.empty()) {
      parts.push_back(Compute(terms[i], part, list ? Shape{1} : Shape{}));
      continue;
    }
    std::vector<int64_t> literals;
    while (i < terms.size() && terms[i].factors.empty()) literals.push_back(terms[i++].literal);
    --i;
    const auto count = std::ssize(literals);
    parts.push_back(Ints(part, {count}, std::move(literals)));
  }
  std::string node = name;
  for (int i = 1; node_names_.contains(node); ++i) node = fmt::format("{}_{}", name, i);
  node_names_.insert(node);
  ir::AttrMap attributes;
  if (list) attributes.Set("axis", int64_t{0});
  graph_.DefineAsNode(constant, {.name = node,
                                 .op = Op(list ? "Concat" : "Identity"),
                                 .inputs = std::move(parts),
                                 .attributes = std::move(attributes)});
}

}  // namespace octavo::job
