// Samples drawn from a profile, for a report without data.
#pragma once

#include "core/data/samples.h"
#include "core/ir/graph.h"
#include "core/profile/profile.h"

namespace octavo::job {

// `count` batches: an input's elements follow its histogram, or are even between its min and max;
// an input that the profile does not know is even in [-1, 1), an integer one small.  Equal seeds
// give equal bits on every machine.
data::Samples DrawSamples(const ir::Graph& graph, const profile::Profile& profile, uint64_t seed,
                          int64_t count);

}  // namespace octavo::job
