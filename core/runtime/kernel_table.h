// The ordered table of kernels, fast ones first, the definition last.
#pragma once

#include <vector>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Every row, in order.
std::span<const Kernel* const> AllKernels();
// The rows for a node that match, in order; in mode `onnx` the last one is the definition, in other
// modes there may be none.
std::vector<const Kernel*> MatchingKernels(const NodeView& view);
// The first of these, or null.
const Kernel* ChooseKernel(const NodeView& view);

}  // namespace octavo::runtime
