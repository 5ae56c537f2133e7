// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/plan/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace octavo::runtime {
namespace {

constexpr int64_t kAlignment = 64;
// Kernels may read up to this many bytes past the end of an operand.
constexpr int64_t kSlack = 64;

int64_t Padded(int64_t bytes) {
  return (bytes + kSlack + kAlignment - 1) / kAlignment * kAlignment;
}

// A slot is alive from the first step that writes it to the last step that reads or writes it.
void SetLifetimes(Program& program) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const Step& step = program.steps[s];
    for (const int slot : step.results) {
      Slot& written = program.slots[slot];
      if (written.first < 0) written.first = static_cast<int>(s);
      written.last = static_cast<int>(s);
    }
    for (const int slot : step.inputs) {
      if (slot >= 0) program.slots[slot].last = static_cast<int>(s);
    }
  }
}

}  // namespace

MemoryPlan PlanMemory(const std::vector<BufferLife>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  MemoryPlan plan{std::vector<int64_t>(buffers.size(), 0), 0};
  std::vector<size_t> placed;  // sorted by offset
  for (const size_t index : order) {
    const BufferLife& buffer = buffers[index];
    int64_t offset = 0;
    for (const size_t other : placed) {
      if (buffers[other].last < buffer.first || buffer.last < buffers[other].first) continue;
      if (offset + Padded(buffer.bytes) <= plan.offsets[other]) break;
      offset = std::max(offset, plan.offsets[other] + Padded(buffers[other].bytes));
    }
    plan.offsets[index] = offset;
    plan.bytes = std::max(plan.bytes, offset + Padded(buffer.bytes));
    const auto at = std::ranges::upper_bound(placed, offset, {},
                                             [&](size_t other) { return plan.offsets[other]; });
    placed.insert(at, index);
  }
  return plan;
}

void AssignOffsets(Program& program) {
  SetLifetimes(program);
  std::vector<BufferLife> lives;
  std::vector<int64_t*> offsets;
  for (Slot& slot : program.slots) {
    if (slot.kind != Slot::Kind::kBuffer) continue;
    const int64_t bytes = ir::NumElements(slot.shape) * ir::SizeOf(slot.dtype);
    lives.push_back({bytes, slot.first, slot.last});
    offsets.push_back(&slot.offset);
  }
  for (size_t s = 0; s < program.steps.size(); ++s) {
    Step& step = program.steps[s];
    if (step.prepared.scratch_bytes == 0) continue;
    lives.push_back({step.prepared.scratch_bytes, static_cast<int>(s), static_cast<int>(s)});
    offsets.push_back(&step.scratch_offset);
  }
  const MemoryPlan plan = PlanMemory(lives);
  for (size_t i = 0; i < offsets.size(); ++i) *offsets[i] = plan.offsets[i];
  program.workspace_bytes = plan.bytes;
}

}  // namespace octavo::runtime
