// SPDX-License-Identifier: Apache-2.0
#include "core/numerics/mode_table.h"

#include <algorithm>

namespace octavo::numerics {

std::span<const Mode* const> AllModes() {
#define OCTAVO_ENTRY(name) &k##name,
  static constexpr const Mode* kModes[] = {OCTAVO_MODES(OCTAVO_ENTRY)};
#undef OCTAVO_ENTRY
  return kModes;
}

const Mode* FindMode(std::string_view name) {
  const auto modes = AllModes();
  const auto at = std::ranges::find(modes, name, &Mode::name);
  return at == modes.end() ? nullptr : *at;
}

}  // namespace octavo::numerics
