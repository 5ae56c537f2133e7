// SPDX-License-Identifier: Apache-2.0
// Repeats the passes that optimize the integer graph until none of them changes it.
#pragma once

#include "core/job/stages.h"

namespace octavo::job {

// A pass may make room for the rules of one before it: a clamp that goes leaves two Reshapes side
// by side.  Repeats canonicalize and the passes of Phase::kOptimize, whose first run is recorded
// from `optimized_from` on, so that a job on the result changes nothing.  A pass is repeated only
// if another one has changed the graph since its last run.  Records of repeated passes are added
// where they change something.
Status Settle(const JobContext& job, size_t optimized_from, Rewriting& rewriting);

}  // namespace octavo::job
