// SPDX-License-Identifier: Apache-2.0
// The stages of a job's progress, in their order.
#pragma once

#include <string_view>

namespace octavo::job {

inline constexpr std::string_view kStageNames[] = {"import", "prepare", "search", "profile",
                                                   "budget", "passes",  "export", "integer-run",
                                                   "advice", "report"};

}  // namespace octavo::job
