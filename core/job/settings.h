// SPDX-License-Identifier: Apache-2.0
// From the options of a job to the settings of its passes.
#pragma once

#include "core/job/job.h"
#include "core/passes/pass.h"

namespace octavo::job {

// Changes the target as the options ask.  kUsage where the target does not allow it.
Status ApplyToTarget(const Options& options, target::Target& target);

// The target with the options' changes, the limit, and the options with the target's choices filled
// in.  `profile`, `pool` and `stop` are left to the caller.
Result<passes::Settings> SettingsOf(const Request& request);

passes::RunOptions RunOptionsOf(const Options& options);

}  // namespace octavo::job
