// octavo profile, octavo merge-profiles: ranges of a model's values over samples.
#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/inputs.h"
#include "client/cli/model_arguments.h"

namespace octavo::cli {
namespace {

struct Arguments {
  ModelArguments input = {};
  std::vector<std::string> profiles = {};
  std::string out = {};
};

// In the form that the file's ending names.
Status WriteProfile(const std::string& out, std::string profile) {
  if (out.ends_with(".yaml")) {
    OCTAVO_TRY(profile, job::GlowYamlOf(profile));
  }
  return WriteFile(out, std::string_view(profile));
}

Result<int> Profile(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(const job::ModelInput input, ReadInput(invocation, arguments.input));
  ProgressPrinter printer(invocation.host.err, ProgressStyle(invocation));
  OCTAVO_TRY(const std::string profile,
             job::MakeProfile(input, invocation.host.stop,
                              [&](const job::Progress& progress) { printer.Show(progress); }));
  OCTAVO_CHECK(WriteProfile(arguments.out, profile));
  return kExitDone;
}

Result<int> Merge(const Arguments& arguments) {
  std::vector<job::NamedBlob> profiles;
  for (const std::string& path : arguments.profiles) {
    OCTAVO_TRY(job::NamedBlob profile, ReadNamed(path));
    profiles.push_back(std::move(profile));
  }
  OCTAVO_TRY(const std::string merged, job::MergeProfiles(profiles));
  OCTAVO_CHECK(WriteProfile(arguments.out, merged));
  return kExitDone;
}

}  // namespace

void AddProfile(CLI::App& program, Invocation& invocation) {
  CLI::App& command = *program.add_subcommand("profile", "measure the ranges of a model's values");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  AddModelFlags(command, arguments->input, Data::kRequired);
  command.add_option("-o,--output", arguments->out, "the profile, .json or .yaml (Glow's)")
      ->required();
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Profile(invocation, *arguments); };
  });
}

void AddMergeProfiles(CLI::App& program, Invocation& invocation) {
  CLI::App& command =
      *program.add_subcommand("merge-profiles", "join profiles of shards of the data");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  command.add_option("PROFILES", arguments->profiles, "two or more")->required();
  command.add_option("-o,--output", arguments->out, "the joined profile, .json or .yaml (Glow's)")
      ->required();
  command.callback(
      [&invocation, arguments] { invocation.action = [arguments] { return Merge(*arguments); }; });
}

}  // namespace octavo::cli
