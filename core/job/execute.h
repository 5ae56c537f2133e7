// SPDX-License-Identifier: Apache-2.0
// The commands other than `optimize`: profile, run, diff, inspect and bench a model in this
// process. Equal inputs give equal bytes for any thread count, except for times.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/data/samples.h"
#include "core/ir/warning.h"
#include "core/job/job.h"
#include "core/numerics/mode_table.h"

namespace octavo::job {

// A model and its samples.
struct ModelInput {
  NamedBlob model = {};
  std::vector<NamedBlob> external_data = {};
  std::vector<NamedBlob> samples = {};
  std::map<std::string, std::vector<int64_t>> shape = {};
  int64_t batch = 0;
  int threads = 0;  // 0: one thread per core
  ModelLimits limits = {};
  const numerics::Mode* numerics = &numerics::kOnnx;  // the mode that rounds integers
  data::SampleOptions reading = {};                   // of the samples
  bool strict_ops = false;        // a node that Octavo does not support is an error
  bool allow_non_finite = false;  // of samples: count NaN and infinite elements, do not refuse them
};

// The unit that `diff --by-rule` measures: a single application of a rule, or a sequence of
// consecutive applications that either share one rule and one effect or are all of exact rules.
enum class Granularity { kRule, kApplication };

// The profile as JSON: ranges and histograms of all values over the samples, after the same
// preparation as in a job of that limit.  Values that only jobs of another limit have are in it
// too, so that it matches under each.  `warnings` gets those about the samples; may be null.
Result<std::string> MakeProfile(const ModelInput& input, NumericsLimit limit, const StopToken& stop,
                                const Observer& observer,
                                std::vector<ir::Warning>* warnings = nullptr);

// Merges the profiles of several shards of the calibration data.
Result<std::string> MergeProfiles(const std::vector<NamedBlob>& profiles);
// Converts a profile to Glow's YAML.
Result<std::string> GlowYamlOf(std::string_view profile);

// One .npy per output (or per value), named after it, and index.json.  Batched results are joined
// along axis 0, others stacked in a new leading axis; quantized values stay integers.
// `warnings` gets the inputs that are not finite and the Quantize nodes that read NaN elements,
// which become zero points; may be null.  Samples that are not finite are refused if the model has
// quantized values.
Result<std::vector<NamedBlob>> RunModel(const ModelInput& input, bool all_values,
                                        const StopToken& stop, const Observer& observer,
                                        std::vector<ir::Warning>* warnings = nullptr);

// Compares the quantized model `input`, on its samples and in its numerics mode, with the float
// model `baseline`.  Returns the numerics report as JSON.  With a second mode, the report's
// `against` states by how many LSB the two modes differ in every integer value.
Result<std::string> DiffModels(const ModelInput& baseline, const ModelInput& input,
                               std::optional<const numerics::Mode*> against, const StopToken& stop,
                               const Observer& observer);

// Returns the report of DiffModels with `by_rule`: the effect of each rewrite rule on every output.
// It runs the job's passes again with the job's options (see replay.h); kInvalidArgument if that
// gives other outputs than `input`.  An application that is recorded as exact but changes a bit is
// a bug in Octavo: the report shows it, and `violation` names it.
struct ByRule {
  std::optional<NamedBlob> options_from = {};  // the report of the job; empty: default options
  std::optional<NamedBlob> profile = {};       // the job's profile, if it had one
  std::optional<NamedBlob> target = {};        // the job's target file, if it had one
  // The job's input if it is not the baseline: a quantized model, with --no-quantize.
  std::optional<ModelInput> from = {};
  Granularity granularity = Granularity::kRule;
};
struct RuleReport {
  std::string report_json = {};
  std::string violation = {};  // empty: no violation
};
Result<RuleReport> AddByRule(const std::string& report_json, const ByRule& options,
                             const ModelInput& baseline, const ModelInput& input,
                             const StopToken& stop, const Observer& observer);

// Returns the options in a job's report; its `options` holds every option that can change bytes.
// kInvalidArgument if the text is not such a report.
Result<Options> OptionsOfReport(std::string_view report_json);

// A model, the result of a job on it, and the job's certificate.
struct CertifiedJob {
  NamedBlob before = {};
  std::vector<NamedBlob> before_external = {};
  NamedBlob after = {};
  std::vector<NamedBlob> after_external = {};
  NamedBlob certificate = {};
  std::optional<NamedBlob> target = {};  // the job's target file, if it had one
  ModelLimits limits = {};
};
struct Verification {
  bool proved = false;    // every application of a rule
  std::string json = {};  // counts, and each application that is not proved
  std::string text = {};  // the same for a person
};
// Replays the certificate from `before`, proves each step, and compares the end with `after`.
// kInvalidArgument if the certificate is refused.
Result<Verification> VerifyJob(const CertifiedJob& job);

// InspectModel returns JSON: signature, op counts, quantization of every value, float nodes.
// GraphText returns the graph's text.
Result<std::string> InspectModel(const ModelInput& input);
Result<std::string> GraphText(const ModelInput& input);

// Measures the latency of the built-in runtime.  Without samples the inputs are random.
struct BenchOptions {
  int runs = 20;
  bool profile_ops = false;
  bool trace = false;
};
struct BenchResult {
  // JSON: {model, threads, runs, median_ms, min_ms, p10_ms, p90_ms, gops, isa}.  With `profile_ops`
  // it also has `ops`: each node's median time, kernel and speed, in order of execution.
  std::string figures = {};
  // With `trace`: a few runs in Chrome's trace event format (chrome://tracing, ui.perfetto.dev).
  std::string trace = {};
};
Result<BenchResult> BenchModel(const ModelInput& input, const BenchOptions& options,
                               const StopToken& stop);

// The tables of rules, ops, targets and options, one JSON object per line.
std::string PassesTable();
std::string OpsTable();
std::string TargetsTable();
std::string OptionsTable();
std::string WarningsTable();

}  // namespace octavo::job
