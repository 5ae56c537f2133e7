// SPDX-License-Identifier: Apache-2.0
#include "server/config/arguments.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/nearest_name.h"
#include "core/base/wrapped.h"
#include "server/config/setting.h"

namespace octavo::server {
namespace {

constexpr size_t kWidth = 100;
constexpr size_t kColumn = 28;
constexpr std::string_view kGeneral = "General";

// Adds all flags; `arguments` must stay where it is until they are parsed.
void AddFlags(CLI::App& app, Arguments& arguments) {
  app.set_help_flag();  // ours is a flag like the others
  for (const Setting& setting : Settings()) {
    const std::string name(setting.name);
    app.add_option_function<std::string>(
           "--" + name,
           [&arguments, name](const std::string& value) { arguments.values[name] = value; },
           std::string(setting.help))
        ->type_name(std::string(setting.value))
        ->group(std::string(setting.group))
        ->expected(1)
        ->take_last();
  }
  const std::string general(kGeneral);
  app.add_option("--config", arguments.file, "read settings from a JSON object")
      ->type_name("FILE")
      ->group(general)
      ->take_last();
  app.add_flag("--print-config", arguments.print_config,
               "print every setting with its source, and exit")
      ->group(general);
  app.add_flag("--version", arguments.version, "print the version, and exit")->group(general);
  app.add_flag("--help", arguments.help, "print this text, and exit")->group(general);
}

std::string FlagName(const CLI::Option& option) { return "--" + option.get_lnames().front(); }

Failure Unknown(const CLI::App& app, const std::string& argument) {
  if (!argument.starts_with("-")) {
    return Fail(Code::kUsage, "'{}' is not an option; options begin with --", argument)
        .Field(argument);
  }
  const std::string flag = argument.substr(0, argument.find('='));
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) flags.push_back(FlagName(*option));
  const std::string meant = DidYouMean(flag, flags);
  return Fail(Code::kUsage, "unknown option {}{}", flag, meant.empty() ? "; see --help" : meant)
      .Field(flag);
}

// CLI11 begins the message of a missing value with the flag.
Failure Wrong(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> rest = app.remaining();
  if (!rest.empty()) return Unknown(app, rest.front());
  const std::string message = error.what();
  const std::string flag = message.substr(0, message.find(':'));
  return Fail(Code::kUsage, "{} needs a value", flag).Field(flag);
}

std::string MeaningOf(const CLI::Option& option, const Config& defaults) {
  const std::string name = option.get_lnames().front();
  const Setting* setting = FindSetting(name);
  if (setting == nullptr) return option.get_description();
  std::string value =
      setting->otherwise.empty() ? setting->get(defaults) : std::string(setting->otherwise);
  if (value.empty()) value = "none";
  return fmt::format("{} (default: {}; variable: {})", option.get_description(), value,
                     VariableOf(name));
}

}  // namespace

Result<Arguments> ParseArguments(const std::vector<std::string>& args) {
  Arguments arguments;
  CLI::App app;
  AddFlags(app, arguments);
  try {
    app.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::ParseError& error) {
    return Wrong(app, error);
  }
  return arguments;
}

std::string HelpOf(const Config& defaults) {
  Arguments arguments;
  CLI::App app;
  AddFlags(app, arguments);
  std::string text =
      "octavod: quantizes ONNX models to int8, as a gRPC service\n\n"
      "Usage: octavod [FLAGS]\n\n" +
      Wrapped(
          "Every setting is a flag, an environment variable (--max-nodes as OCTAVO_MAX_NODES) and "
          "a "
          "key of the --config file (\"max_nodes\").  The command line overrides the environment, "
          "which overrides the file.",
          0, kWidth) +
      '\n';
  for (const std::string& group : app.get_groups()) {
    text += fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : app.get_options()) {
      if (option->get_group() != group) continue;
      const bool is_switch = option->get_items_expected_max() == 0;
      const std::string flag = FlagName(*option) + (is_switch ? "" : ' ' + option->get_type_name());
      const std::string meaning = Wrapped(MeaningOf(*option, defaults), kColumn, kWidth - kColumn);
      const bool fits = flag.size() + 4 <= kColumn;
      text += fmt::format("  {:<{}}", flag, fits ? kColumn - 2 : 0);
      if (!fits) text += fmt::format("\n{:{}}", "", kColumn);
      text += meaning + '\n';
    }
  }
  return text +
         "\nExamples:\n"
         "  octavod --listen 0.0.0.0:50051 --state-dir state --workers 2\n"
         "  OCTAVO_LOG_LEVEL=debug octavod --print-config\n"
         "\nExit codes: 0 stopped by a signal; 1 cannot start or serve; 2 wrong usage.\n";
}

}  // namespace octavo::server
