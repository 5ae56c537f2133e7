// SPDX-License-Identifier: Apache-2.0
// Collects the ranges of a value's channels.
#pragma once

#include "core/base/parallel.h"
#include "core/ir/tensor.h"
#include "core/profile/profile.h"

namespace octavo::profile {

// Ranges without elements, for so many channels.
ChannelRanges EmptyRanges(int axis, int64_t channels);

// Extends the ranges by the finite elements of an f32 tensor, which has as many channels.
void AddTo(ChannelRanges& ranges, const ir::Tensor& tensor, ThreadPool& pool);

// Extends `into` by the ranges of other elements of the same value; false, and no change, if they
// are of other channels.
bool Merge(const ChannelRanges& from, ChannelRanges& into);

}  // namespace octavo::profile
