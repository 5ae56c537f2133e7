// SPDX-License-Identifier: Apache-2.0
// octavo bench: measures the latency of the built-in runtime.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/model_arguments.h"
#include "client/cli/output_set.h"
#include "client/cli/validators.h"

namespace octavo::cli {
namespace {

struct Arguments {
  ModelArguments input = {};
  job::BenchOptions options = {};
  std::string trace = {};
};

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  OCTAVO_TRY(const job::ModelInput input, ReadInput(invocation, arguments.input));
  job::BenchOptions options = arguments.options;
  options.trace = !arguments.trace.empty();
  OutputSet outputs(invocation);
  OCTAVO_CHECK(outputs.Add("--trace", arguments.trace));
  OCTAVO_TRY(const job::BenchResult result, job::BenchModel(input, options, invocation.host.stop));
  OCTAVO_CHECK(outputs.StageView("--trace", result.trace));
  OCTAVO_CHECK(outputs.Commit());
  if (invocation.json) {
    invocation.host.out << result.figures;
    return kExitDone;
  }
  std::ostream& out = outputs.messages();
  const auto figures = nlohmann::json::parse(result.figures);
  out << fmt::format(
      "{}: median {:.3f} ms (p10 {:.3f}, p90 {:.3f}) over {} runs, {} threads, {}, {:.1f} GOPS\n",
      figures["model"].get<std::string>(), figures["median_ms"].get<double>(),
      figures["p10_ms"].get<double>(), figures["p90_ms"].get<double>(),
      figures["runs"].get<int64_t>(), figures["threads"].get<int64_t>(),
      figures["isa"].get<std::string>(), figures["gops"].get<double>());
  for (const auto& op : figures.value("ops", nlohmann::json::array())) {
    out << fmt::format("{:9.3f} ms {:8.1f} GOPS  {:<18} {:<16} {}\n", op["ms"].get<double>(),
                       op["gops"].get<double>(), op["op"].get<std::string>(),
                       op["kernel"].get<std::string>(), op["node"].get<std::string>());
  }
  return kExitDone;
}

}  // namespace

void AddBench(CLI::App& program, Invocation& invocation) {
  CLI::App& command =
      *program.add_subcommand("bench", "measure the latency of a model in the built-in runtime");
  AddLocalFlags(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  AddModelFlags(command, arguments->input, Data::kOptional);
  command.add_option("--runs", arguments->options.runs, "number of runs")
      ->type_name("N")
      ->capture_default_str()
      ->check(WholeNumber(1));
  command.add_flag("--profile-ops", arguments->options.profile_ops,
                   "also print the time of every node and its kernel");
  command
      .add_option("--trace", arguments->trace,
                  "write a few runs to FILE in Chrome's trace event format")
      ->type_name("FILE");
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
