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

// The options in the report of a job (its `options` hold all that can change bytes).
// kInvalidArgument where the text is no such report.
Result<Options> OptionsOfReport(std::string_view report_json);

// Applications that stand next to each other in the ledger and are measured as one: of one rule and
// effect, or all of them exact.
struct RuleRun {
  std::string pass = {};
  std::vector<std::string> rules = {};  // more than one only if exact, or inseparable
  passes::Effect effect = passes::Effect::kExact;
  int64_t applications = 0;
};

struct Replayed {
  passes::Settings settings = {};
  ir::Graph float_graph = {};  // as the report compares with
};

// Called with the graph after quantization (no rules yet), then after each run of rules.  The graph
// is as the job would end if no further law applied: biases specialized, constants merged.
using ReplayVisitor =
    std::function<Status(const Replayed& replayed, const RuleRun& run, const ir::Graph& graph)>;

// `model` is the float model; without a profile its samples calibrate, as in the job.
Status Replay(const ModelInput& model, const Options& options,
              const std::optional<NamedBlob>& profile, ThreadPool& pool, const StopToken& stop,
              const ReplayVisitor& visit);

}  // namespace octavo::job
