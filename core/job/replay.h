// SPDX-License-Identifier: Apache-2.0
// Runs a job's passes again and passes the graph after each application of a rewrite rule to a
// visitor; `diff --by-rule` measures these graphs.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "core/job/execute.h"
#include "core/passes/pass.h"

namespace octavo::job {

// Consecutive applications in the ledger that are measured together.  Some cannot be separated,
// because the graph between them is invalid.
struct RuleRun {
  std::vector<passes::LedgerEntry> entries = {};  // empty: before the first rule
  // False for the passes of Phase::kFinish: every visited graph has them applied already.
  bool measured = true;

  passes::Effect effect() const;  // the strongest effect
};

struct Replayed {
  passes::Settings settings = {};
  ir::Graph float_graph = {};  // the baseline of the job's report
};

// Called with the graph after quantization, then after each run of rules.  The graph is the job's
// result if no further rule applied: its biases are specialized and its constants merged.
using ReplayVisitor =
    std::function<Status(const Replayed& replayed, const RuleRun& run, const ir::Graph& graph)>;

struct ReplayRequest {
  // The job's model.  Without a profile, its samples calibrate, as in the job.
  const ModelInput& model;
  const Options& options;
  const std::optional<NamedBlob>& profile;
  const std::optional<NamedBlob>& target;  // the target file, if the job had one
  Granularity granularity = Granularity::kRule;
};
Status Replay(const ReplayRequest& request, ThreadPool& pool, const StopToken& stop,
              const ReplayVisitor& visit);

}  // namespace octavo::job
