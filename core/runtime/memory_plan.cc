#include "core/runtime/memory_plan.h"

#include <algorithm>
#include <numeric>

namespace octavo::runtime {
namespace {

constexpr int64_t kAlignment = 64;
// Kernels may read a little past the end of an operand.
constexpr int64_t kSlack = 64;

int64_t Padded(int64_t bytes) {
  return (bytes + kSlack + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

MemoryPlan PlanMemory(const std::vector<BufferLife>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return buffers[a].bytes > buffers[b].bytes; });
  MemoryPlan plan{std::vector<int64_t>(buffers.size(), 0), 0};
  std::vector<size_t> placed;  // by offset
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

}  // namespace octavo::runtime
