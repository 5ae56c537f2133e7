// SPDX-License-Identifier: Apache-2.0
// Stores i8 activations as u8, which the integer products read without a copy.  Stored integers and
// zero points are 128 higher; scales and real values are unchanged.
#pragma once

#include "core/ir/graph.h"

namespace octavo::runtime {

// The values that can be stored as u8: computed per-tensor i8 values whose stored integers are not
// visible outside, and constants that are added to them.  Mode `onnx` rounds before it adds a zero
// point, so the results of the graph have the same bits.  Of values connected by a same-scale op,
// all are listed or none.
std::vector<ir::ValueId> SignedActivationsOf(const ir::Graph& graph);

// Changes the type of those values to u8.
void StoreAsUnsigned(std::span<const ir::ValueId> values, ir::Graph& graph);

// Converts such a value back to i8.
ir::Tensor AsSigned(const ir::Tensor& stored);

}  // namespace octavo::runtime
