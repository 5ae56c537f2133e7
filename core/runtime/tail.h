// What follows a node and may be done by its own step, while its result is near: an Add
// (addition.h), then a function of each code, then its place in a joined image (joined.h).  The
// bits are those of the ops, one after the other.
#pragma once

#include <optional>

#include "core/runtime/addition.h"
#include "core/runtime/joined.h"

namespace octavo::runtime {

struct FollowingTable {
  ir::NodeId node = {};
  int8::CodeMap map = {};
};

struct Tail {
  std::optional<FollowingAdd> add = {};
  std::optional<FollowingTable> table = {};
  std::optional<JoinedPart> part = {};

  // The last node whose op it does; none if there is only a part, or nothing.
  ir::NodeId last() const { return table ? table->node : add ? add->node : ir::NodeId{}; }
  std::optional<int8::Addition> addition() const {
    return add ? std::optional(add->addition) : std::nullopt;
  }
  std::optional<int8::CodeMap> map() const {
    return table ? std::optional(table->map) : std::nullopt;
  }
};

// What a step of `op` with that tail is called, `Conv+Add`.
std::string_view NameWithTail(std::string_view op, const Tail& tail);

// The function of one operand that alone reads the value, if it is a table of 8-bit codes.
Result<std::optional<FollowingTable>> TableAfter(const NodeView& view, ir::ValueId value,
                                                 ThreadPool& pool);

}  // namespace octavo::runtime
