// SPDX-License-Identifier: Apache-2.0
// The ordered table of kernels: fast ones first, the definition last.
#pragma once

#include <vector>

#include "core/runtime/kernel.h"

namespace octavo::runtime {

// Every kernel, in order.
std::span<const Kernel* const> AllKernels();
// The kernels that match a node, in order.  In mode `onnx` the last one is the definition; in other
// modes the list may be empty.
std::vector<const Kernel*> MatchingKernels(const NodeView& view);
// The first kernel that matches, or null.
const Kernel* ChooseKernel(const NodeView& view);
// The error for a node that no kernel computes in its numerics mode.
Failure NoKernel(const NodeView& view);

}  // namespace octavo::runtime
