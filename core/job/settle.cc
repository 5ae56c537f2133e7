// SPDX-License-Identifier: Apache-2.0
#include "core/job/settle.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "core/job/settings.h"

namespace octavo::job {
namespace {

// A bound for rules that undo each other.
constexpr size_t kMaxRounds = 8;

void DropRepeated(std::vector<passes::Warning>& warnings) {
  std::set<std::tuple<std::string_view, std::string, std::string>> seen;
  std::erase_if(warnings, [&](const passes::Warning& warning) {
    return !seen.emplace(warning.code.name(), warning.message, warning.node).second;
  });
}

// Runs `pass` once more and returns whether it changed the graph; if it did not, nothing else
// changes either.
Result<bool> RunAgain(const JobContext& job, const passes::Pass* pass, Rewriting& rewriting) {
  passes::Findings& findings = rewriting.findings;
  const passes::PlacementFigures placement = findings.placement;
  const size_t warnings = findings.warnings.size();
  std::vector<passes::Kept> kept = std::move(findings.kept);
  findings.kept.clear();
  OCTAVO_TRY(std::vector<passes::PassRecord> records,
             passes::RunPipeline({&pass, 1}, RunOptionsOf(job.options()), job.settings,
                                 rewriting.graph, findings));
  if (records.empty() || records.front().changed == 0) {
    findings.placement = placement;
    findings.warnings.erase(findings.warnings.begin() + static_cast<std::ptrdiff_t>(warnings),
                            findings.warnings.end());
    findings.kept = std::move(kept);
    return false;
  }
  // The pass has given its reasons anew.
  std::erase_if(kept, [&](const passes::Kept& reason) { return reason.pass == pass->name; });
  findings.kept.insert(findings.kept.begin(), std::make_move_iterator(kept.begin()),
                       std::make_move_iterator(kept.end()));
  findings.placement.before = placement.before;
  findings.placement.greedy = placement.greedy;
  DropRepeated(findings.warnings);
  RecordPass(job, "passes", records.front(), rewriting);
  return true;
}

}  // namespace

Status Settle(const JobContext& job, size_t optimized_from, Rewriting& rewriting) {
  if (rewriting.stopped) return {};
  std::vector<const passes::Pass*> cycle = passes::PassesOf({passes::Phase::kOptimize});
  // Passes in a row that have nothing to do, up to the last one that ran.  One that changed the
  // graph is among them: a pass leaves nothing to itself.
  size_t idle = 0;
  for (size_t i = optimized_from; i < rewriting.records.size(); ++i) {
    idle = rewriting.records[i].changed > 0 ? 1 : idle + 1;
  }
  cycle.insert(cycle.begin(), passes::FindPass("canonicalize"));
  for (size_t i = 0; i < kMaxRounds * cycle.size() && idle < cycle.size(); ++i) {
    OCTAVO_TRY(const bool changed, RunAgain(job, cycle[i % cycle.size()], rewriting));
    idle = changed ? 1 : idle + 1;
  }
  return {};
}

}  // namespace octavo::job
