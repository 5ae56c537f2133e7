// SPDX-License-Identifier: Apache-2.0
// Computes the figures of a job for metrics from its findings.
#pragma once

#include "core/job/job.h"
#include "core/job/report_json.h"

namespace octavo::job {

Facts FactsOf(const Findings& findings);

}  // namespace octavo::job
