// SPDX-License-Identifier: Apache-2.0
// Functions of one 8-bit or 16-bit operand as lookup tables over its whole range.
#pragma once

#include <vector>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Whether the type is 8-bit or 16-bit and quantized per tensor.
bool IsNarrowPerTensor(const ir::Type& type);

// f(q) of every stored integer q of such a type, from the lowest up.
template <class F>
std::vector<int32_t> Tabulate(const ir::Type& type, F&& f) {
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  std::vector<int32_t> results;
  results.reserve(range.max - range.min + 1);
  for (int64_t q = range.min; q <= range.max; ++q) {
    results.push_back(f(static_cast<int32_t>(q)));
  }
  return results;
}

// Prepares a node whose result is results[q - min] for each element q of input 0.
Prepared LookUp(const NodeView& view, const std::vector<int32_t>& results);

}  // namespace octavo::runtime
