// SPDX-License-Identifier: Apache-2.0
// octavo profile, octavo merge-profiles: calibration profiles.
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/model_arguments.h"
#include "client/cli/outputs.h"
#include "client/cli/warnings.h"

namespace octavo::cli {
namespace {

struct Arguments {
  ModelArguments input = {};
  std::vector<std::string> profiles = {};
  std::string out = {};
};

// The extension selects the format: .yaml is Glow's YAML, any other is JSON.
Status WriteProfile(const std::string& out, std::string profile, OutputSet& outputs) {
  if (out.ends_with(".yaml")) {
    OCTAVO_TRY(profile, job::GlowYamlOf(profile));
  }
  OCTAVO_CHECK(outputs.Stage("-o", Blob(std::move(profile))));
  return outputs.Commit();
}

void PrintOutput(const Invocation& invocation, const OutputSet& outputs, const std::string& out,
                 const std::vector<ir::Warning>& warnings) {
  if (!invocation.json) return PrintWritten(invocation, {out});
  const nlohmann::json result = {{"output", out}, {"warnings", WarningsJson(warnings)}};
  outputs.messages() << result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)
                     << '\n';
}

Result<int> Profile(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(const job::ModelInput input, ReadInput(invocation, arguments.input));
  OCTAVO_TRY(const Options options, arguments.input.options.Read());
  OutputSet outputs(invocation);
  OCTAVO_CHECK(outputs.Add("-o", arguments.out));
  std::vector<ir::Warning> warnings;
  ProgressPrinter printer(invocation);
  OCTAVO_TRY(const std::string profile,
             job::MakeProfile(
                 input, options.numerics_limit, invocation.host.stop,
                 [&](const job::Progress& progress) { printer.Show(progress); }, &warnings));
  OCTAVO_CHECK(WriteProfile(arguments.out, profile, outputs));
  PrintWarnings(invocation, warnings);
  PrintOutput(invocation, outputs, arguments.out, warnings);
  return kExitDone;
}

Result<int> Merge(const Invocation& invocation, const Arguments& arguments) {
  std::vector<job::NamedBlob> profiles;
  for (const std::string& path : arguments.profiles) {
    OCTAVO_TRY(job::NamedBlob profile, ReadNamed(path));
    profiles.push_back(std::move(profile));
  }
  OutputSet outputs(invocation);
  OCTAVO_CHECK(outputs.Add("-o", arguments.out));
  OCTAVO_TRY(const std::string merged, job::MergeProfiles(profiles));
  OCTAVO_CHECK(WriteProfile(arguments.out, merged, outputs));
  PrintOutput(invocation, outputs, arguments.out, {});
  return kExitDone;
}

}  // namespace

void AddProfile(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand(
      "profile", "run a float model on samples and write a calibration profile");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  AddModelFlags(command, arguments->input, Data::kForInputs);
  command
      .add_option("-o,--output", arguments->out,
                  "the profile to write, .json or .yaml (Glow's form)")
      ->type_name("FILE")
      ->required();
  arguments->input.options.Add(command, "numerics_limit");
  arguments->input.options.Add(command, "allow_non_finite");
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Profile(invocation, *arguments); };
  });
}

void AddMergeProfiles(CLI::App& program, Invocation& invocation) {
  CLI::App& command =
      *program.add_subcommand("merge-profiles", "merge profiles taken on shards of the data");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  command.add_option("PROFILES", arguments->profiles, "profiles to merge, .json or .yaml")
      ->type_name("FILE...")
      ->required();
  command
      .add_option("-o,--output", arguments->out,
                  "the profile to write, .json or .yaml (Glow's form)")
      ->type_name("FILE")
      ->required();
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Merge(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
