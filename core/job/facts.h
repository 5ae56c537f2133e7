// What the service counts of a job, from its findings.
#pragma once

#include "core/job/job.h"
#include "core/job/report_json.h"

namespace octavo::job {

Facts FactsOf(const Findings& findings);

}  // namespace octavo::job
