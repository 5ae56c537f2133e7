// SPDX-License-Identifier: Apache-2.0
#include "server/session/worker_probe.h"

#include <cstddef>

namespace octavo::server::worker {

std::string_view NameOf(Cause cause) {
  static constexpr std::string_view kNames[] = {"finished", "cancelled", "crashed",  "memory",
                                                "cpu",      "output",    "protocol", "idle"};
  return kNames[static_cast<size_t>(cause)];
}

}  // namespace octavo::server::worker
