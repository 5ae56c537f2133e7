// SPDX-License-Identifier: Apache-2.0
// Runs the passes of a job again and calls a visitor with the graph after each application of a
// rewrite rule, for `diff --by-rule`.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/job/execute.h"
#include "core/passes/pass.h"

namespace octavo::job {

// Consecutive applications in the ledger that are measured as one.  Some cannot be separated: the
// graph is not valid between them.
struct RuleRun {
  std::vector<passes::LedgerEntry> entries = {};  // none: before the first rule
  // False for the passes of Phase::kFinish: they were applied to every graph that is measured.
  bool measured = true;

  passes::Effect effect() const;  // the strongest
};

struct Replayed {
  passes::Settings settings = {};
  ir::Graph float_graph = {};  // the baseline of the job's report
};

// Called with the graph after quantization, then after each run of rules.  The graph is what the
// job would return if no further rule applied: biases specialized, constants merged.
using ReplayVisitor =
    std::function<Status(const Replayed& replayed, const RuleRun& run, const ir::Graph& graph)>;

struct ReplayRequest {
  // The job's model.  Without a profile, its samples are used for calibration, as in the job.
  const ModelInput& model;
  const Options& options;
  const std::optional<NamedBlob>& profile;
  const std::optional<NamedBlob>& target;  // the target file, where the job had one
  Granularity granularity = Granularity::kRule;
};
Status Replay(const ReplayRequest& request, ThreadPool& pool, const StopToken& stop,
              const ReplayVisitor& visit);

}  // namespace octavo::job
