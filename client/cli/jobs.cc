// octavo jobs, watch, cancel: jobs that outlive their call.  The service of this version keeps
// none, and these commands say so.
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
                  "'{}' needs a service that keeps jobs; this version's jobs live as long as "
                  "their `octavo optimize`",
                  name);
    };
  });
  return command;
}

}  // namespace

void AddJobs(CLI::App& program, Invocation& invocation) {
  Add(program, invocation, "jobs", "list the jobs of a service");
  for (const char* name : {"watch", "cancel"}) {
    auto id = std::make_shared<std::string>();
    CLI::App& command = Add(program, invocation, name, std::string(name) + " a job");
    command.add_option_function<std::string>("ID", [id](const std::string& given) { *id = given; })
        ->required();
  }
}

}  // namespace octavo::cli
