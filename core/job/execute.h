// SPDX-License-Identifier: Apache-2.0
// The commands other than `optimize`: profile, run, diff, inspect and bench a model in this
// process. Except for times, equal inputs give equal bytes for any thread count.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/job/job.h"
#include "core/numerics/mode_table.h"

namespace octavo::job {

// A model with its samples.
struct ModelInput {
  NamedBlob model = {};
  std::vector<NamedBlob> external_data = {};
  std::vector<NamedBlob> samples = {};
  std::map<std::string, std::vector<int64_t>> shape = {};
  int64_t batch = 0;
  int threads = 0;  // 0: one per core
  ModelLimits limits = {};
  const numerics::Mode* numerics = &numerics::kOnnx;  // how integers round
};

// What `diff --by-rule` measures at a time: each application of a rule, or a sequence of
// applications of one rule with one effect or of exact rules.
enum class Granularity { kRule, kApplication };

// The profile as JSON: ranges and histograms of all values over the samples, after the same
// preparation as in a job of that limit.  Values that only jobs of another limit have are in it
// too, so that it matches under each.
Result<std::string> MakeProfile(const ModelInput& input, NumericsLimit limit, const StopToken& stop,
                                const Observer& observer);

// Merges the profiles of shards.
Result<std::string> MergeProfiles(const std::vector<NamedBlob>& profiles);
// A profile as Glow's YAML.
Result<std::string> GlowYamlOf(std::string_view profile);

// One .npy per output (or per value), named after it, and index.json.  Batched results are joined
// along axis 0, others stacked in a new leading axis; quantized values stay integers.
// `nans` gets the Quantize nodes that read NaN elements, which become zero points; may be null.
struct NanInput {
  std::string node = {};
  std::string value = {};
  int64_t count = 0;  // over all samples
};
Result<std::vector<NamedBlob>> RunModel(const ModelInput& input, bool all_values,
                                        const StopToken& stop, const Observer& observer,
                                        std::vector<NanInput>* nans = nullptr);

// The numerics report of the quantized model `input`, with its samples and in its numerics mode,
// against the float model `baseline`, as report JSON.  With a second mode `against`, the report has
// `against` too: by how many LSB the two modes differ in every integer value.
Result<std::string> DiffModels(const ModelInput& baseline, const ModelInput& input,
                               std::optional<const numerics::Mode*> against, const StopToken& stop,
                               const Observer& observer);

// The same report with `by_rule`: the effect of each rewrite rule on every output, from running the
// job's passes again with `options` (see replay.h).  kInvalidArgument if that gives other outputs
// than `input`.  An application that is recorded as exact but changes a bit is a bug in Octavo: the
// report shows it, and `violation` names it.
struct ByRule {
  std::optional<NamedBlob> options_from = {};  // the report of the job; else the defaults
  std::optional<NamedBlob> profile = {};       // the job's, if it had one
  std::optional<NamedBlob> target = {};        // the job's target file, if it had one
  // The job's input where that is not the baseline: a quantized model, with --no-quantize.
  std::optional<ModelInput> from = {};
  Granularity granularity = Granularity::kRule;
};
struct RuleReport {
  std::string report_json = {};
  std::string violation = {};  // empty: none
};
Result<RuleReport> AddByRule(const std::string& report_json, const ByRule& options,
                             const ModelInput& baseline, const ModelInput& input,
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
  // If requested: a few runs in Chrome's trace event format (chrome://tracing, ui.perfetto.dev).
  std::string trace = {};
};
Result<BenchResult> BenchModel(const ModelInput& input, const BenchOptions& options,
                               const StopToken& stop);

// The tables of rules, ops, targets and options: one JSON object a line.
std::string PassesTable();
std::string OpsTable();
std::string TargetsTable();
std::string OptionsTable();

}  // namespace octavo::job
