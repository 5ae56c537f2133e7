// The commands beside `optimize`: profile, run, diff, inspect and bench a model in this process.
// Equal inputs give equal bytes, whatever the thread count (but for times).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/job/job.h"

namespace octavo::job {

// A model with its samples, as the commands name them.
struct ModelInput {
  NamedBlob model = {};
  std::vector<NamedBlob> external_data = {};
  std::vector<NamedBlob> samples = {};
  std::map<std::string, std::vector<int64_t>> shape = {};
  int64_t batch = 0;
  int threads = 0;  // 0: one per core
  ModelLimits limits = {};
  std::string numerics = "onnx";  // how integers round: a numerics mode
};

// How finely `diff --by-rule` measures: each application of a law by itself, or neighbouring ones
// as one where they are of one rule and effect, or all exact.
enum class Granularity { kRule, kApplication };

// Ranges and histograms of all values over the samples, after the same preparation as in a job.
// The profile's JSON.
Result<std::string> MakeProfile(const ModelInput& input, const StopToken& stop,
                                const Observer& observer);

// Profiles of shards as one.
Result<std::string> MergeProfiles(const std::vector<NamedBlob>& profiles);
// A profile as Glow's YAML.
Result<std::string> GlowYamlOf(std::string_view profile);

// One .npy per output (or per value), named after it, and index.json.  Batched results are joined
// along axis 0, others stacked in a new leading axis; codes stay as stored.
Result<std::vector<NamedBlob>> RunModel(const ModelInput& input, bool all_values,
                                        const StopToken& stop, const Observer& observer);

// The numerics report of a quantized model against a float one, as report JSON.  The samples and
// the numerics mode are those of `input`, which is the quantized model.  With a mode `against`, the
// report has `against` too: by how many steps the two modes differ in every integer value.
Result<std::string> DiffModels(const ModelInput& reference, const ModelInput& input,
                               const std::string& against, const StopToken& stop,
                               const Observer& observer);

// The same report with `by_rule`: what each law did to every output, from the job's passes run
// again with `options` (see replay.h).  kInvalidArgument where that gives other outputs than
// `input`.  An application that is recorded as exact and changes a bit is a bug of ours: the report
// shows it, and `violation` says so.
struct ByRule {
  std::optional<NamedBlob> options_from = {};  // the report of the job; else the defaults
  std::optional<NamedBlob> profile = {};       // the job's, if it had one
  std::optional<NamedBlob> target = {};        // the job's target file, if it had one
  // The job's model where that is not the reference: a quantized one, optimized with --no-quantize.
  std::optional<ModelInput> from = {};
  Granularity granularity = Granularity::kRule;
};
struct RuleReport {
  std::string report_json = {};
  std::string violation = {};  // empty: none
};
Result<RuleReport> AddByRule(const std::string& report_json, const ByRule& options,
                             const ModelInput& reference, const ModelInput& input,
                             const StopToken& stop, const Observer& observer);

// The options in the report of a job (its `options` hold all that can change bytes).
// kInvalidArgument where the text is no such report.
Result<Options> OptionsOfReport(std::string_view report_json);

// Signature, op counts, quantization of every value, nodes in float: JSON; or the graph's text.
Result<std::string> InspectModel(const ModelInput& input);
Result<std::string> GraphText(const ModelInput& input);

// Latency of the built-in runtime.  Without samples the inputs are random.
struct BenchOptions {
  int runs = 20;
  bool profile_ops = false;
  bool trace = false;
};
struct BenchResult {
  // JSON: {model, threads, runs, median_ms, p10_ms, p90_ms, gops, isa}, and with `profile_ops`
  // `ops`, the median time of each node in the order of execution, its kernel and its speed.
  std::string figures = {};
  // With `trace`, a few runs in Chrome's trace event format (chrome://tracing, ui.perfetto.dev).
  std::string trace = {};
};
Result<BenchResult> BenchModel(const ModelInput& input, const BenchOptions& options,
                               const StopToken& stop);

// The tables of laws, ops and targets: one JSON object a line.
std::string PassesTable();
std::string OpsTable();
std::string TargetsTable();

}  // namespace octavo::job
