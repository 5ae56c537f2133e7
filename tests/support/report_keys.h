// SPDX-License-Identifier: Apache-2.0
// Compares report.json with its message octavo.v1.Report, key by key.
#pragma once

#include <string_view>

#include "octavo/v1/report.pb.h"

namespace octavo {

// Expects that the message has every key of the report, and that the report has a key for every
// field of the message except the fields that json/mapping.cc omits when they are empty.  Returns
// the message.
v1::Report ExpectMatchesMessage(std::string_view report_json);

}  // namespace octavo
