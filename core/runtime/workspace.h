// SPDX-License-Identifier: Apache-2.0
// The memory of active runs, reused by later runs.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/runtime/plan/program.h"

namespace octavo::runtime {

// The memory of one run: its bytes, and a tensor over them for each slot of the program.
struct Workspace {
  std::shared_ptr<std::byte> memory = {};
  std::vector<ir::Tensor> slots = {};
  // Buffer for a value in the graph's layout if its slot has another layout.
  std::shared_ptr<std::byte> plain = {};
  int64_t plain_bytes = 0;

  explicit Workspace(const Program& program);
  // A tensor over `plain`; its elements are arbitrary.
  ir::Tensor Plain(ir::DType dtype, const ir::Shape& shape);
};

class Workspaces {
 public:
  std::unique_ptr<Workspace> Take(const Program& program);
  void Return(std::unique_ptr<Workspace> workspace);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace octavo::runtime
