// SPDX-License-Identifier: Apache-2.0
// Samples drawn from a profile, for a report without data.
#pragma once

#include "core/data/samples.h"
#include "core/ir/graph.h"
#include "core/profile/profile.h"

namespace octavo::job {

// Draws `count` batches.  An input's elements follow its histogram, else are uniform between its
// min and max, or in [-1, 1) if it has no entry; integer inputs get small numbers.  Equal seeds
// give equal bits on every machine.
data::Samples DrawSamples(const ir::Graph& graph, const profile::Profile& profile, uint64_t seed,
                          int64_t count);

}  // namespace octavo::job
