// SPDX-License-Identifier: Apache-2.0
#include "client/cli/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/config_file.h"
#include "client/cli/exit_code.h"
#include "client/cli/help.h"
#include "client/cli/terminal_text.h"
#include "client/cli/usage_error.h"
#include "core/base/input_files.h"

namespace octavo::cli {
namespace {

nlohmann::json OrNull(const std::string& text) {
  if (text.empty()) return nullptr;
  return text;
}

// NO_COLOR and a terminal that knows no colors: https://no-color.org.
bool UsesColors(const Host& host) {
  return host.err_is_terminal && host.environment("NO_COLOR").value_or("").empty() &&
         host.environment("TERM") != "dumb";
}

int Report(const Error& error, bool json, const Host& host) {
  std::ostream& err = host.err;
  if (json) {
    const nlohmann::json object = {{"code", CodeName(error.code)},
                                   {"reason", error.reason},
                                   {"message", error.message},
                                   {"node", OrNull(error.node)},
                                   {"field", OrNull(error.field)}};
    err << object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << '\n';
  } else {
    const std::string_view label = UsesColors(host) ? "\033[1;31merror:\033[0m" : "error:";
    err << "octavo: " << label << ' ' << ForTerminal(error.message) << '\n';
  }
  err.flush();
  return ExitCodeOf(error.code);
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

namespace {

// "" for HOST:PORT, and for a socket's path as gRPC writes it; else what is wrong.
std::string CheckAddress(const std::string& text) {
  if (text.starts_with("unix:")) return {};
  const size_t colon = text.rfind(':');
  int port = 0;
  const char* end = text.data() + text.size();
  const char* begin = colon == std::string::npos ? end : text.data() + colon + 1;
  const auto [rest, error] = std::from_chars(begin, end, port);
  const bool whole = error == std::errc() && rest == end && port > 0 && port <= 65535;
  if (whole && colon > 0) return {};
  return fmt::format("'{}' must be HOST:PORT, with a port from 1 to 65535", text);
}

constexpr std::string_view kServerVariable = "OCTAVO_SERVER", kAddressForm = "HOST:PORT";

// The parser checks a flag that is given, but not its default.
Status CheckServerVariable(const CLI::App& program, const Invocation& invocation) {
  for (const CLI::App* command : program.get_subcommands()) {
    const CLI::Option* flag = command->get_option_no_throw("--server");
    // Commands that run locally only have a flag of that name, which takes no address.
    const bool takes = flag != nullptr && flag->get_type_name() == kAddressForm;
    if (!takes || flag->count() > 0 || invocation.server.empty()) continue;
    const std::string wrong = CheckAddress(invocation.server);
    if (wrong.empty()) continue;
    return Fail(Code::kUsage, "{}: {}", kServerVariable, wrong).Field(kServerVariable);
  }
  return {};
}

}  // namespace

void AddServerFlag(CLI::App& command, Invocation& invocation) {
  invocation.server = invocation.host.environment(std::string(kServerVariable)).value_or("");
  command
      .add_option("--server", invocation.server,
                  "run on the octavod at this address instead of in this process")
      ->type_name(std::string(kAddressForm))
      ->check(CLI::Validator(&CheckAddress, ""));
}

int RunProgram(const std::vector<std::string>& args, const Host& host) {
  Invocation invocation{.host = host};
  CLI::App program("Quantizes ONNX models to int8 and reports the effect on accuracy.", "octavo");
  program.set_help_flag("-h,--help", "print this text and exit");
  program.set_version_flag("--version", "octavo " + host.version, "print the version and exit");
  program.require_subcommand(1);
  // Commands inherit the text of the help.
  program.formatter(std::make_shared<Help>(host));
  program.config_formatter(std::make_shared<ConfigFile>(program, host));
  program
      .set_config(
          "--config", "",
          "read flags from a TOML file: keys are flags without the dashes; a table [COMMAND] "
          "is of that command only; the command line overrides it")
      ->type_name("FILE.toml");
  // So that --config may stand behind the command, too.
  program.fallthrough();
  for (const AddCommand add : Commands()) add(program, invocation);
  // Parsing may fail before it reaches --json.
  const bool json = std::find(args.begin(), args.end(), "--json") != args.end();
  try {
    program.parse(std::vector<std::string>(args.rbegin(), args.rend()));
  } catch (const CLI::Success& success) {  // --help, --version
    return program.exit(success, host.out, host.err);
  } catch (const CLI::ParseError& error) {
    return Report(UsageErrorOf(program, error), json, host);
  }
  if (const Status server = CheckServerVariable(program, invocation); !server) {
    return Report(server.error(), invocation.json, host);
  }
  const auto code = RunGuarded(invocation);
  return code ? *code : Report(code.error(), invocation.json, host);
}

}  // namespace octavo::cli
