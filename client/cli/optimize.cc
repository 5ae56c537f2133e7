// SPDX-License-Identifier: Apache-2.0
// octavo optimize: runs a job in this process or on a service.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/image_file.h"
#include "client/cli/inputs.h"
#include "client/cli/model_arguments.h"
#include "client/cli/name_file.h"
#include "client/cli/option_flags.h"
#include "client/cli/outputs.h"
#include "client/cli/progress_printer.h"
#include "client/cli/sample_files.h"
#include "client/cli/summary.h"
#include "client/cli/terminal_text.h"
#include "client/cli/validators.h"
#include "client/remote.h"
#include "core/job/gates.h"
#include "core/job/provenance.h"

namespace octavo::cli {
namespace {

struct Arguments {
  OptionFlags flags = {};
  job::ModelLimits limits = {};  // of a job in this process; a service has its own
  std::string model = {};
  std::string out = {};
  SampleArguments samples = {};
  std::string profile = {};
  std::string report = {};
  std::string html = {};
  std::string snapshots = {};
  std::string certificate = {};
  std::string depfile = {};
  std::string options_from = {};
  std::string keep_float_from = {};
  double timeout = 0;  // seconds; 0: no timeout
  bool no_cache = false;
  double retry_for = 120;  // seconds
  bool detach = false;
  int priority = 0;
  std::vector<std::string> fail_on_warning = {};
};

// The form that the extension of OUT selects if --emit is absent.
Result<EmitForm> FormOf(const std::string& out) {
  if (out.ends_with(".onnx")) return EmitForm::kQdq;
  if (out.ends_with(".octavo")) return EmitForm::kNative;
  if (out.ends_with(".graph")) return EmitForm::kText;
  return Fail(Code::kUsage,
              "'{}' must end in .onnx, .octavo or .graph, or --emit must name the form", out)
      .Field("--emit");
}

Status CheckGates(const Options& options, const Arguments& arguments) {
  const SampleArguments& samples = arguments.samples;
  // Gates judge by those that evaluate.
  const std::vector<std::string>& judging =
      samples.evaluate.empty() ? samples.data : samples.evaluate;
  if (!judging.empty()) {
    auto status = job::CheckGateSamples(options, judging);
    if (status) return {};
    status.error().field = FindOption(status.error().field)->FlagName();
    return status;
  }
  if (options.require_sqnr > 0) {
    return Fail(Code::kUsage, "--require-sqnr needs --data").Field("--require-sqnr");
  }
  if (options.require_cosine > 0) {
    return Fail(Code::kUsage, "--require-cosine needs --data").Field("--require-cosine");
  }
  return {};
}

// The options of an earlier job, or the defaults.
Result<Options> BaseOptions(const Arguments& arguments, std::vector<std::string>& paths) {
  if (arguments.options_from.empty()) return Options{};
  OCTAVO_TRY(const job::NamedBlob report, ReadNamed(arguments.options_from));
  paths.push_back(arguments.options_from);
  return job::GivenOptionsOfReport(report.bytes.text());
}

Status AddNames(const std::string& path, std::vector<std::string>& names,
                std::vector<std::string>& paths) {
  if (path.empty()) return {};
  OCTAVO_TRY(const std::vector<std::string> more, ReadNames(path));
  names.insert(names.end(), more.begin(), more.end());
  paths.push_back(path);
  return {};
}

// Adds the path of every file read to `paths`.
Result<Options> ReadOptions(const Arguments& arguments, std::vector<std::string>& paths) {
  OCTAVO_TRY(Options options, BaseOptions(arguments, paths));
  OCTAVO_TRY(options, arguments.flags.Read(std::move(options)));
  OCTAVO_CHECK(AddNames(arguments.keep_float_from, options.keep_float, paths));
  OCTAVO_CHECK(ReadImageFile(options));
  OCTAVO_CHECK(CheckGates(options, arguments));
  if (!arguments.flags.Given("emit")) {
    OCTAVO_TRY(const EmitForm form, FormOf(arguments.out));
    // An .onnx of --options-from may be QDQ or QLinear.
    const bool onnx = form == EmitForm::kQdq && options.emit == EmitForm::kQlinear;
    if (!onnx) options.emit = form;
  }
  options.output_name = std::filesystem::path(arguments.out).filename().string();
  options.snapshots = !arguments.snapshots.empty();
  options.deterministic |= !arguments.depfile.empty();
  return options;
}

// "a.json" and "dir/target" are paths of files; "cpu-int8" is a target's name.
bool IsFile(const std::string& target) {
  return target.ends_with(".json") || target.find('/') != std::string::npos;
}

// Builds the request; adds the path of every file read to `paths`.
Result<job::Request> BuildRequest(const Invocation& invocation, const Arguments& arguments,
                                  std::vector<std::string>& paths) {
  const Host& host = invocation.host;
  job::Request request{.limits = arguments.limits, .certificate = !arguments.certificate.empty()};
  std::vector<std::string> option_files;
  OCTAVO_TRY(request.options, ReadOptions(arguments, option_files));
  OCTAVO_TRY(ModelFiles model, ReadModel(host, arguments.model));
  request.model = std::move(model.model);
  request.external_data = std::move(model.external);
  paths = std::move(model.paths);
  paths.insert(paths.end(), option_files.begin(), option_files.end());
  OCTAVO_TRY(SampleFiles data, ReadSamples(arguments.samples, host.stop));
  request.samples = std::move(data.samples);
  paths.insert(paths.end(), data.paths.begin(), data.paths.end());
  // A request names each of its files; a service takes no more than some thousands.
  if (!invocation.server.empty()) OCTAVO_CHECK(PackSamples(host.stop, request.samples));
  if (!arguments.profile.empty()) {
    OCTAVO_TRY(request.profile, ReadNamed(arguments.profile));
    paths.push_back(arguments.profile);
  }
  if (const std::string file = request.options.target; IsFile(file)) {
    OCTAVO_TRY(request.target, ReadNamed(file));
    paths.push_back(file);
    request.options.target = Options().target;
  }
  return request;
}

std::string_view NameOf(client::ResultSource source) {
  switch (source) {
    case client::ResultSource::kExecuted:
      return "executed";
    case client::ResultSource::kCache:
      return "cache";
    case client::ResultSource::kJoined:
      return "joined";
  }
  return "executed";
}

client::RemoteOptions RemoteOptionsOf(const Invocation& invocation, const Arguments& arguments) {
  client::RemoteOptions options{.address = invocation.server,
                                .folder = DownloadFolder(arguments.out),
                                .no_cache = arguments.no_cache,
                                .priority = arguments.priority};
  if (arguments.timeout > 0) options.deadline = client::DeadlineIn(arguments.timeout);
  options.retry.retry_for = std::chrono::milliseconds(std::llround(arguments.retry_for * 1000));
  return options;
}

// What a service says of a job besides its result.
struct ServiceJob {
  client::ResultSource source = client::ResultSource::kExecuted;
  std::string id = {};
};

Result<job::Outcome> RunJob(const Invocation& invocation, const Arguments& arguments,
                            const job::Request& request, ServiceJob& job, StageClock& clock) {
  if (arguments.no_cache && invocation.server.empty()) {
    return Fail(Code::kUsage, "--no-cache is of a job on a service; it needs --server")
        .Field("--no-cache");
  }
  ProgressPrinter printer(invocation);
  const job::Observer observer = [&](const job::Progress& p) {
    // An event, not a stage that takes time.
    if (p.stage == "job") {
      job.id = p.pass;
    } else {
      clock.Show(p.stage);
    }
    printer.Show(p);
  };
  if (invocation.server.empty()) {
    const StopToken& stop = invocation.host.stop;
    return invocation.host.run_job(request, stop, observer);
  }
  if (request.certificate) {
    return Fail(Code::kUsage, "--certificate is of a job in this process, not of a service")
        .Field("--certificate");
  }
  return client::RemoteRun(RemoteOptionsOf(invocation, arguments), request, invocation.host.stop,
                           observer, &job.source);
}

// Checks the outputs before the job.  The model is the last: it is written last.
Status PlanOutputs(const Arguments& arguments, const Options& options, OutputSet& outputs) {
  OCTAVO_CHECK(outputs.Add("--report", arguments.report));
  OCTAVO_CHECK(outputs.Add("--html", arguments.html));
  OCTAVO_CHECK(outputs.AddFolder("--snapshots", arguments.snapshots));
  OCTAVO_CHECK(outputs.Add("--certificate", arguments.certificate));
  OCTAVO_CHECK(outputs.Add("--depfile", arguments.depfile));
  OCTAVO_CHECK(outputs.Add("-o", arguments.out));
  if (!outputs.IsStream("-o")) return {};
  if (!arguments.depfile.empty()) {
    return Fail(Code::kUsage, "--depfile needs a file as -o, not '{}'", arguments.out)
        .Field("--depfile");
  }
  const bool onnx = options.emit == EmitForm::kQdq || options.emit == EmitForm::kQlinear;
  if (onnx && options.external_over == 0) {
    return Fail(Code::kUsage,
                "--external-over 0 writes external data, which cannot go next to '{}'",
                arguments.out)
        .Field("--external-over");
  }
  return {};
}

Result<std::vector<std::string>> WriteAll(const Host& host, const Arguments& arguments,
                                          const job::Outcome& outcome,
                                          const std::vector<std::string>& inputs,
                                          OutputSet& outputs) {
  OCTAVO_TRY(const auto written, StageModel(outcome, arguments.out, outputs));
  OCTAVO_CHECK(StageReport(host, outcome.report_json, outputs));
  OCTAVO_CHECK(StageInto("--snapshots", arguments.snapshots, outcome.snapshots, outputs));
  OCTAVO_CHECK(outputs.StageView("--certificate", outcome.certificate));
  OCTAVO_CHECK(outputs.Stage("--depfile", Blob(DepfileText(arguments.out, inputs))));
  OCTAVO_CHECK(outputs.Commit());
  return written;
}

// A detached job writes no file here.  --snapshots stays: the service has to make them.
Status CheckDetached(const Arguments& arguments) {
  if (!arguments.fail_on_warning.empty()) {
    return Fail(Code::kUsage,
                "--fail-on-warning is not checked by --detach; give it to `octavo result`")
        .Field("--fail-on-warning");
  }
  for (const auto& [flag, file] :
       {std::pair("--report", arguments.report), std::pair("--html", arguments.html)}) {
    if (file.empty()) continue;
    return Fail(Code::kUsage, "{} is not written by --detach; give it to `octavo result`", flag)
        .Field(flag);
  }
  for (const auto& [flag, file] : {std::pair("--depfile", arguments.depfile),
                                   std::pair("--certificate", arguments.certificate)}) {
    if (file.empty()) continue;
    return Fail(Code::kUsage, "{} does not go with --detach", flag).Field(flag);
  }
  return {};
}

// Prints the id of a job that goes on without this process.
Result<int> Detach(const Invocation& invocation, const Arguments& arguments) {
  if (invocation.server.empty()) {
    return Fail(Code::kUsage, "--detach is of a job on a service; it needs --server")
        .Field("--detach");
  }
  OCTAVO_CHECK(CheckDetached(arguments));
  std::vector<std::string> inputs;
  OCTAVO_TRY(const job::Request request, BuildRequest(invocation, arguments, inputs));
  ProgressPrinter printer(invocation);
  OCTAVO_TRY(
      const std::string id,
      client::RemoteSubmit(RemoteOptionsOf(invocation, arguments), request, invocation.host.stop,
                           [&](const job::Progress& p) { printer.Show(p); }));
  if (invocation.json) {
    invocation.host.out << nlohmann::json({{"job_id", id}}).dump() << '\n';
  } else {
    invocation.host.out << id << '\n';
  }
  return kExitDone;
}

Result<int> Run(const Invocation& invocation, const Arguments& arguments) {
  if (arguments.detach) return Detach(invocation, arguments);
  OCTAVO_TRY(const FailOnWarning fail_on, ParseFailOnWarning(arguments.fail_on_warning));
  std::vector<std::string> inputs;
  OCTAVO_TRY(const job::Request request, BuildRequest(invocation, arguments, inputs));
  OutputSet outputs(invocation);
  OCTAVO_CHECK(PlanOutputs(arguments, request.options, outputs));
  ServiceJob job;
  StageClock clock;
  const auto begun = std::chrono::steady_clock::now();
  OCTAVO_TRY(const job::Outcome outcome, RunJob(invocation, arguments, request, job, clock));
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - begun;
  FinishedJob finished{.model = arguments.model,
                       .source = std::string(NameOf(job.source)),
                       .job_id = job.id,
                       .seconds = spent.count(),
                       .stages = clock.Seconds(),
                       .files = {.report = arguments.report,
                                 .html = arguments.html,
                                 .snapshots = arguments.snapshots,
                                 .certificate = arguments.certificate,
                                 .depfile = arguments.depfile}};
  OCTAVO_TRY(finished.files.model, WriteAll(invocation.host, arguments, outcome, inputs, outputs));
  return TellResult(invocation, outcome, finished, fail_on);
}

void AddFileFlags(CLI::App& command, Arguments& arguments) {
  command.add_option("MODEL", arguments.model, "the model: .onnx, .octavo or .graph")->required();
  command.add_option("-o,--output", arguments.out, "the file to write, or - for standard output")
      ->type_name("OUT")
      ->required();
  AddDataFlag(command, arguments.samples, "samples for calibration and for the report");
  AddEvaluateFlag(command, arguments.samples);
  AddValuesFlag(command, arguments.samples);
  AddLabelsFlag(command, arguments.samples);
  command
      .add_option("--options-from", arguments.options_from,
                  "take the options of the job that wrote this report; flags override them")
      ->type_name("REPORT.json");
  command
      .add_option("--keep-float-from", arguments.keep_float_from,
                  "more names for --keep-float from a file, one a line")
      ->type_name("FILE");
  command
      .add_option("--profile", arguments.profile,
                  "calibration profile; with --data the samples are for the report only")
      ->type_name("FILE");
  command.add_option("--report", arguments.report, "write the report as JSON")->type_name("FILE");
  command.add_option("--html", arguments.html, "write the report as an HTML page")
      ->type_name("FILE");
  command.add_option("--snapshots", arguments.snapshots, "write the graph as text after each pass")
      ->type_name("DIR");
  command
      .add_option("--certificate", arguments.certificate,
                  "write the rewrites as data that `octavo verify` proves; not with --server")
      ->type_name("FILE");
  command
      .add_option(
          "--depfile", arguments.depfile,
          "write the files that were read as a make dependency file; implies --deterministic")
      ->type_name("FILE");
  command.add_flag("--no-cache", arguments.no_cache,
                   "with --server: compute the result again and fail (exit 1) if its bytes differ "
                   "from those that the service has kept");
  command
      .add_option("--retry-for", arguments.retry_for,
                  "with --server: how long to try again while the service is away or refuses for "
                  "the time being; 0: not at all")
      ->type_name("SECONDS")
      ->capture_default_str()
      ->check(NumberFrom(0, 86400));
  command.add_flag("--detach", arguments.detach,
                   "with --server: print the job's id and end; `octavo result ID` gets the result");
  command
      .add_option("--priority", arguments.priority,
                  "with --server: of your jobs, those of higher priority run first, -10 to 10")
      ->type_name("N")
      ->check(WholeNumber(-10, 10));
  command.add_option("--timeout", arguments.timeout, "with --server: maximum time of the job")
      ->type_name("SECONDS")
      ->check(NumberAbove(0));
}

}  // namespace

void AddOptimize(CLI::App& program, Invocation& invocation) {
  CLI::App& command =
      *program.add_subcommand("optimize", "quantize a model to int8 and optimize it");
  AddCommonFlags(command, invocation);
  AddServerFlag(command, invocation);
  AddVerboseFlag(command, invocation);
  auto arguments = std::make_shared<Arguments>();
  AddFileFlags(command, *arguments);
  AddFailOnWarning(command, arguments->fail_on_warning);
  AddLimitFlags(command, arguments->limits);
  arguments->flags.AddAll(command);
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Run(invocation, *arguments); };
  });
}

}  // namespace octavo::cli
