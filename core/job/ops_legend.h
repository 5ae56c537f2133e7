// SPDX-License-Identifier: Apache-2.0
// The meaning of each word in the columns of OpsTable (execute.h).
#pragma once

#include <string>

namespace octavo::job {

// Lines of text, ended by line breaks.
std::string OpsLegend();

}  // namespace octavo::job
