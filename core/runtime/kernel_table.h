// The ordered table of kernels, fast ones first, the definition last.
#pragma once

#include <vector>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Every row, in order.
std::span<const Kernel* const> AllKernels();
// The rows for a node that match, in order; the last one is the definition.
std::vector<const Kernel*> MatchingKernels(const NodeView& view);
// The first of these.
const Kernel& ChooseKernel(const NodeView& view);

}  // namespace octavo::runtime
