// SPDX-License-Identifier: Apache-2.0
// The preparation of a float graph outside a job: `profile`, `diff` and a job see the same values
// under the same names.
#pragma once

#include "core/passes/pass.h"

namespace octavo::job {

// Runs the passes of Phase::kPrepare, none of which depends on a target, at the default limit.
Status PrepareFloat(ir::Graph& graph, ThreadPool& pool, const StopToken& stop);

// The same at the limit of a job.  Whether a rule was applied that `exact` forbids: the other
// limits prepare alike.
Result<bool> PrepareFloat(ir::Graph& graph, passes::Effect limit, ThreadPool& pool,
                          const StopToken& stop);

}  // namespace octavo::job
