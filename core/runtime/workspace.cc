// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/workspace.h"

#include <cstdlib>
#include <new>

namespace octavo::runtime {
namespace {

std::shared_ptr<std::byte> Allocate(int64_t bytes) {
  constexpr int64_t kAlignment = 64;
  const int64_t size = (bytes + kAlignment) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, static_cast<size_t>(size));
  if (memory == nullptr) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [](std::byte* data) { std::free(data); }};
}

}  // namespace

Workspace::Workspace(const Program& program) : memory(Allocate(program.workspace_bytes)) {
  for (const Slot& slot : program.slots) {
    switch (slot.kind) {
      case Slot::Kind::kFixed:
        slots.push_back(slot.fixed);
        break;
      case Slot::Kind::kBuffer:
        slots.emplace_back(slot.dtype, slot.shape, memory, memory.get() + slot.offset);
        break;
      case Slot::Kind::kInput:
      case Slot::Kind::kOutput:
        slots.emplace_back();
        break;
    }
  }
}

ir::Tensor Workspace::Plain(ir::DType dtype, const ir::Shape& shape) {
  const int64_t bytes = ir::NumElements(shape) * ir::SizeOf(dtype);
  if (bytes > plain_bytes || plain == nullptr) {
    plain = nullptr;
    plain = Allocate(bytes);
    plain_bytes = bytes;
  }
  return {dtype, shape, plain, plain.get()};
}

std::unique_ptr<Workspace> Workspaces::Take(const Program& program) {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      auto workspace = std::move(idle_.back());
      idle_.pop_back();
      return workspace;
    }
  }
  return std::make_unique<Workspace>(program);
}

void Workspaces::Return(std::unique_ptr<Workspace> workspace) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(workspace));
}

}  // namespace octavo::runtime
