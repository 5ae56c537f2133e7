// SPDX-License-Identifier: Apache-2.0
// Runs one pass test: golden_runner PASS FILE.  Compares the text, verifies the graph, and executes
// it before and after the pass.  With OCTAVO_UPDATE_GOLDEN=1 it writes the result to `after`
// instead of comparing; review the diff.  golden_runner --coverage FOLDER checks that every rule of
// every pass has a golden; --modes checks that the passes' claims hold in every numerics mode.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "core/numerics/mode_table.h"
#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "core/text/print.h"
#include "tests/golden/check_numbers.h"
#include "tests/golden/golden_file.h"

namespace octavo::golden {
namespace {

// Larger than in other texts, so that the weights of small tests appear as numbers.
constexpr int64_t kLiteralElements = 64;

using Payloads = std::map<std::string, Blob>;

std::string PrintGraph(const ir::Graph& graph, bool old_names, Payloads& payloads) {
  const auto keep = [&](const std::string& digest, const ir::Tensor& tensor) {
    payloads.emplace(digest, tensor.ToBlob());
  };
  return text::Print(
      graph, {.payload = keep, .literal_elements = kLiteralElements, .old_names = old_names});
}

Result<ir::Graph> ParseGraph(std::string_view text, const Payloads& payloads,
                             std::string_view what) {
  const auto source = [&](std::string_view digest) -> Result<Blob> {
    const auto at = payloads.find(std::string(digest));
    if (at == payloads.end()) {
      return Fail(Code::kInvalidArgument, "no constant has the digest {}", digest);
    }
    return at->second;
  };
  auto graph = text::Parse(text, {.find_op = &ops::FindOp, .payload = source});
  if (!graph) return Fail(Code::kInvalidArgument, "{}: {}", what, graph.error().message);
  return graph;
}

// Whether `expected` mentions former names of values; otherwise the printed text omits them.
bool SpeaksOfOldNames(std::string_view expected) {
  return expected.find("\n  alias ") != std::string_view::npos ||
         expected.find("\n  retired ") != std::string_view::npos;
}

struct Outcome {
  ir::Graph graph = {};
  passes::Findings findings = {};
};

Result<Outcome> RunPass(const passes::Pass& pass, const ir::Graph& before,
                        const GoldenSettings& options) {
  Outcome outcome{.graph = before};
  const passes::Pass* pipeline[] = {&pass};
  profile::MomentSource moments = test::SourceOfColumns(before, options.columns);
  passes::Settings settings = options.settings;
  if (!options.columns.empty()) settings.moments = &moments;
  OCTAVO_TRY(const auto records,
             passes::RunPipeline(pipeline, {}, settings, outcome.graph, outcome.findings));
  return outcome;
}

// The settings of a file and the thread pool that they refer to.
struct Owned {
  ThreadPool pool{1};
  GoldenSettings golden = {};
};
using OwnedSettings = std::unique_ptr<Owned>;

Result<OwnedSettings> SettingsOf(const GoldenFile& file) {
  auto owned = std::make_unique<Owned>();
  owned->golden.settings.pool = &owned->pool;
  OCTAVO_TRY(owned->golden.settings.target, target::BuiltIn("cpu-int8"));
  OCTAVO_CHECK(ReadOptions(file.options, owned->golden));
  return owned;
}

Status Compare(std::string_view expected, std::string_view actual,
               const passes::Findings& findings) {
  if (expected == actual) return {};
  std::string reasons;
  for (const passes::Kept& kept : findings.kept) {
    reasons += fmt::format("kept '{}': {}\n", kept.node, kept.reason);
  }
  for (const passes::LedgerEntry& entry : findings.ledger) {
    reasons += fmt::format("applied {} at '{}'\n", entry.rule, entry.node);
  }
  return Fail(Code::kInternal, "--- expected\n{}--- but got\n{}{}", expected, actual, reasons);
}

// Checks the rules that, according to the file, must not apply.
Status CheckKept(const passes::Pass& pass, const GoldenFile& file,
                 const passes::Findings& findings) {
  for (const std::string& name : file.kept) {
    if (!std::ranges::count(pass.rules, name, &passes::Rule::id) &&
        !std::ranges::count(pass.also_applies, name, &passes::Rule::id)) {
      return Fail(Code::kUsage, "pass {} has no rule '{}'", pass.name, name);
    }
    for (const passes::LedgerEntry& entry : findings.ledger) {
      if (entry.rule != name) continue;
      return Fail(Code::kInternal, "rule '{}' applies at '{}', and must not", name, entry.node);
    }
  }
  return {};
}

// If the file lists warnings, the pass must give exactly these.
Status CheckWarnings(const GoldenFile& file, const passes::Findings& findings) {
  if (file.warnings.empty()) return {};
  const std::set<std::string> wanted(file.warnings.begin(), file.warnings.end());
  std::set<std::string> given;
  for (const passes::Warning& warning : findings.warnings) given.emplace(warning.code.name());
  if (given == wanted) return {};
  return Fail(Code::kInternal, "the warnings are [{}], but must be [{}]", fmt::join(given, ", "),
              fmt::join(wanted, ", "));
}

Status CheckCase(const passes::Pass& pass, const GoldenFile& file, const Case& one,
                 const GoldenSettings& options, std::string& printed) {
  OCTAVO_TRY(const ir::Graph before,
             ParseGraph(one.before, {}, fmt::format("before (from line {})", one.line)));
  auto outcome = RunPass(pass, before, options);
  if (!file.error.empty()) {
    if (outcome) return Fail(Code::kInternal, "the pass gave no error");
    if (outcome.error().message == file.error) return {};
    return Fail(Code::kInternal, "the pass gave the error '{}'", outcome.error().message);
  }
  if (!outcome) return Forward(outcome.error());
  OCTAVO_CHECK(CheckKept(pass, file, outcome->findings));
  OCTAVO_CHECK(CheckWarnings(file, outcome->findings));
  Payloads payloads;
  printed = PrintGraph(outcome->graph, SpeaksOfOldNames(file.after), payloads);
  if (std::getenv("OCTAVO_UPDATE_GOLDEN") == nullptr || file.unchanged) {
    const std::string& text = file.unchanged ? one.before : file.after;
    if (file.unchanged) PrintGraph(before, false, payloads);
    OCTAVO_TRY(const ir::Graph wanted, ParseGraph(text, payloads, "after"));
    Payloads unused;
    const std::string expected = PrintGraph(wanted, SpeaksOfOldNames(text), unused);
    OCTAVO_CHECK(Compare(expected, printed, outcome->findings));
  }
  return CheckNumbers(before, outcome->graph, outcome->findings.ledger,
                      *options.settings.target.numerics, options.steps);
}

Status Run(const std::string& pass_name, const std::string& path) {
  const passes::Pass* pass = passes::FindPass(pass_name);
  if (pass == nullptr) return Fail(Code::kUsage, "no pass is named '{}'", pass_name);
  OCTAVO_TRY(const Blob bytes, Blob::MapFile(path));
  OCTAVO_TRY(const GoldenFile file, ParseGolden(bytes.text()));
  OCTAVO_TRY(const OwnedSettings options, SettingsOf(file));
  std::string printed;
  for (const Case& one : file.before) {
    OCTAVO_CHECK(CheckCase(*pass, file, one, options->golden, printed));
  }
  const bool update = std::getenv("OCTAVO_UPDATE_GOLDEN") != nullptr;
  if (update && !file.unchanged && file.error.empty()) {
    OCTAVO_CHECK(WriteFile(path, file.WithAfter(printed)));
  }
  return {};
}

// The rules that a pass's goldens apply, and the rules that must not apply in one of them.
struct Coverage {
  std::set<std::string, std::less<>> applied = {}, kept = {};
};

Status AddCoverage(const passes::Pass& pass, const std::string& path, Coverage& coverage) {
  OCTAVO_TRY(const Blob bytes, Blob::MapFile(path));
  OCTAVO_TRY(const GoldenFile file, ParseGolden(bytes.text()));
  OCTAVO_TRY(const OwnedSettings options, SettingsOf(file));
  for (const Case& one : file.before) {
    OCTAVO_TRY(const ir::Graph before, ParseGraph(one.before, {}, path));
    const auto outcome = RunPass(pass, before, options->golden);
    if (!outcome) continue;
    coverage.kept.insert(file.kept.begin(), file.kept.end());
    for (const passes::LedgerEntry& entry : outcome->findings.ledger) {
      coverage.applied.insert(entry.rule);
    }
  }
  return {};
}

// Some golden of its pass must apply each rule.  A rule with a condition also needs a golden in
// which it must not apply.
Status CheckCoverage(const std::string& folder) {
  std::string missing;
  for (const passes::Pass* pass : passes::AllPasses()) {
    Coverage coverage;
    for (const auto& entry :
         std::filesystem::directory_iterator(folder + std::string("/") + std::string(pass->name))) {
      OCTAVO_CHECK(AddCoverage(*pass, entry.path().string(), coverage));
    }
    for (const passes::Rule& rule : pass->rules) {
      if (coverage.applied.count(rule.id) == 0) {
        missing += fmt::format("\n  no golden applies '{}'", rule.id);
      }
      if (!rule.condition.empty() && coverage.kept.count(rule.id) == 0) {
        missing += fmt::format("\n  no golden has a line '--- not: {}'", rule.id);
      }
    }
  }
  if (missing.empty()) return {};
  return Fail(Code::kInternal, "goldens are missing:{}", missing);
}

// Runs a golden's graph in one more mode, in which the pass's claims must hold.  Skips graphs with
// ops that the mode does not define, before or after the pass.  `held` counts the other graphs to
// which a rule was applied.
Status CheckInMode(const passes::Pass& pass, const std::string& path, const numerics::Mode& mode,
                   int64_t& held) {
  OCTAVO_TRY(const Blob bytes, Blob::MapFile(path));
  OCTAVO_TRY(const GoldenFile file, ParseGolden(bytes.text()));
  OCTAVO_TRY(const OwnedSettings owned, SettingsOf(file));
  GoldenSettings options = owned->golden;
  options.settings.target.numerics = &mode;
  for (const Case& one : file.before) {
    OCTAVO_TRY(const ir::Graph before, ParseGraph(one.before, {}, path));
    const auto outcome = RunPass(pass, before, options);
    if (!outcome || !IsDefined(before, mode) || !IsDefined(outcome->graph, mode)) continue;
    const bool new_parameters =
        std::ranges::any_of(outcome->findings.ledger, [](const passes::LedgerEntry& entry) {
          return entry.effect == passes::Effect::kNewParameters;
        });
    // Goldens state the distance from floats only for mode `onnx`.
    if (new_parameters) continue;
    OCTAVO_CHECK(
        CheckNumbers(before, outcome->graph, outcome->findings.ledger, mode, options.steps));
    if (!outcome->findings.ledger.empty()) ++held;
  }
  return {};
}

Status CheckModes(const std::string& folder) {
  std::string wrong;
  std::map<std::string_view, int64_t> held;  // per mode
  for (const passes::Pass* pass : passes::AllPasses()) {
    for (const auto& entry :
         std::filesystem::directory_iterator(folder + std::string("/") + std::string(pass->name))) {
      for (const numerics::Mode* mode : numerics::AllModes()) {
        const Status status = CheckInMode(*pass, entry.path().string(), *mode, held[mode->name]);
        if (!status) {
          wrong += fmt::format("\n  {}/{} in {}: {}", pass->name, entry.path().stem().string(),
                               mode->name, status.error().message);
        }
      }
    }
  }
  if (!wrong.empty()) {
    return Fail(Code::kInternal, "claims that do not hold in a mode:{}", wrong);
  }
  for (const auto& [name, count] : held) {
    fmt::print("{}: {} rewritten graphs\n", name, count);
    if (count == 0) return Fail(Code::kInternal, "no golden is executed in mode {}", name);
  }
  return {};
}

}  // namespace
}  // namespace octavo::golden

int main(int argc, char** argv) {
  if (argc != 3) {
    fmt::print(stderr,
               "usage: golden_runner PASS FILE, or golden_runner --coverage|--modes FOLDER\n");
    return 2;
  }
  const std::string_view what = argv[1];
  const octavo::Status status = what == "--coverage" ? octavo::golden::CheckCoverage(argv[2])
                                : what == "--modes"  ? octavo::golden::CheckModes(argv[2])
                                                     : octavo::golden::Run(argv[1], argv[2]);
  if (status) return 0;
  fmt::print(stderr, "{}: {}\n", argv[2], status.error().message);
  return 1;
}
