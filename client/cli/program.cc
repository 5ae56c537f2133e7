// SPDX-License-Identifier: Apache-2.0
#include "client/cli/program.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/terminal_text.h"
#include "core/base/input_files.h"

namespace octavo::cli {
namespace {

std::string OneLine(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

nlohmann::json OrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return text;
}

int Report(const Error& error, bool json, std::ostream& err) {
  if (json) {
    const nlohmann::json object = {{"code", CodeName(error.code)},
                                   {"reason", error.reason},
                                   {"message", error.message},
                                   {"node", OrNull(error.node)},
                                   {"field", OrNull(error.field)}};
    err << object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    err << "octavo: error: " << ForTerminal(error.message) << '\n';
  }
  err.flush();
  return ExitCodeOf(error.code);
}

// The flag in a message of CLI11; empty if it has none.
std::string OptionIn(const std::string& message) {
  const size_t begin = message.find("--");
  if (begin == std::string::npos) return {};
  return message.substr(begin, message.find_first_of(" :,]=", begin) - begin);
}

Error UsageError(const CLI::ParseError& error) {
  const std::string message = OneLine(error.what());
  return Fail(Code::kUsage, "{}", message).Field(OptionIn(message)).error();
}

Result<int> RunAction(const Invocation& invocation) {
  try {
    return invocation.action();
  } catch (const std::filesystem::filesystem_error& error) {
    return Fail(Code::kUsage, "{}", error.what()).Field(error.path1().string());
  } catch (const std::exception& error) {
    return Fail(Code::kInternal, "{}", error.what());
  }
}

// Of a file that changed, the job may have said anything, and nothing that it printed counts.
Result<int> RunGuarded(const Invocation& invocation) {
  ForgetInputFiles();
  auto code = RunAction(invocation);
  const bool printed = static_cast<bool>(invocation.host.out.flush());
  if (!code && code.error().code == Code::kCancelled) return code;
  OCTAVO_CHECK(CheckInputFiles());
  if (code && !printed) {
    return Fail(Code::kInternal, "cannot write to standard output").Reason("IO");
  }
  return code;
}

}  // namespace

void AddCommonFlags(CLI::App& command, Invocation& invocation) {
  command.add_flag("--json", invocation.json, "print results and errors as JSON");
  command.add_flag("-q,--quiet", invocation.quiet,
                   "print errors only: no progress, no summary, no warnings");
}

void AddServerFlag(CLI::App& command, Invocation& invocation) {
  invocation.server = invocation.host.environment("OCTAVO_SERVER").value_or("");
  command
      .add_option(
          "--server", invocation.server,
          "run on the octavod at this address instead of in this process (default: OCTAVO_SERVER)")
      ->type_name("HOST:PORT");
}

int RunProgram(const std::vector<std::string>& args, const Host& host) {
  Invocation invocation{.host = host};
  CLI::App program("Quantizes ONNX models to int8 and reports the effect on accuracy.", "octavo");
  program.set_version_flag("--version", "octavo " + host.version);
  program.require_subcommand(1);
  for (const AddCommand add : Commands()) add(program, invocation);
  // Parsing may fail before it reaches --json.
  const bool json = std::find(args.begin(), args.end(), "--json") != args.end();
  try {
    program.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success, host.out, host.err);
  } catch (const CLI::ParseError& error) {
    return Report(UsageError(error), json, host.err);
  }
  const auto code = RunGuarded(invocation);
  return code ? *code : Report(code.error(), invocation.json, host.err);
}

}  // namespace octavo::cli
