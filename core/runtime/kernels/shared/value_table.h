// SPDX-License-Identifier: Apache-2.0
// Functions of one 8-bit or 16-bit operand as lookup tables over its whole range.
#pragma once

#include <vector>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// 8-bit or 16-bit, quantized per tensor.
bool IsNarrowCodes(const ir::Type& type);

// f of all stored integers of such a type, from the minimum.
template <class F>
std::vector<int32_t> OfAllCodes(const ir::Type& type, F&& code_of) {
  const ir::IntegerRange codes = ir::IntegerRangeOf(type.dtype);
  std::vector<int32_t> results;
  results.reserve(codes.max - codes.min + 1);
  for (int64_t code = codes.min; code <= codes.max; ++code) {
    results.push_back(code_of(static_cast<int32_t>(code)));
  }
  return results;
}

// Prepares a node whose result is results[q - min] of each element q of input 0.
Prepared LookUp(const NodeView& view, const std::vector<int32_t>& results);

}  // namespace octavo::runtime
