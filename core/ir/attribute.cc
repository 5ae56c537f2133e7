// SPDX-License-Identifier: Apache-2.0
#include "core/ir/attribute.h"

#include <algorithm>

namespace octavo::ir {
namespace {

bool Same(const Attribute& a, const Attribute& b) {
  const auto* left = std::get_if<PayloadPtr>(&a);
  const auto* right = std::get_if<PayloadPtr>(&b);
  if (left && right) return (*left)->tensor == (*right)->tensor;
  return a == b;
}

}  // namespace

bool AttrMap::operator==(const AttrMap& other) const {
  return std::equal(begin(), end(), other.begin(), other.end(), [](const auto& a, const auto& b) {
    return a.first == b.first && Same(a.second, b.second);
  });
}

}  // namespace octavo::ir
