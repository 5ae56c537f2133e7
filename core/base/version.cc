// SPDX-License-Identifier: Apache-2.0
#include "core/base/version.h"

#include <fmt/format.h>

#include "core/base/cpu.h"

namespace octavo {

std::string VersionText(std::string_view revision) {
  return fmt::format("{} (revision {}, {}, {})", Version(), revision, BuildType(),
                     IsaName(CurrentIsa()));
}

}  // namespace octavo
