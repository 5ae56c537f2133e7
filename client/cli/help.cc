// SPDX-License-Identifier: Apache-2.0
#include "client/cli/help.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <vector>

#include "client/cli/exit_code.h"
#include "client/cli/help_table.h"
#include "client/cli/usage_error.h"
#include "core/base/wrapped.h"

namespace octavo::cli {
namespace {

constexpr size_t kDefaultWidth = 80;
constexpr size_t kNarrowest = 40;
constexpr size_t kNameColumn = 28;

std::string LongName(const CLI::Option& option) {
  const auto& names = option.get_lnames();
  return names.empty() ? option.get_name() : "--" + names.front();
}

std::string HeadingOf(const CLI::Option& option) {
  // CLI11's name of no group.
  if (option.get_group() != "Options") return option.get_group();
  return std::string(GroupOfFlag(LongName(option)));
}

bool IsSwitch(const CLI::Option& option) { return option.get_items_expected_max() == 0; }

// "-o, --output OUT"
std::string SyntaxOf(const CLI::Option& option) {
  if (option.get_positional()) {
    return option.get_single_name() + (TakesSeveral(option) ? "..." : "");
  }
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  const std::string text = fmt::format("{}", fmt::join(names, ", "));
  return IsSwitch(option) ? text : text + ' ' + option.get_type_name();
}

std::string MeaningOf(const CLI::Option& option) {
  std::string text = option.get_description();
  const auto add = [&](const std::string& remark) { text += " (" + remark + ")"; };
  if (!option.get_default_str().empty()) add("default: " + option.get_default_str());
  const std::string_view variable = VariableOfFlag(LongName(option));
  if (!variable.empty()) add("default: the variable " + std::string(variable));
  if (option.get_required() && !option.get_positional()) add("required");
  if (TakesSeveral(option) && !option.get_positional()) add("may be given again");
  std::vector<std::string> excluded;
  for (const CLI::Option* other : option.get_excludes()) excluded.push_back(LongName(*other));
  std::ranges::sort(excluded);
  if (!excluded.empty()) add(fmt::format("not with {}", fmt::join(excluded, ", ")));
  return text;
}

// A name and its meaning, in two columns or on two lines.
std::string Entry(const std::string& name, const std::string& meaning, size_t width) {
  const size_t column = width < 2 * kNameColumn ? 6 : kNameColumn;
  const std::string text = std::string(column, ' ') + Wrapped(meaning, column, width - column);
  if (name.size() + 4 > column) return fmt::format("  {}\n{}\n", name, text);
  return fmt::format("  {:<{}}{}\n", name, column - 2, text.substr(column));
}

std::string Usage(const CLI::App& app, const std::string& name) {
  std::string usage = "Usage: " + name + " [FLAGS]";
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) usage += ' ' + SyntaxOf(*option);
  }
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || !option->get_required()) continue;
    const bool is_short = !option->get_snames().empty();
    usage += fmt::format(" {} {}", is_short ? "-" + option->get_snames()[0] : LongName(*option),
                         option->get_type_name());
  }
  if (!app.get_subcommands({}).empty()) usage += " COMMAND ...";
  return usage;
}

std::string Flags(const CLI::App& app, size_t width) {
  std::string arguments;
  std::map<std::string, std::string> groups;
  const auto add = [&](const CLI::Option& option) {
    const std::string entry = Entry(SyntaxOf(option), MeaningOf(option), width);
    (option.get_positional() ? arguments : groups[HeadingOf(option)]) += entry;
  };
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_group().empty()) add(*option);  // others are hidden
  }
  // The program's own flag that every command takes.
  if (app.get_parent() != nullptr && app.get_parent()->get_config_ptr() != nullptr) {
    add(*app.get_parent()->get_config_ptr());
  }
  std::string text;
  if (!arguments.empty()) text += "\nArguments:\n" + arguments;
  for (const std::string_view heading : FlagGroups()) {
    const auto group = groups.find(std::string(heading));
    if (group == groups.end()) continue;
    text += fmt::format("\n{}:\n{}", heading, group->second);
    groups.erase(group);
  }
  for (const auto& [heading, entries] : groups) text += fmt::format("\n{}:\n{}", heading, entries);
  return text;
}

std::string Commands(const CLI::App& app, size_t width) {
  std::string text, group;
  for (const CommandHelp& row : CommandTable()) {
    for (const CLI::App* command : app.get_subcommands({})) {
      if (command->get_name() != row.command) continue;
      if (row.group != group) text += fmt::format("\n{}:\n", group = row.group);
      text += Entry(command->get_name(), command->get_description(), width);
    }
  }
  return text;
}

std::string Footer(const CLI::App& app, size_t width) {
  std::string text;
  const bool is_program = app.get_parent() == nullptr;
  for (const CommandHelp& row : CommandTable()) {
    if (row.command != (is_program ? "optimize" : app.get_name())) continue;
    text += "\nExamples:\n";
    for (const std::string_view example : row.examples) text += fmt::format("  {}\n", example);
  }
  if (is_program) {
    text += "\nVariables:\n";
    for (const Variable& variable : Variables()) {
      text += Entry(std::string(variable.name), std::string(variable.meaning), width);
    }
    text += "\nExit codes:\n";
    for (const ExitCode& row : ExitCodes())
      text += fmt::format("  {}  {}\n", row.code, row.meaning);
    return text + "\n`octavo COMMAND --help` lists the flags of a command.\n";
  }
  std::vector<std::string> meanings;
  for (const ExitCode& row : ExitCodes())
    meanings.push_back(fmt::format("{} {}", row.code, row.meaning));
  return text + '\n' +
         Wrapped(fmt::format("Exit codes: {}.", fmt::join(meanings, "; ")), 2, width - 2) + '\n';
}

}  // namespace

size_t ScreenWidth(const Host& host) {
  size_t width = 0;
  if (const auto columns = host.environment("COLUMNS")) {
    std::from_chars(columns->data(), columns->data() + columns->size(), width);
  }
  if (width == 0 && host.terminal_columns) width = host.terminal_columns();
  return width == 0 ? kDefaultWidth : std::max(width, kNarrowest);
}

std::string Help::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  const size_t width = ScreenWidth(host_);
  return Wrapped(name + ": " + app->get_description(), 0, width) + "\n\n" +
         Wrapped(Usage(*app, name), 4, width - 4) + '\n' + Commands(*app, width) +
         Flags(*app, width) + Footer(*app, width);
}

}  // namespace octavo::cli
