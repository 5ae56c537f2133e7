// SPDX-License-Identifier: Apache-2.0
#include "client/cli/config_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "client/cli/help_table.h"
#include "client/cli/usage_error.h"
#include "core/base/nearest_name.h"

namespace octavo::cli {
namespace {

const CLI::App& TableOf(const CLI::App& program, const std::string& name) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) {
    if (command->get_name() == name) return *command;
    names.push_back(command->get_name());
  }
  throw CLI::ConfigError(
      fmt::format("--config: table [{}] is no command{}", name, DidYouMean(name, names)));
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

const CLI::Option& OptionOf(const CLI::App& command, const std::string& key) {
  std::string name = key;
  std::replace(name.begin(), name.end(), '_', '-');
  std::vector<std::string> keys;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_configurable()) continue;
    if (option->get_positional() && option->get_single_name() == Upper(key)) return *option;
    if (option->check_lname(name)) return *option;
    keys.insert(keys.end(), option->get_lnames().begin(), option->get_lnames().end());
  }
  throw CLI::ConfigError(fmt::format("--config: key '{}' is no flag of octavo {}{}", key,
                                     command.get_name(), DidYouMean(name, keys)));
}

// Whether the command line or the environment has set the option, or one that it excludes.
bool IsOverridden(const CLI::Option& option, const Host& host) {
  if (option.count() > 0) return true;
  const auto excluded = option.get_excludes();
  const auto given = [](const CLI::Option* other) { return other->count() > 0; };
  if (std::any_of(excluded.begin(), excluded.end(), given)) return true;
  const auto& names = option.get_lnames();
  if (names.empty()) return false;
  const std::string variable(VariableOfFlag("--" + names.front()));
  return !variable.empty() && host.environment(variable).has_value();
}

}  // namespace

std::vector<CLI::ConfigItem> ConfigFile::from_config(std::istream& input) const {
  const auto running = program_.get_subcommands();
  std::vector<CLI::ConfigItem> items;
  if (running.empty()) return items;
  for (CLI::ConfigItem& item : CLI::ConfigBase::from_config(input)) {
    if (item.name == "++" || item.name == "--") continue;  // the borders of a table
    const CLI::App& command =
        item.parents.empty() ? *running.front() : TableOf(program_, item.parents.front());
    if (item.parents.size() > 1) {
      throw CLI::ConfigError(
          fmt::format("--config: '{}' is in a table of a table", item.fullname()));
    }
    const CLI::Option& option = OptionOf(command, item.name);
    if (&command != running.front() || IsOverridden(option, host_)) continue;
    if (item.inputs.size() > 1 && !TakesSeveral(option)) {
      throw CLI::ConfigError(fmt::format("--config: '{}' takes one value", item.name));
    }
    const auto& names = option.get_lnames();
    items.emplace_back();
    items.back().parents = {command.get_name()};
    items.back().name = names.empty() ? option.get_single_name() : names.front();
    items.back().inputs = std::move(item.inputs);
  }
  return items;
}

}  // namespace octavo::cli
