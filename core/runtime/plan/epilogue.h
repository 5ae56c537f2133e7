// SPDX-License-Identifier: Apache-2.0
// The epilogue of a kernel: the nodes fused into its step, which run while the result is in
// registers or in cache.  In this order: an Add (fused_add.h), a lookup table, a store to a slice
// of a Concat (inplace_concat.h).  The bits are those of the separate ops.
#pragma once

#include <optional>

#include "core/runtime/plan/fused_add.h"
#include "core/runtime/plan/inplace_concat.h"

namespace octavo::runtime {

struct FusedTable {
  ir::NodeId node = {};
  int8::LookupTable lookup = {};
};

struct Epilogue {
  std::optional<FusedAdd> add = {};
  std::optional<FusedTable> table = {};
  std::optional<ConcatSlice> slice = {};

  // The last fused node; invalid if there is none or only a slice.
  ir::NodeId last() const { return table ? table->node : add ? add->node : ir::NodeId{}; }
  std::optional<int8::ResidualAdd> residual() const {
    return add ? std::optional(add->residual) : std::nullopt;
  }
  std::optional<int8::LookupTable> lookup() const {
    return table ? std::optional(table->lookup) : std::nullopt;
  }
};

// The name of a step of `op` with that epilogue: `Conv+Add`.
std::string_view FusedName(std::string_view op, const Epilogue& epilogue);

// The only consumer of the value, if it is a function of one 8-bit operand that a lookup table can
// compute.
Result<std::optional<FusedTable>> FusableTable(const NodeView& view, ir::ValueId value,
                                               ThreadPool& pool);

}  // namespace octavo::runtime
