// SPDX-License-Identifier: Apache-2.0
// The texts of the built-in target files, sorted by name.
#pragma once

#include <string_view>
#include <vector>

namespace octavo::target {

struct BuiltInText {
  std::string_view name;
  std::string_view json;
};
const std::vector<BuiltInText>& BuiltInTexts();

}  // namespace octavo::target
