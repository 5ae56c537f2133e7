// Functions of one operand's codes, each looked up in a table of all of them.
#pragma once

#include <vector>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Codes of 8 or 16 bits with one scale and zero point.
bool IsNarrowCodes(const ir::Type& type);

// All codes of such a type, from the least.
template <class F>
std::vector<int32_t> OfAllCodes(const ir::Type& type, F&& code_of) {
  const ir::CodeRange codes = ir::CodesOf(type.dtype);
  std::vector<int32_t> results;
  results.reserve(codes.max - codes.min + 1);
  for (int64_t code = codes.min; code <= codes.max; ++code) {
    results.push_back(code_of(static_cast<int32_t>(code)));
  }
  return results;
}

// Runs a node whose result element is results[code - least code] of the element of input 0 at the
// same place.
Prepared LookUp(const NodeView& view, const std::vector<int32_t>& results);

}  // namespace octavo::runtime
