// SPDX-License-Identifier: Apache-2.0
// The summary of a finished job, made from its report.
#pragma once

#include <string_view>

#include "core/base/status.h"
#include "octavo/v1/summary.pb.h"

namespace octavo::job {

// Sets every field that a report decides: all but the files, `model`, `source`, `seconds`,
// `stages`, `gate_failed` and `message`.  kInvalidArgument if the text is not a report.
Result<v1::Summary> SummaryOf(std::string_view report_json);

}  // namespace octavo::job
