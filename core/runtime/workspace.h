// The memory of runs that go on, kept for the runs that follow.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/runtime/program.h"

namespace octavo::runtime {

// Of one run: its bytes, and a tensor over them for each slot of the program.
struct Workspace {
  std::shared_ptr<std::byte> memory = {};
  std::vector<ir::Tensor> slots = {};
  // A value in the graph's own layout, where its slot has another.
  std::shared_ptr<std::byte> plain = {};
  int64_t plain_bytes = 0;

  explicit Workspace(const Program& program);
  // A tensor over `plain`, whose elements are arbitrary.
  ir::Tensor Plain(ir::DType dtype, const ir::Shape& shape);
};

class Workspaces {
 public:
  std::unique_ptr<Workspace> Take(const Program& program);
  void GiveBack(std::unique_ptr<Workspace> workspace);

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Workspace>> idle_;
};

}  // namespace octavo::runtime
