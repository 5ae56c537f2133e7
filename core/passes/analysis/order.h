// SPDX-License-Identifier: Apache-2.0
// Order-dependent ops (OpDef::depends_on_order): their results are indices, bools or selections
// that comparing elements decides, so an element that moves by one LSB can change them by any
// amount.  A rounding that they see, directly or through data movement, is dropped below
// `new-parameters` only where the order is proved to stay, by enumeration.
#pragma once

#include <string>
#include <vector>

#include "core/ir/graph.h"
#include "core/numerics/mode.h"
#include "core/passes/analysis/rescale_chain.h"

namespace octavo::passes {

// Whether comparing the elements of an operand decides results of the node.  An op that also moves
// elements (TopK, MaxPool) counts only if a result other than the moved elements is used.
bool DependsOnOrder(const ir::Graph& graph, const ir::Node& node);

// Whether the node only compares elements for equality.
bool TestsEquality(const ir::Node& node);

// Whether the node reads the order of elements of any type, and has no elements of its own: it
// compares the real values of a quantized operand.
bool ReadsOnlyOrder(const ir::Node& node, int input);

// Which values an order-dependent op may follow, on any way through the graph.  A pass that moves
// and merges Rescales may ask about the graph as it was: every new way begins where one led before.
class OrderFollows {
 public:
  explicit OrderFollows(const ir::Graph& graph);
  // True for a value that was added since.
  bool operator()(ir::ValueId id) const {
    return static_cast<size_t>(id.index) >= follows_.size() || follows_[id.index];
  }

 private:
  std::vector<bool> follows_;
};

// The value whose elements `value` has in another place or, past a Dequantize, as real values:
// the end of the way up through ops that move one data operand.
ir::ValueId SourceOf(const ir::Graph& graph, ir::ValueId value);

// "" if no order-dependent op that reads `value`, directly or through data movement, Dequantize or
// Rescale, can give other results when the chain of Rescales `after` computes the value instead of
// `before`, both from the same operand; else the reason.  The elements of the value are the last
// type's, dequantized where the value is real.
std::string WhyOrderChanges(const ir::Graph& graph, const numerics::Mode& mode, ir::ValueId value,
                            RescaleChain before, RescaleChain after);

// The same if how the elements change cannot be enumerated: "" only without such a consumer.
std::string WhyOrderChanges(const ir::Graph& graph, ir::ValueId value);

// The same of one consumer that reads `use` itself.
std::string WhyOrderChanges(const ir::Graph& graph, const numerics::Mode& mode, const ir::Use& use,
                            RescaleChain before, RescaleChain after);

}  // namespace octavo::passes
