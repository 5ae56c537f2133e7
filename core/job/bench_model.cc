// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/cpu.h"
#include "core/job/execute.h"
#include "core/job/load.h"
#include "core/runtime/plan.h"

namespace octavo::job {
namespace {

using nlohmann::ordered_json;

double Percentile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<size_t>(std::lround(share * static_cast<double>(sorted.size() - 1)))];
}

using Steps = std::vector<runtime::StepProfile>;

// Separate runs time the steps, because reading the clock would slow the measured runs.
constexpr int kProfiledRuns = 5;
constexpr std::chrono::milliseconds kWarmUp{50};

ordered_json OpsOf(const std::vector<Steps>& runs) {
  ordered_json ops = ordered_json::array();
  for (size_t i = 0; i < runs[0].size(); ++i) {
    std::vector<double> times;
    for (const Steps& steps : runs) times.push_back(steps[i].seconds);
    std::ranges::sort(times);
    const double seconds = Percentile(times, 0.5);
    const runtime::StepProfile& step = runs[0][i];
    ops.push_back({{"node", step.node},
                   {"op", step.op},
                   {"kernel", step.kernel},
                   {"isa", step.isa},
                   {"ms", seconds * 1e3},
                   {"gops", seconds > 0 ? step.operations / seconds * 1e-9 : 0}});
  }
  return ops;
}

// One row of the trace viewer for the runs and one for the steps; times are in microseconds.
std::string TraceOf(const std::string& model, const std::vector<Steps>& runs) {
  const auto name_row = [](int row, std::string_view name) {
    return ordered_json{{"name", row == 0 ? "process_name" : "thread_name"},
                        {"ph", "M"},
                        {"pid", 1},
                        {"tid", row},
                        {"args", {{"name", name}}}};
  };
  ordered_json events = {name_row(0, "octavo bench " + model), name_row(1, "runs"),
                         name_row(2, "steps")};
  const auto add = [&](int row, std::string_view name, std::string_view category, double begin,
                       double seconds, ordered_json args) {
    events.push_back({{"name", name},
                      {"cat", category},
                      {"ph", "X"},
                      {"ts", begin * 1e6},
                      {"dur", seconds * 1e6},
                      {"pid", 1},
                      {"tid", row},
                      {"args", std::move(args)}});
  };
  double begin = 0;
  for (size_t run = 0; run < runs.size(); ++run) {
    const Steps& steps = runs[run];
    const double end = steps.empty() ? 0 : steps.back().begin + steps.back().seconds;
    add(1, "run " + std::to_string(run), "run", begin, end, {{"steps", steps.size()}});
    for (const runtime::StepProfile& step : steps) {
      const double gops = step.seconds > 0 ? step.operations / step.seconds * 1e-9 : 0;
      add(2, step.node, step.op, begin + step.begin, step.seconds,
          {{"op", step.op}, {"kernel", step.kernel}, {"isa", step.isa}, {"gops", gops}});
    }
    begin += end;
  }
  return ordered_json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ms"}}.dump() + "\n";
}

}  // namespace

Result<BenchResult> BenchModel(const ModelInput& input, const BenchOptions& options,
                               const StopToken& stop) {
  const std::vector<NamedBlob> random = {{.name = "random:0:1"}};
  OCTAVO_TRY(const Loaded loaded,
             Load({.model = input.model,
                   .external_data = input.external_data,
                   .samples = input.samples.empty() ? random : input.samples,
                   .shape = input.shape,
                   .batch = input.batch,
                   .limits = input.limits,
                   .unsupported = input.strict_ops ? LoadRequest::Unsupported::kRefuse
                                                   : LoadRequest::Unsupported::kLeave}));
  if (loaded.model.graph.node_count() == 0) OCTAVO_CHECK(CheckComputes(loaded));
  if (loaded.samples.batches.empty()) {
    return Fail(Code::kInvalidArgument, "the data holds no sample").Field("data");
  }
  ThreadPool pool(input.threads);
  OCTAVO_TRY(const runtime::Plan plan, runtime::Plan::Create(loaded.model.graph, {}, pool));
  OCTAVO_TRY(const ir::Batches::Batch batch, loaded.samples.batches.Read(0, stop));
  Steps steps;
  OCTAVO_CHECK(plan.Run(batch, pool, stop, {}, &steps));  // this run counts operations
  // Warm up: a processor takes longer to raise its clock than a small model takes to run.
  const auto warm = std::chrono::steady_clock::now() + kWarmUp;
  while (std::chrono::steady_clock::now() < warm) OCTAVO_CHECK(plan.Run(batch, pool, stop));
  double operations = 0;
  for (const runtime::StepProfile& step : steps) operations += step.operations;

  std::vector<double> times;
  for (int run = 0; run < std::max(1, options.runs); ++run) {
    const auto start = std::chrono::steady_clock::now();
    OCTAVO_CHECK(plan.Run(batch, pool, stop));
    const std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    times.push_back(spent.count());
  }
  std::ranges::sort(times);
  const double median = Percentile(times, 0.5);
  ordered_json json = {{"model", input.model.name},
                       {"threads", pool.threads()},
                       {"runs", times.size()},
                       {"median_ms", median},
                       {"min_ms", times.front()},
                       {"p10_ms", Percentile(times, 0.1)},
                       {"p90_ms", Percentile(times, 0.9)},
                       {"gops", operations / (median * 1e6)},
                       {"isa", IsaName(CurrentIsa())}};
  if (const onnx::OpaquePart* opaque = OpaqueOf(loaded.model.contract)) {
    json["not_run"] = opaque->nodes.size();  // nodes that the figures leave out
  }
  BenchResult result;
  if (options.profile_ops || options.trace) {
    std::vector<Steps> profiled(kProfiledRuns);
    for (Steps& run : profiled) OCTAVO_CHECK(plan.Run(batch, pool, stop, {}, &run));
    if (options.profile_ops) json["ops"] = OpsOf(profiled);
    if (options.trace) result.trace = TraceOf(input.model.name, profiled);
  }
  result.figures = json.dump() + "\n";
  return result;
}

}  // namespace octavo::job
