// SPDX-License-Identifier: Apache-2.0
#include "core/profile/collect.h"

#include "core/float_exec/run.h"

namespace octavo::profile {

Result<Profile> Collect(const ir::Graph& graph, const std::vector<std::vector<ir::Tensor>>& batches,
                        const CollectOptions& options, ThreadPool& pool, const StopToken& stop) {
  std::vector<Histogram> histograms(graph.value_bound());
  const auto watch = [&](ir::ValueId id, const ir::Tensor& tensor) {
    if (tensor.dtype() == ir::DType::kF32) histograms[id.index].Add(tensor.values<float>(), &pool);
  };
  const auto watch_and_keep = [&](ir::ValueId id, const ir::Tensor& tensor) {
    watch(id, tensor);
    if (options.kept != nullptr) options.kept->Keep(id, tensor);
  };
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(graph));
  int64_t done = 0;
  for (const std::vector<ir::Tensor>& batch : batches) {
    for (size_t i = 0; i < batch.size() && i < graph.inputs().size(); ++i) {
      watch(graph.inputs()[i], batch[i]);
    }
    if (options.kept != nullptr) options.kept->AddSample();
    OCTAVO_CHECK(session.Run(batch, pool, stop, watch_and_keep));
    ++done;
    if (options.progress) options.progress(done, static_cast<int64_t>(batches.size()));
  }

  Profile profile{.model_digest = options.model_digest, .samples = options.samples};
  for (size_t i = 0; i < histograms.size(); ++i) {
    Histogram& histogram = histograms[i];
    if (histogram.empty() && histogram.non_finite() == 0) continue;
    const std::string& name = graph.name(ir::ValueId{static_cast<int32_t>(i)});
    Entry entry{
        .min = histogram.min(), .max = histogram.max(), .non_finite = histogram.non_finite()};
    if (!histogram.empty()) entry.histogram = std::move(histogram);
    profile.values.emplace(name, std::move(entry));
  }
  return profile;
}

}  // namespace octavo::profile
