// SPDX-License-Identifier: Apache-2.0
// Reads the keys of a target description that are about quirks.
#pragma once

#include "core/target/json_reader.h"
#include "core/target/quirk.h"

namespace octavo::target {

// `quirks`, `warn_for`, `avoid` and what the description inherits of them; errors are kUsage and
// name the row's id and the key.
Result<TargetQuirks> ReadQuirks(const json& description);

}  // namespace octavo::target
