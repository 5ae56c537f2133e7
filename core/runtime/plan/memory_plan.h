// SPDX-License-Identifier: Apache-2.0
// Allocates buffers with known lifetimes in one block of memory, so that buffers that are never
// alive together may share bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/runtime/plan/program.h"

namespace octavo::runtime {

struct BufferLife {
  int64_t bytes = 0;
  int first = 0, last = 0;  // steps, both inclusive
};

struct MemoryPlan {
  std::vector<int64_t> offsets = {};  // multiples of 64
  int64_t bytes = 0;
};

// Places the largest buffer first, and each buffer at the lowest offset that fits.
MemoryPlan PlanMemory(const std::vector<BufferLife>& buffers);

// Step 5 of a plan: sets the offset of every buffer and of every step's scratch, and the size of
// the workspace.
void AssignOffsets(Program& program);

}  // namespace octavo::runtime
