// SPDX-License-Identifier: Apache-2.0
// Draws samples from a profile, for a report without calibration data.
#pragma once

#include "core/data/samples.h"
#include "core/ir/graph.h"
#include "core/profile/profile.h"

namespace octavo::job {

// Draws `count` batches.  An input's elements follow its histogram.  Without a histogram they are
// uniform between its min and max, and without an entry uniform in [-1, 1).  Integer inputs get
// small numbers.  Equal seeds give equal bits on every machine.  A batch is drawn when it is read;
// `profile` must outlive the result.
data::Samples DrawSamples(const ir::Graph& graph, const profile::Profile& profile, uint64_t seed,
                          int64_t count);

}  // namespace octavo::job
