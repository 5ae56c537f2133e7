// SPDX-License-Identifier: Apache-2.0
// What `octavo inspect` finds, as tables for a person.
#pragma once

#include <string>

namespace octavo::cli {

// `json` is the answer of job::InspectModel.
std::string InspectText(const std::string& json);

}  // namespace octavo::cli
