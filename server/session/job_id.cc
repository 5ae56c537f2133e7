// SPDX-License-Identifier: Apache-2.0
#include "server/session/job_id.h"

#include <fmt/format.h>

#include <cstdint>
#include <random>

namespace octavo::server {

std::string NewJobId() {
  std::random_device entropy;
  const auto word = [&] { return (static_cast<uint64_t>(entropy()) << 32) | entropy(); };
  return fmt::format("{:016x}{:016x}", word(), word());
}

}  // namespace octavo::server
