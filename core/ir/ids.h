// SPDX-License-Identifier: Apache-2.0
// Typed indices into a Graph.  A default-constructed id is invalid: an absent optional input, or no
// producer.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace octavo::ir {

template <class Tag>
struct Id {
  int32_t index = -1;

  bool valid() const { return index >= 0; }
  explicit operator bool() const { return valid(); }
  auto operator<=>(const Id&) const = default;
};

using ValueId = Id<struct ValueTag>;
using NodeId = Id<struct NodeTag>;

}  // namespace octavo::ir

template <class Tag>
struct std::hash<octavo::ir::Id<Tag>> {
  size_t operator()(const octavo::ir::Id<Tag>& id) const { return std::hash<int32_t>()(id.index); }
};
