// SPDX-License-Identifier: Apache-2.0
// octavo health: checks the health of a service.
#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/validators.h"
#include "client/remote.h"

namespace octavo::cli {
namespace {

struct Arguments {
  double timeout = 5;
};

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  if (invocation.server.empty()) {
    return Fail(Code::kUsage, "health needs --server HOST:PORT or OCTAVO_SERVER").Field("--server");
  }
  OCTAVO_CHECK(client::CheckHealth(invocation.server, client::DeadlineIn(arguments.timeout)));
  if (invocation.json) {
    invocation.host.out << R"({"status":"SERVING"})" << '\n';
  } else if (!invocation.quiet) {
    invocation.host.out << invocation.server << ": serving\n";
  }
  return kExitDone;
}

}  // namespace

void AddHealth(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand("health", "check whether a service accepts jobs");
  AddCommonFlags(command, invocation);
  AddServerFlag(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  command.add_option("--timeout", arguments->timeout, "seconds to wait, for the connection too")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(NumberAbove(0));
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
