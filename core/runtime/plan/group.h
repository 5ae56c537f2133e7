// SPDX-License-Identifier: Apache-2.0
// Step 2 of a plan: decides which nodes run together.  Every node of the graph belongs to exactly
// one group, and a group becomes one step.
//
// Fusion rules, in the order in which they apply to a node; none applies if all values are kept:
//   1. A node that a kernel computes is fused with its only consumer if that is an Add of 8-bit
//      tensors and the kernel supports it (fused_add.h).  Of two producers of one Add, the first
//      fuses it; the result of the other is the addend.
//   2. The result so far is fused with its only consumer if that is a function of one 8-bit
//      operand, which becomes a lookup table (epilogue.h).
//   3. The final result is stored to its slice of an in-place Concat if that is its only consumer
//      and concatenates channels (inplace_concat.h).
//   4. A node that rearranges elements in a way known at plan time is a lazy view (view.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/runtime/plan/epilogue.h"
#include "core/runtime/plan/program.h"
#include "core/runtime/plan/view.h"

namespace octavo::runtime {

struct Group {
  enum class Kind {
    kConstant,       // evaluated by FoldConstants; nothing runs
    kKernel,         // `kernel` computes `node` and then `epilogue`
    kInPlaceConcat,  // a Concat; producers store some operands to its result
    kView,           // a lazy view: copied only if a consumer needs it
  };
  Kind kind = Kind::kKernel;
  ir::NodeId node = {};
  const Kernel* kernel = nullptr;   // kKernel
  Epilogue epilogue = {};           // kKernel
  std::vector<bool> in_place = {};  // kInPlaceConcat: operands that need no copy

  // The node whose results the group computes: the last one of the epilogue, or `node`.
  ir::NodeId last() const { return epilogue.last() ? epilogue.last() : node; }
};

struct Grouping {
  std::vector<Group> groups = {};  // in order of computation
  std::map<ir::ValueId, LazyView> views = {};
};

// `constants` is the result of FoldConstants.  kUnimplemented names a node that no kernel computes
// in the mode.
Result<Grouping> GroupNodes(const ir::Graph& graph, const FixedValues& constants,
                            const ProgramOptions& options, ThreadPool& pool);

// Prints one line per group:
//   w: constant
//   c1: Conv + Add(%x) + Relu [int8-conv], into %cat at channel 32
//   cat: Concat in place, copies %b
//   flat: Reshape, view of %cat
std::string Print(const ir::Graph& graph, const Grouping& grouping);

}  // namespace octavo::runtime
