// SPDX-License-Identifier: Apache-2.0
// Parses report.json to octavo.v1.Report by reflection: the inverse of print.h.
#pragma once

#include <string_view>

#include "core/base/status.h"
#include "octavo/v1/report.pb.h"

namespace octavo::report {

// Treatment of a key that the message lacks: a newer version may have written it.
enum class UnknownKeys { kIgnore, kRefuse };

// A null or missing key leaves its field unset.  kInvalidArgument, with the path of the key, for a
// value of another type than the field's.
Result<v1::Report> ParseReport(std::string_view json, UnknownKeys unknown);

}  // namespace octavo::report
