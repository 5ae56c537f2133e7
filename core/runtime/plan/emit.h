// SPDX-License-Identifier: Apache-2.0
// Step 4 of a plan: prepares the kernels (packs weights, builds tables) and connects the steps by
// slots.
#pragma once

#include "core/runtime/plan/layouts.h"

namespace octavo::runtime {

// Returns a program without workspace offsets for its buffers and scratch.
Result<Program> EmitProgram(const ir::Graph& graph, const FixedValues& constants,
                            const Grouping& grouping, const Schedule& schedule,
                            const numerics::Mode& numerics, ThreadPool& pool);

}  // namespace octavo::runtime
