// SPDX-License-Identifier: Apache-2.0
// octavo jobs, watch, cancel: commands for jobs that outlive their call.  This version has no such
// jobs; the commands fail with exit code 4.
#include "client/cli/commands.h"

namespace octavo::cli {
namespace {

CLI::App& Add(CLI::App& program, Invocation& invocation, const std::string& name,
              const std::string& help) {
  CLI::App& command = *program.add_subcommand(name, help);
  AddCommonFlags(command, invocation);
  AddServerFlag(command, invocation);
  command.callback([&invocation, name] {
    invocation.action = [name]() -> Result<int> {
      return Fail(Code::kUnimplemented,
                  "'{}' is not supported: in this version a job ends with its `octavo optimize`",
                  name);
    };
  });
  return command;
}

}  // namespace

void AddJobs(CLI::App& program, Invocation& invocation) {
  Add(program, invocation, "jobs", "list the jobs of a service (not supported in this version)");
  for (const char* name : {"watch", "cancel"}) {
    auto id = std::make_shared<std::string>();
    CLI::App& command =
        Add(program, invocation, name,
            std::string(name) + " a job of a service (not supported in this version)");
    command.add_option_function<std::string>("ID", [id](const std::string& given) { *id = given; })
        ->required();
  }
}

}  // namespace octavo::cli
