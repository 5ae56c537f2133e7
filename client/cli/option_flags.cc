// SPDX-License-Identifier: Apache-2.0
#include "client/cli/option_flags.h"

namespace octavo::cli {
namespace {

std::string HelpOf(const OptionRow& row) {
  return fmt::format("{} (default: {})", row.help, DefaultText(row));
}

// The choices, as in "asymmetric|symmetric", or the row's placeholder.
std::string ValueOf(const OptionRow& row) {
  if (row.choices == nullptr) return std::string(row.value);
  std::vector<std::string_view> names;
  for (const OptionChoice& choice : row.choices()) names.push_back(choice.name);
  return fmt::format("{}", fmt::join(names, "|"));
}

bool IsList(const OptionRow& row) {
  return row.type == OptionType::kNames || row.type == OptionType::kShapes;
}

}  // namespace

void OptionFlags::AddRow(CLI::App& command, const OptionRow& row) {
  const std::string group(Name(row.group));
  std::vector<std::string>& given = given_[row.name];
  if (row.flag == OptionFlag::kNone) return;
  if (row.flag == OptionFlag::kPerChoice) {
    CLI::Option* before = nullptr;
    for (const OptionChoice& choice : row.choices()) {
      const auto take = [&given, name = std::string(choice.name)] { given = {name}; };
      const std::string help(choice.help);
      CLI::Option* flag = command.add_flag_callback(fmt::format("--{}", choice.name), take, help);
      flag->group(group);
      if (before != nullptr) flag->excludes(before);
      before = flag;
    }
    return;
  }
  if (row.type == OptionType::kFlag) {
    const auto take = [&given] { given = {"true"}; };
    command.add_flag_callback(row.FlagName(), take, std::string(row.help))->group(group);
    return;
  }
  CLI::Option* option = command.add_option(row.FlagName(), given, HelpOf(row));
  option->group(group)->type_name(ValueOf(row));
  if (!IsList(row)) option->expected(1);
  option->allow_extra_args(false);  // one value a flag: MODEL may follow
}

void OptionFlags::Add(CLI::App& command, std::string_view option) {
  AddRow(command, *FindOption(option));
}

void OptionFlags::AddAll(CLI::App& command) {
  for (const OptionRow& row : OptionTable()) AddRow(command, row);
}

bool OptionFlags::Given(std::string_view option) const {
  const auto at = given_.find(option);
  return at != given_.end() && !at->second.empty();
}

Result<Options> OptionFlags::Read(Options options) const {
  const Options defaults;
  for (const auto& [name, arguments] : given_) {
    const OptionRow& row = *FindOption(name);
    // A flag replaces the list that the options had before.
    if (IsList(row) && !arguments.empty()) OCTAVO_CHECK(row.set(row, options, row.get(defaults)));
    for (const std::string& argument : arguments) {
      auto status = SetOptionText(row, options, argument);
      if (status) continue;
      status.error().field = row.FlagName();
      return Forward(std::move(status).error());
    }
  }
  return options;
}

Result<Options> ReadAs(std::string_view flag, std::string_view text, std::string_view option) {
  OptionRow row = *FindOption(option);
  row.name = flag;
  Options options;
  auto status = SetOptionText(row, options, text);
  if (status) return options;
  status.error().field = row.FlagName();
  return Forward(std::move(status).error());
}

}  // namespace octavo::cli
