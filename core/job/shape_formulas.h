// SPDX-License-Identifier: Apache-2.0
// Computes a constant that depends on the sizes of inputs (the target of a Reshape, the ends of a
// Slice) from those sizes.
#pragma once

#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/ir/graph.h"

namespace octavo::job {

// The elements of an integer constant, at each size.
using SizedElements = std::vector<std::vector<int64_t>>;

class ShapeFormulas {
 public:
  // `sized`: the prepared model at each size, the graph's own size first.  They give the extents of
  // values, by name.  All must outlive the object.
  ShapeFormulas(ir::Graph& graph, std::span<const ir::Graph* const> sized);

  // Replaces the constant by one that holds at every size (a Reshape also takes 0 for its operand's
  // extent and -1 for the remaining one) or by nodes that compute it from Shape.  The name stays.
  // Returns false, and changes nothing, if no formula gives the elements.
  bool Generalize(ir::ValueId constant, const SizedElements& elements);

 private:
  using Series = std::vector<int64_t>;  // a number at each size
  struct Extent {
    ir::ValueId value = {};
    int64_t axis = 0;
    Series series = {};
  };
  // literal; or scale * the product of the factors / divisor + offset.
  struct Term {
    int64_t literal = 0;
    std::vector<Extent> factors = {};
    int64_t scale = 1, divisor = 1, offset = 0;
  };

  Series ExtentsOf(std::string_view name, int64_t axis) const;
  std::optional<Term> Fit(const Series& series, ir::ValueId constant) const;
  std::optional<Term> FitLine(const Series& series) const;
  std::optional<Term> FitProduct(const Series& series) const;
  std::optional<Term> FindExtent(const Series& series, ir::ValueId constant) const;
  // Whether every consumer reads the constant as the target of a Reshape in which 0 stands for the
  // operand's extent.
  bool IsReshapeTarget(ir::ValueId constant) const;
  bool KeepsExtent(ir::ValueId constant, int64_t axis, const Series& series) const;
  std::optional<std::vector<Term>> TermsOf(ir::ValueId constant,
                                           const std::vector<Series>& series) const;

  void Define(ir::ValueId constant, const std::vector<Term>& terms);
  ir::ValueId Compute(const Term& term, const std::string& name, const ir::Shape& shape);
  ir::ValueId ShapeOf(ir::ValueId value);
  ir::ValueId Insert(std::string_view op, std::vector<ir::ValueId> inputs, const std::string& name,
                     const ir::Shape& shape);
  ir::ValueId Ints(const std::string& name, const ir::Shape& shape, std::vector<int64_t> values);
  // The name, or the name with a number if a value or a node of the graph has it.
  std::string Fresh(const std::string& name) const;

  ir::Graph& graph_;
  std::span<const ir::Graph* const> sized_;
  std::vector<Extent> inputs_;  // those that differ between the sizes
  std::unordered_map<ir::ValueId, ir::ValueId> shapes_;
  std::unordered_set<std::string> node_names_;
  ir::NodeId before_ = {};
};

}  // namespace octavo::job
