// SPDX-License-Identifier: Apache-2.0
// The warnings that no pass gives: about a job's samples, its profile and its inputs.
#pragma once

#include <vector>

#include "core/ir/warning.h"
#include "core/job/stages.h"

namespace octavo::job {

using Warnings = std::vector<ir::Warning>;

void AddWarning(Warnings& warnings, ir::WarningCode code, std::string_view message,
                std::string_view node = {});

// Random, few, constant and not finite ones.  `survey` may be null.
void WarnOfSamples(const data::Samples& samples, const SampleSurvey* survey, Warnings& warnings);
void WarnOfNonFinite(const SampleSurvey* survey, Warnings& warnings);
// Each Quantize that read NaN elements.
void WarnOfNans(const std::vector<report::NanInput>& inputs, Warnings& warnings);
// Inputs of `graph`, the float graph, with more than 1 % of their elements outside of the range.
void WarnOfSaturation(const ir::Graph& graph, const report::DiffResult& figures,
                      Warnings& warnings);
// range_drift, if values have more than 0.1 % of their elements outside of their calibrated range
// and their own error matters: docs/data.md says when.
void WarnOfDrift(const ir::Graph& graph, const report::DiffResult& figures, Warnings& warnings);
// All warnings of a job about its samples and its profile.
Warnings DataWarningsOf(const JobContext& job, const Quantized& quantized,
                        const Compared& compared);

}  // namespace octavo::job
