// SPDX-License-Identifier: Apache-2.0
// The node that this process computes now, so that the report of a crash can name it.  If several
// threads compute nodes at once, it is the last one that began, or none.
#pragma once

#include <atomic>
#include <string>

namespace octavo {

class CurrentNode {
 public:
  // `name` must outlive this object.
  explicit CurrentNode(const std::string& name) { name_.store(&name, std::memory_order_relaxed); }
  ~CurrentNode() { name_.store(nullptr, std::memory_order_relaxed); }
  CurrentNode(const CurrentNode&) = delete;
  CurrentNode& operator=(const CurrentNode&) = delete;

  // Null outside of a node.  May be called by a signal handler.
  static const std::string* Name() { return name_.load(std::memory_order_relaxed); }

 private:
  static inline std::atomic<const std::string*> name_ = nullptr;
};

}  // namespace octavo
