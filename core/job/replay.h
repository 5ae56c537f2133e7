// A job's passes run again on its float model, one law after another: what `diff --by-rule`
// measures.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/job/execute.h"
#include "core/passes/pass.h"

namespace octavo::job {

// Applications that stand next to each other in the ledger and are measured as one.  Some cannot be
// told apart: between them the graph is not whole.
struct RuleRun {
  std::vector<passes::LedgerEntry> entries = {};  // none: the graph that no law was applied to yet
  // False for the passes that make a graph executable: they were applied to every graph handed out.
  bool measured = true;

  passes::Effect effect() const;  // the highest
};

struct Replayed {
  passes::Settings settings = {};
  ir::Graph float_graph = {};  // as the job's report compares with
};

// Called with the graph after quantization (no rules yet), then after each run of rules.  The graph
// is as the job would end if no further law applied: biases specialized, constants merged.
using ReplayVisitor =
    std::function<Status(const Replayed& replayed, const RuleRun& run, const ir::Graph& graph)>;

struct ReplayRequest {
  // The job's model; without a profile its samples calibrate, as in the job.
  const ModelInput& model;
  const Options& options;
  const std::optional<NamedBlob>& profile;
  const std::optional<NamedBlob>& target;  // the target file, where the job had one
  Granularity granularity = Granularity::kRule;
};
Status Replay(const ReplayRequest& request, ThreadPool& pool, const StopToken& stop,
              const ReplayVisitor& visit);

}  // namespace octavo::job
