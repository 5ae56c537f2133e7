// SPDX-License-Identifier: Apache-2.0
// Prepares a float graph outside a job, so that `profile` and `diff` see the same values under the
// same names as a job.
#pragma once

#include "core/passes/pass.h"

namespace octavo::job {

// Runs the passes of Phase::kPrepare.  None of them depends on a target.
Status PrepareFloat(ir::Graph& graph, ThreadPool& pool, const StopToken& stop);

// The same at the limit of a job.  Whether a rule was applied that `exact` forbids: the other
// limits prepare alike.
Result<bool> PrepareFloat(ir::Graph& graph, passes::Effect limit, ThreadPool& pool,
                          const StopToken& stop);

}  // namespace octavo::job
