// SPDX-License-Identifier: Apache-2.0
// The figure by which whole quantizations are compared.
#pragma once

#include <vector>

#include "core/job/stages.h"

namespace octavo::job {

// The SQNR of the worst output in dB; infinite if all are exact, and minus infinity where one has
// none.
double WorstSqnr(const std::vector<v1::ValueNumerics>& outputs);
// That of the quantized graph on the samples that evaluate.
Result<double> MeasureWorstSqnr(const JobContext& job, const Quantized& quantized);

}  // namespace octavo::job
