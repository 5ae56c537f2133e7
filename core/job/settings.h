// SPDX-License-Identifier: Apache-2.0
// Converts the options of a job to the settings of its passes.
#pragma once

#include "core/job/job.h"
#include "core/passes/pass.h"

namespace octavo::job {

// Applies the options' changes to the target.  kUsage if the target does not allow a change.
Status ApplyToTarget(const Options& options, target::Target& target);

// Returns the target with the options' changes, the limit, and the options with the target's
// defaults filled in.  The caller sets `profile`, `pool` and `stop`.
Result<passes::Settings> SettingsOf(const Request& request);

// The highest effect that the limit allows.
passes::Effect EffectOf(NumericsLimit limit);

// How the job rounds weights: as asked, else by descent where samples calibrate.
Rounding RoundingOf(const Request& request);
// Whether a job with these options, as they take effect, needs the moments of layers, which only
// samples that calibrate give.
bool CollectsMoments(const Request& request, const Options& options);
// Whether a job with these options, as they take effect, may scale channels, for which it needs
// their ranges.
bool CollectsChannels(const Options& options);
// Whether the options name a calibration method: minmax, the default, counts as not given.
bool GivesCalibration(const Options& given);
passes::RunOptions RunOptionsOf(const Options& options);

}  // namespace octavo::job
