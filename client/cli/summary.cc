// SPDX-License-Identifier: Apache-2.0
#include "client/cli/summary.h"

#include <algorithm>
#include <array>

#include "client/cli/exit_code.h"
#include "client/cli/terminal_text.h"
#include "core/job/summary.h"
#include "core/report/json/print.h"

namespace octavo::cli {
namespace {

void SetFiles(const WrittenFiles& files, v1::Summary& summary) {
  if (!files.model.empty()) summary.set_output(files.model.front());
  summary.mutable_files()->Assign(files.model.begin(), files.model.end());
  if (!files.report.empty()) summary.set_report(files.report);
  if (!files.html.empty()) summary.set_html(files.html);
  if (!files.snapshots.empty()) summary.set_snapshots(files.snapshots);
  if (!files.certificate.empty()) summary.set_certificate(files.certificate);
  if (!files.depfile.empty()) summary.set_depfile(files.depfile);
}

Result<v1::Summary> Summarize(const job::Outcome& outcome, const FinishedJob& finished,
                              const FailOnWarning& fail_on) {
  auto made = job::SummaryOf(outcome.report_json);
  if (!made) {
    // A service may have sent anything.
    return Fail(Code::kInternal, "the job's report cannot be read: {}", made.error().message)
        .Reason("BAD_ANSWER");
  }
  v1::Summary& summary = *made;
  summary.set_model(finished.model);
  summary.set_source(finished.source);
  if (!finished.job_id.empty()) summary.set_job_id(finished.job_id);
  summary.set_seconds(finished.seconds);
  SetFiles(finished.files, summary);
  summary.set_gate_failed(outcome.gate_failed);
  summary.set_message(outcome.message);
  if (const std::string failed = fail_on.FailedBy(summary.warnings());
      !outcome.gate_failed && !failed.empty()) {
    summary.set_gate_failed(true);
    summary.set_message(failed);
  }
  for (const auto& [stage, seconds] : finished.stages) {
    v1::StageTime& time = *summary.add_stages();
    time.set_stage(stage);
    time.set_seconds(seconds);
  }
  return made;
}

std::string Size(int64_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits = {"B", "KiB", "MiB", "GiB"};
  auto size = static_cast<double>(bytes);
  size_t unit = 0;
  while (size >= 1024 && unit + 1 < kUnits.size()) {
    size /= 1024;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", size, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string Count(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

// "3 nodes in float (2 Softmax, 1 Add)".
std::string FloatText(const v1::Summary& summary) {
  int64_t nodes = 0;
  std::vector<std::pair<int64_t, std::string>> ops;
  for (const auto& [op, count] : summary.float_ops()) {
    nodes += count;
    ops.emplace_back(-count, op);
  }
  if (nodes == 0) return "no node in float";
  std::ranges::sort(ops);
  std::vector<std::string> parts;
  for (const auto& [count, op] : ops) parts.push_back(fmt::format("{} {}", -count, op));
  return fmt::format("{} in float ({})", Count(nodes, "node"), fmt::join(parts, ", "));
}

std::string SamplesText(const v1::Summary& summary) {
  const std::string &source = summary.samples_source(), &role = summary.samples_role();
  std::string kind = role.empty() ? std::string() : role + " ";
  if (source != "data" && source != role) kind += source + " ";
  return Count(summary.samples(), kind + "sample");
}

std::string FiguresText(const v1::Summary& summary) {
  if (!summary.has_worst_output()) return "no figures";
  const v1::WorstOutput& worst = summary.worst_output();
  const std::string samples = SamplesText(summary);
  if (worst.exact()) {
    return fmt::format("every output equals the float model's on {}", samples);
  }
  std::string text = fmt::format(
      "worst output '{}': SQNR {}", worst.name(),
      worst.has_sqnr_db() ? fmt::format("{:.2f} dB", worst.sqnr_db()) : std::string("undefined"));
  if (worst.has_top1_agreement()) {
    text += fmt::format(", top-1 agreement {:.2f} %", 100 * worst.top1_agreement());
  }
  text += fmt::format(" on {}", samples);
  if (!worst.has_calibration_sqnr_db()) return text;
  return text + fmt::format(" ({:.2f} dB on calibration samples)", worst.calibration_sqnr_db());
}

// "top-1 99.07 % (float model: 99.13 %) of 1500 labels".
std::string AccuracyText(const v1::Accuracy& accuracy) {
  const auto percent = [](double share) { return fmt::format("{:.2f} %", 100 * share); };
  std::string text = fmt::format("top-1 {} (float model: {})", percent(accuracy.top1()),
                                 percent(accuracy.top1_float()));
  if (accuracy.has_top5()) {
    text += fmt::format(", top-5 {} (float model: {})", percent(accuracy.top5()),
                        percent(accuracy.top5_float()));
  }
  return text + fmt::format(" of {}", Count(accuracy.samples(), "label"));
}

// "search: mse with descent, 41.2 dB on held-back calibration samples".
std::string SearchText(const v1::SearchCandidate& chosen) {
  return fmt::format("search: {} with {}{}, {:.1f} dB on held-back calibration samples",
                     chosen.calibration(), chosen.rounding(),
                     chosen.equalize() ? ", equalized" : "", chosen.score_db());
}

std::string FilesText(const v1::Summary& summary) {
  std::vector<std::string> others(summary.files().begin() + std::min(1, summary.files_size()),
                                  summary.files().end());
  for (const std::string& file : {summary.report(), summary.html(), summary.snapshots(),
                                  summary.certificate(), summary.depfile()}) {
    if (!file.empty()) others.push_back(file);
  }
  if (others.empty()) return {};
  return fmt::format("; also wrote {}", fmt::join(others, ", "));
}

void PrintTimes(const v1::Summary& summary, std::ostream& err) {
  for (const v1::StageTime& time : summary.stages()) {
    err << fmt::format("octavo: stage {}: {:.3f} s\n", ForTerminal(time.stage()), time.seconds());
  }
  for (const v1::PassRun& pass : summary.passes()) {
    const std::string seconds =
        pass.has_seconds() ? fmt::format(", {:.4f} s", pass.seconds()) : std::string();
    err << fmt::format("octavo: pass {}: {}, {}{}\n", ForTerminal(pass.name()),
                       pass.changed() ? "changed" : "no change", Count(pass.nodes_after(), "node"),
                       seconds);
  }
}

void Say(std::ostream& err, const std::string& text) {
  err << "octavo: " << ForTerminal(text) << '\n';
}

void PrintText(const Invocation& invocation, const v1::Summary& summary) {
  std::ostream& err = invocation.host.err;
  const auto line = [&](const std::string& text) { Say(err, text); };
  if (summary.source() == "cache") line("the service has kept the result of an equal job");
  if (summary.source() == "joined") line("the service was running an equal job");
  if (invocation.verbose) PrintTimes(summary, err);
  line(fmt::format("{} -> {}: {} -> {}, {} -> {}, {}, {}", summary.model(), summary.output(),
                   Size(summary.bytes_before()), Size(summary.bytes_after()),
                   summary.nodes_before(), Count(summary.nodes_after(), "node"), FloatText(summary),
                   Count(summary.rescales(), "Rescale")));
  if (summary.has_search()) line(SearchText(summary.search()));
  PrintFigures(invocation, summary);
  line(fmt::format("{:.2f} s{}", summary.seconds(), FilesText(summary)));
  PrintWarnings(invocation, summary.warnings());
}

}  // namespace

void PrintFigures(const Invocation& invocation, const v1::Summary& summary) {
  if (invocation.quiet || invocation.json) return;
  Say(invocation.host.err, FiguresText(summary));
  if (summary.accuracy().has_top1()) Say(invocation.host.err, AccuracyText(summary.accuracy()));
}

void StageClock::Show(std::string_view stage) {
  if (stage == stage_) return;
  past_ = Seconds();
  stage_ = stage;
  begun_ = Clock::now();
}

std::vector<std::pair<std::string, double>> StageClock::Seconds() const {
  std::vector<std::pair<std::string, double>> all = past_;
  if (stage_.empty()) return all;
  const double seconds = std::chrono::duration<double>(Clock::now() - begun_).count();
  const auto at = std::ranges::find(all, stage_, &std::pair<std::string, double>::first);
  if (at == all.end()) {
    all.emplace_back(stage_, seconds);
  } else {
    at->second += seconds;
  }
  return all;
}

Result<int> TellResult(const Invocation& invocation, const job::Outcome& outcome,
                       const FinishedJob& finished, const FailOnWarning& fail_on) {
  OCTAVO_TRY(v1::Summary summary, Summarize(outcome, finished, fail_on));
  if (!invocation.verbose) {
    summary.clear_stages();
    summary.clear_passes();
  }
  if (invocation.json) {
    using nlohmann::ordered_json;
    const ordered_json json = report::ToJson(summary);
    invocation.host.out << json.dump(-1, ' ', false, ordered_json::error_handler_t::replace)
                        << '\n';
  } else if (!invocation.quiet) {
    PrintText(invocation, summary);
  }
  if (!summary.gate_failed()) return kExitDone;
  if (!invocation.json) {
    invocation.host.err << "octavo: error: gate failed: " << ForTerminal(summary.message()) << '\n';
  }
  return kExitGateFailed;
}

void AddVerboseFlag(CLI::App& command, Invocation& invocation) {
  command.add_flag("-v,--verbose", invocation.verbose,
                   "also print how long each stage and each pass took");
}

}  // namespace octavo::cli
