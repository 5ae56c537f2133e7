// SPDX-License-Identifier: Apache-2.0
// octavo jobs, watch, cancel, result: the jobs of a service, from any machine.
#include <google/protobuf/util/time_util.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/cli/commands.h"
#include "client/cli/exit_code.h"
#include "client/cli/outputs.h"
#include "client/cli/progress_printer.h"
#include "client/cli/summary.h"
#include "client/cli/table.h"
#include "client/cli/terminal_text.h"
#include "client/cli/validators.h"
#include "client/jobs.h"

namespace octavo::cli {
namespace {

using google::protobuf::util::TimeUtil;

constexpr std::array<std::pair<v1::JobState, std::string_view>, 5> kStates = {
    {{v1::JOB_STATE_QUEUED, "queued"},
     {v1::JOB_STATE_RUNNING, "running"},
     {v1::JOB_STATE_SUCCEEDED, "succeeded"},
     {v1::JOB_STATE_FAILED, "failed"},
     {v1::JOB_STATE_CANCELLED, "cancelled"}}};

std::string_view NameOf(v1::JobState state) {
  for (const auto& [value, name] : kStates) {
    if (value == state) return name;
  }
  return "unknown";
}

std::string ModelOf(const v1::Job& job) {
  for (const v1::BlobInfo& blob : job.spec().blobs()) {
    if (blob.role() == v1::BlobInfo::ROLE_MODEL) return blob.name();
  }
  return {};
}

// TimeUtil::GetCurrentTime() is of whole seconds.
int64_t NowInMilliseconds() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// Of the last attempt; until now where the job has not ended.  The clocks of client and service may
// differ, but no job takes less than no time.
double SecondsOf(const v1::Job& job) {
  if (!job.has_start_time()) return 0;
  const int64_t end =
      job.has_end_time() ? TimeUtil::TimestampToMilliseconds(job.end_time()) : NowInMilliseconds();
  const int64_t spent = end - TimeUtil::TimestampToMilliseconds(job.start_time());
  return static_cast<double>(std::max<int64_t>(spent, 0)) / 1000;
}

nlohmann::ordered_json ToJson(const v1::Job& job) {
  nlohmann::ordered_json row = {
      {"job_id", job.job_id()},          {"state", NameOf(job.state())},
      {"stage", job.progress().stage()}, {"pass", job.progress().pass()},
      {"done", job.progress().done()},   {"total", job.progress().total()},
      {"model", ModelOf(job)},           {"created", TimeUtil::ToString(job.create_time())},
      {"seconds", SecondsOf(job)},       {"queue_position", job.queue_position()},
      {"client", job.client()},          {"action_digest", job.action_digest()}};
  if (job.has_error()) row["error"] = job.error().message();
  return row;
}

Result<std::unique_ptr<client::JobsClient>> Open(const Invocation& invocation,
                                                 const std::string& command) {
  if (invocation.server.empty()) {
    return Fail(Code::kUsage, "{} needs --server HOST:PORT or OCTAVO_SERVER", command)
        .Field("--server");
  }
  const auto printer = std::make_shared<ProgressPrinter>(invocation);
  return std::make_unique<client::JobsClient>(
      invocation.server, invocation.host.stop,
      [printer](const job::Progress& progress) { printer->Show(progress); });
}

struct ListArguments {
  std::string state = {};
  uint32_t limit = 100;
};

Result<int> List(const Invocation& invocation, const ListArguments& arguments) {
  OCTAVO_TRY(const auto jobs, Open(invocation, "jobs"));
  v1::JobState state = v1::JOB_STATE_UNSPECIFIED;
  for (const auto& [value, name] : kStates) {
    if (name == arguments.state) state = value;
  }
  OCTAVO_TRY(const auto found, jobs->List(state, arguments.limit));
  Table table({"job", "state", "created", "seconds", "model"});
  for (const v1::Job& job : found) {
    if (invocation.json) invocation.host.out << ToJson(job).dump() << '\n';
    table.Add({job.job_id(), std::string(NameOf(job.state())),
               TimeUtil::ToString(job.create_time()), fmt::format("{:.1f}", SecondsOf(job)),
               ForTerminal(ModelOf(job))});
  }
  if (!invocation.json) invocation.host.out << table.Text();
  return kExitDone;
}

Result<int> Watch(const Invocation& invocation, const std::string& id) {
  OCTAVO_TRY(const auto jobs, Open(invocation, "watch"));
  ProgressPrinter printer(invocation);
  OCTAVO_TRY(const v1::Job job, jobs->Watch(id, [&](const v1::Job& now) {
    if (invocation.json) {
      invocation.host.out << ToJson(now).dump() << '\n' << std::flush;
    } else if (now.state() == v1::JOB_STATE_QUEUED) {
      printer.Show({.stage = "job", .pass = now.job_id(), .done = now.queue_position()});
    } else if (!now.progress().stage().empty()) {
      printer.Show({.stage = now.progress().stage(),
                    .pass = now.progress().pass(),
                    .done = now.progress().done(),
                    .total = now.progress().total()});
    }
  }));
  if (job.state() != v1::JOB_STATE_SUCCEEDED) return Forward(client::ErrorOf(job));
  if (!invocation.json && !invocation.quiet) {
    invocation.host.out << job.job_id() << ' ' << NameOf(job.state()) << '\n';
  }
  return job.finished().gate_failed() ? kExitGateFailed : kExitDone;
}

Result<int> Cancel(const Invocation& invocation, const std::string& id) {
  OCTAVO_TRY(const auto jobs, Open(invocation, "cancel"));
  OCTAVO_TRY(const v1::Job job, jobs->Cancel(id));
  if (invocation.json) {
    invocation.host.out << ToJson(job).dump() << '\n';
  } else if (!invocation.quiet) {
    invocation.host.out << job.job_id() << ' ' << NameOf(job.state()) << '\n';
  }
  return kExitDone;
}

struct ResultArguments {
  std::string id = {};
  std::string out = {};
  std::string report = {};
  std::string html = {};
  std::string snapshots = {};
  std::vector<std::string> fail_on_warning = {};
};

std::string_view NameOf(v1::Finished::Source source) {
  switch (source) {
    case v1::Finished::SOURCE_CACHE:
      return "cache";
    case v1::Finished::SOURCE_JOINED:
      return "joined";
    default:
      return "executed";
  }
}

Result<int> Fetch(const Invocation& invocation, const ResultArguments& arguments) {
  OCTAVO_TRY(const FailOnWarning fail_on, ParseFailOnWarning(arguments.fail_on_warning));
  OCTAVO_TRY(const auto jobs, Open(invocation, "result"));
  OutputSet outputs(invocation);
  OCTAVO_CHECK(outputs.Add("--report", arguments.report));
  OCTAVO_CHECK(outputs.Add("--html", arguments.html));
  OCTAVO_CHECK(outputs.AddFolder("--snapshots", arguments.snapshots));
  OCTAVO_CHECK(outputs.Add("-o", arguments.out));
  OCTAVO_TRY(const v1::Job job, jobs->Get(arguments.id));
  if (job.state() == v1::JOB_STATE_QUEUED || job.state() == v1::JOB_STATE_RUNNING) {
    return Fail(Code::kUnavailable, "the job is {}; `octavo watch {}` waits for its end",
                NameOf(job.state()), job.job_id());
  }
  if (job.state() != v1::JOB_STATE_SUCCEEDED) return Forward(client::ErrorOf(job));
  ProgressPrinter printer(invocation);
  OCTAVO_TRY(const job::Outcome outcome,
             jobs->Fetch(job, DownloadFolder(arguments.out), {},
                         [&](const job::Progress& p) { printer.Show(p); }));
  FinishedJob finished{
      .model = ModelOf(job),
      .source = std::string(NameOf(job.finished().source())),
      .job_id = job.job_id(),
      .seconds = SecondsOf(job),
      .files = {
          .report = arguments.report, .html = arguments.html, .snapshots = arguments.snapshots}};
  OCTAVO_TRY(finished.files.model, StageModel(outcome, arguments.out, outputs));
  OCTAVO_CHECK(StageReport(invocation.host, outcome.report_json, outputs));
  OCTAVO_CHECK(StageInto("--snapshots", arguments.snapshots, outcome.snapshots, outputs));
  OCTAVO_CHECK(outputs.Commit());
  return TellResult(invocation, outcome, finished, fail_on);
}

CLI::App& Add(CLI::App& program, Invocation& invocation, const char* name, const char* help) {
  CLI::App& command = *program.add_subcommand(name, help);
  AddCommonFlags(command, invocation);
  AddServerFlag(command, invocation);
  return command;
}

void AddById(CLI::App& program, Invocation& invocation, const char* name, const char* help,
             Result<int> (*run)(const Invocation&, const std::string&)) {
  CLI::App& command = Add(program, invocation, name, help);
  auto id = std::make_shared<std::string>();
  command.add_option("ID", *id, "a job id, or an action digest")->required();
  command.callback([&invocation, id, run] {
    invocation.action = [&invocation, id, run] { return run(invocation, *id); };
  });
}

void AddResult(CLI::App& program, Invocation& invocation) {
  CLI::App& command = Add(program, invocation, "result", "get the result of a job of a service");
  auto arguments = std::make_shared<ResultArguments>();
  command.add_option("ID", arguments->id, "a job id, or an action digest")->required();
  command.add_option("-o,--output", arguments->out, "the file to write")
      ->type_name("OUT")
      ->required();
  command.add_option("--report", arguments->report, "write the report as JSON")->type_name("FILE");
  command.add_option("--html", arguments->html, "write the report as an HTML page")
      ->type_name("FILE");
  command
      .add_option("--snapshots", arguments->snapshots, "write the graph as text after each pass")
      ->type_name("DIR");
  AddFailOnWarning(command, arguments->fail_on_warning);
  AddVerboseFlag(command, invocation);
  command.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return Fetch(invocation, *arguments); };
  });
}

}  // namespace

void AddJobs(CLI::App& program, Invocation& invocation) {
  CLI::App& list = Add(program, invocation, "jobs", "list the jobs of a service, newest first");
  auto arguments = std::make_shared<ListArguments>();
  list.add_option("--state", arguments->state, "only jobs in this state")
      ->type_name("queued|running|succeeded|failed|cancelled")
      ->check(OneOf({"queued", "running", "succeeded", "failed", "cancelled"}));
  list.add_option("--limit", arguments->limit, "at most this many")
      ->type_name("N")
      ->capture_default_str()
      ->check(WholeNumber(1, 1'000'000));
  list.callback([&invocation, arguments] {
    invocation.action = [&invocation, arguments] { return List(invocation, *arguments); };
  });
  AddById(program, invocation, "watch", "show the progress of a job of a service until its end",
          &Watch);
  AddById(program, invocation, "cancel", "end a job of a service", &Cancel);
  AddResult(program, invocation);
}

}  // namespace octavo::cli
