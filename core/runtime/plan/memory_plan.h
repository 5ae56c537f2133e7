// SPDX-License-Identifier: Apache-2.0
// Lays out buffers of known lifetimes in one block of memory, so that buffers which are never
// alive together share bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/runtime/plan/program.h"

namespace octavo::runtime {

struct BufferLife {
  int64_t bytes = 0;
  int first = 0, last = 0;  // steps, both included
};

struct MemoryPlan {
  std::vector<int64_t> offsets = {};  // multiples of 64
  int64_t bytes = 0;
};

// The largest buffer is placed first, each as low as it fits.
MemoryPlan PlanMemory(const std::vector<BufferLife>& buffers);

// Step 5 of a plan: sets the offset of every buffer and of every step's scratch, and the size of
// the workspace.
void AssignOffsets(Program& program);

}  // namespace octavo::runtime
