// SPDX-License-Identifier: Apache-2.0
// octavo verify: proves the result of a job from the job's certificate.
#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/model_arguments.h"

namespace octavo::cli {
namespace {

struct Arguments {
  std::string before = {};
  std::string after = {};
  std::string certificate = {};
  std::string target = {};
  job::ModelLimits limits = {};
};

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  job::CertifiedJob certified{.limits = arguments.limits};
  OCTAVO_TRY(ModelFiles before, ReadModel(invocation.host, arguments.before));
  OCTAVO_TRY(ModelFiles after, ReadModel(invocation.host, arguments.after));
  certified.before = std::move(before.model);
  certified.before_external = std::move(before.external);
  certified.after = std::move(after.model);
  certified.after_external = std::move(after.external);
  OCTAVO_TRY(certified.certificate, ReadNamed(arguments.certificate));
  if (!arguments.target.empty()) {
    OCTAVO_TRY(certified.target, ReadNamed(arguments.target));
  }
  OCTAVO_TRY(const job::Verification verification, job::VerifyJob(certified));
  invocation.host.out << (invocation.json ? verification.json : verification.text);
  return verification.proved ? kExitDone : kExitGateFailed;
}

}  // namespace

void AddVerify(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand(
      "verify", "prove the result of a job from its certificate (optimize --certificate)");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  command.add_option("BEFORE", arguments->before, "the model that the job read")->required();
  command.add_option("AFTER", arguments->after, "the model that the job wrote")->required();
  command.add_option("CERTIFICATE", arguments->certificate, "the job's certificate")->required();
  command.add_option("--target", arguments->target, "target file of the job")->type_name("FILE");
  AddLimitFlags(command, arguments->limits);
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
