// SPDX-License-Identifier: Apache-2.0
// What --help adds to the commands and flags: headings, examples and variables.
#pragma once

#include <span>
#include <string_view>

namespace octavo::cli {

// A command's heading in `octavo --help` and its examples, each a line that runs in a folder with
// model.onnx and calibration.npz after the examples of the commands before it.
struct CommandHelp {
  std::string_view command = {};
  std::string_view group = {};
  std::span<const std::string_view> examples = {};
};
std::span<const CommandHelp> CommandTable();

// The headings of flags, in the order of the help.
std::span<const std::string_view> FlagGroups();
// The heading of a flag that the command gave no group, "General" if it has no row here; `flag` is
// its long name with dashes.
std::string_view GroupOfFlag(std::string_view flag);

struct Variable {
  std::string_view name = {};
  std::string_view meaning = {};
  std::string_view flag = {};  // whose default it is
};
std::span<const Variable> Variables();
// The variable whose value is the flag's default; empty if there is none.
std::string_view VariableOfFlag(std::string_view flag);

}  // namespace octavo::cli
