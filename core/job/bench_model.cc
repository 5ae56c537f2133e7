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

}  // namespace

Result<std::string> BenchModel(const ModelInput& input, const BenchOptions& options,
                               const StopToken& stop) {
  const std::vector<NamedBlob> random = {{.name = "random:0:1"}};
  OCTAVO_TRY(const Loaded loaded, Load({.model = input.model,
                                        .external_data = input.external_data,
                                        .samples = input.samples.empty() ? random : input.samples,
                                        .shape = input.shape,
                                        .batch = input.batch}));
  if (loaded.samples.batches.empty()) {
    return Fail(Code::kInvalidArgument, "the data holds no sample").Field("data");
  }
  ThreadPool pool(input.threads);
  OCTAVO_TRY(const runtime::Plan plan, runtime::Plan::Create(loaded.model.graph, {}, pool));
  const std::vector<ir::Tensor>& batch = loaded.samples.batches[0];
  std::vector<runtime::StepProfile> steps;
  OCTAVO_CHECK(plan.Run(batch, pool, stop, {}, &steps));  // warms caches, counts operations
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
                       {"p10_ms", Percentile(times, 0.1)},
                       {"p90_ms", Percentile(times, 0.9)},
                       {"gops", operations / (median * 1e6)},
                       {"isa", IsaName(CurrentIsa())}};
  if (options.profile_ops) {
    json["ops"] = ordered_json::array();
    for (const runtime::StepProfile& step : steps) {
      json["ops"].push_back(
          {{"node", step.node},
           {"op", step.op},
           {"kernel", step.kernel},
           {"isa", step.isa},
           {"ms", step.seconds * 1e3},
           {"gops", step.seconds > 0 ? step.operations / step.seconds * 1e-9 : 0}});
    }
  }
  return json.dump() + "\n";
}

}  // namespace octavo::job
