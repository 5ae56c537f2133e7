// SPDX-License-Identifier: Apache-2.0
// Makes the settings of the passes from the options of a job.
#pragma once

#include "core/job/job.h"
#include "core/passes/pass.h"

namespace octavo::job {

// Applies the options to the target.  kUsage if the target does not allow one of them.
Status ApplyToTarget(const Options& options, target::Target& target);

// The target with the options' changes, the limit, and the options with the target's choices filled
// in.  `profile`, `pool` and `stop` are left to the caller.
Result<passes::Settings> SettingsOf(const Request& request);

// The highest effect that the limit allows.
passes::Effect EffectOf(NumericsLimit limit);

passes::RunOptions RunOptionsOf(const Options& options);

}  // namespace octavo::job
