// SPDX-License-Identifier: Apache-2.0
// octavo inspect: prints the contents of a model.
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/inspect_text.h"
#include "client/cli/model_arguments.h"

namespace octavo::cli {
namespace {

struct Arguments {
  ModelArguments input = {};
  bool text = false;
};

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(const job::ModelInput input, ReadInput(invocation, arguments.input));
  OCTAVO_TRY(const std::string answer,
             arguments.text ? job::GraphText(input) : job::InspectModel(input));
  std::ostream& out = invocation.host.out;
  if (arguments.text) {
    out << (invocation.json ? nlohmann::json({{"text", answer}}).dump() + '\n' : answer);
  } else {
    out << (invocation.json ? answer : InspectText(answer));
  }
  return kExitDone;
}

}  // namespace

void AddInspect(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand(
      "inspect", "print the signature, operators and quantization of a model");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  AddModelFlags(command, arguments->input, Data::kOptional);
  command.add_flag("--text", arguments->text, "print the graph as text");
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
