// SPDX-License-Identifier: Apache-2.0
// Names of jobs.
#pragma once

#include <string>

namespace octavo::server {

// 32 hexadecimal digits of the system's entropy.
std::string NewJobId();

}  // namespace octavo::server
