// SPDX-License-Identifier: Apache-2.0
#include "client/cli/usage_error.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/nearest_name.h"

namespace octavo::cli {
namespace {

std::string OneLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

// The flag in a message of CLI11; empty if it has none.
std::string FlagIn(const std::string& message) {
  const size_t begin = message.find("--");
  if (begin == std::string::npos) return {};
  return message.substr(begin, message.find_first_of(" :,]=", begin) - begin);
}

bool IsFlag(const std::string& argument) { return argument.size() > 1 && argument[0] == '-'; }

// The command that the arguments name; the program itself if there is none.
const CLI::App& CommandOf(const CLI::App& program) {
  const auto named = program.get_subcommands();
  return named.empty() ? program : *named.front();
}

std::string NameOf(const CLI::App& program, const CLI::App& command) {
  if (&command == &program) return program.get_name();
  return program.get_name() + ' ' + command.get_name();
}

Error UnknownCommand(const CLI::App& program, const std::string& word) {
  std::vector<std::string> names;
  for (const CLI::App* command : program.get_subcommands({})) names.push_back(command->get_name());
  std::string hint = DidYouMean(word, names);
  if (hint.empty()) hint = "; see octavo --help";
  return Fail(Code::kUsage, "unknown command '{}'{}", word, hint).Field(word).error();
}

Error UnknownFlag(const CLI::App& program, const CLI::App& command, const std::string& argument) {
  const std::string flag = argument.substr(0, argument.find('='));
  const std::string name = NameOf(program, command);
  const std::vector<std::string> flags = FlagsOf(command);
  if (std::find(flags.begin(), flags.end(), flag) != flags.end()) {
    return Fail(Code::kUsage, "'{}' is a flag of {}: write it after the command", flag, name)
        .Field(flag)
        .error();
  }
  std::string hint = DidYouMean(flag, flags);
  if (hint.empty()) hint = fmt::format("; see {} --help", name);
  return Fail(Code::kUsage, "unknown flag '{}' of {}{}", flag, name, hint).Field(flag).error();
}

Error UnexpectedArgument(const CLI::App& program, const CLI::App& command,
                         const std::string& argument) {
  const auto options = command.get_options();
  const bool lists = std::any_of(options.begin(), options.end(), [](const CLI::Option* option) {
    return option->nonpositional() && TakesSeveral(*option);
  });
  return Fail(Code::kUsage, "unexpected argument '{}' of {}{}", argument, NameOf(program, command),
              lists ? "; a flag takes one value: give it again, or put commas between names" : "")
      .Field(argument)
      .error();
}

// "--batch: At Most 1 required but received 2", "--output: 1 required OUT missing"
Error WrongCount(const std::string& message) {
  constexpr std::string_view kRequired = " required ", kMissing = " missing";
  const std::string flag = FlagIn(message);
  if (!flag.empty() && message.find(": At Most 1 ") != std::string::npos) {
    return Fail(Code::kUsage, "{} is given more than once, and takes one value", flag)
        .Field(flag)
        .error();
  }
  if (flag.empty() || !message.ends_with(kMissing)) {
    return Fail(Code::kUsage, "{}", message).Field(flag).error();
  }
  const size_t begin = message.find(kRequired) + kRequired.size();
  return Fail(Code::kUsage, "{} needs a value: {}", flag,
              message.substr(begin, message.size() - kMissing.size() - begin))
      .Field(flag)
      .error();
}

// "job.toml was not readable (missing?)"
Error MissingConfig(const std::string& message) {
  return Fail(Code::kUsage, "--config: cannot read '{}'",
              message.substr(0, message.find(" was not readable")))
      .Field("--config")
      .error();
}

}  // namespace

bool TakesSeveral(const CLI::Option& option) {
  return option.get_expected_max() >= CLI::detail::expected_max_vector_size;
}

std::vector<std::string> FlagsOf(const CLI::App& command) {
  std::vector<std::string> flags;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
    }
  }
  return flags;
}

Error UsageErrorOf(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = CommandOf(program);
  const std::vector<std::string> rest = program.remaining(/*recurse=*/true);
  // A misspelt flag is also why a required one is missing.
  const auto is = [&](CLI::ExitCodes code) {
    return error.get_exit_code() == static_cast<int>(code);
  };
  const bool missing = is(CLI::ExitCodes::RequiredError);
  if (!rest.empty() && (missing || is(CLI::ExitCodes::ExtrasError))) {
    const auto flag = std::find_if(rest.begin(), rest.end(), &IsFlag);
    if (&command == &program && !IsFlag(rest.front())) return UnknownCommand(program, rest.front());
    if (flag != rest.end()) return UnknownFlag(program, command, *flag);
    return UnexpectedArgument(program, command, rest.front());
  }
  if (missing && &command == &program) {
    return Fail(Code::kUsage, "a command is needed; see octavo --help").error();
  }
  const std::string message = OneLine(error.what());
  if (is(CLI::ExitCodes::ArgumentMismatch)) return WrongCount(message);
  if (is(CLI::ExitCodes::FileError)) return MissingConfig(message);
  return Fail(Code::kUsage, "{}", message).Field(FlagIn(message)).error();
}

}  // namespace octavo::cli
