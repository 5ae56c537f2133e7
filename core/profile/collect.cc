// SPDX-License-Identifier: Apache-2.0
#include "core/profile/collect.h"

#include <algorithm>

#include "core/float_exec/run.h"

namespace octavo::profile {
namespace {

constexpr size_t kPart = size_t{1} << 20;  // elements between two looks at a stop: about 15 ms

// Histograms are of the same bits in whatever parts values are added.  After a stop the histogram
// is incomplete.
void AddUntilStopped(std::span<const float> values, ThreadPool& pool, const StopToken& stop,
                     Histogram& histogram) {
  for (size_t done = 0; done < values.size() && !stop.StopRequested(); done += kPart) {
    histogram.Add(values.subspan(done, std::min(kPart, values.size() - done)), &pool);
  }
}

}  // namespace

Result<Profile> Collect(const ir::Graph& graph, const ir::Batches& batches,
                        const CollectOptions& options, ThreadPool& pool, const StopToken& stop) {
  std::vector<Histogram> histograms(graph.value_bound());
  const auto watch = [&](ir::ValueId id, const ir::Tensor& tensor) {
    if (tensor.dtype() != ir::DType::kF32) return;
    AddUntilStopped(tensor.values<float>(), pool, stop, histograms[id.index]);
    if (options.moments != nullptr) options.moments->Watch(id, tensor, pool);
  };
  const auto watch_and_keep = [&](ir::ValueId id, const ir::Tensor& tensor) {
    watch(id, tensor);
    if (options.kept != nullptr) options.kept->Keep(id, tensor);
  };
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(graph));
  for (int64_t done = 0; done < batches.size(); ++done) {
    OCTAVO_TRY(const ir::Batches::Batch batch, batches.Read(done, stop));
    for (size_t i = 0; i < batch.size() && i < graph.inputs().size(); ++i) {
      watch(graph.inputs()[i], batch[i]);
    }
    if (options.kept != nullptr) options.kept->AddSample();
    OCTAVO_CHECK(session.Run(batch, pool, stop, watch_and_keep));
    OCTAVO_CHECK(stop.Check());  // which the last value's histogram may have heard
    if (options.progress) options.progress(done + 1, batches.size());
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

Result<MomentSource::Map> CollectMoments(const ir::Graph& graph, const ir::Batches& batches,
                                         std::span<const Layer> layers, ThreadPool& pool,
                                         const StopToken& stop) {
  MomentCollector collector(graph, layers, batches.size());
  const auto watch = [&](ir::ValueId id, const ir::Tensor& tensor) {
    if (tensor.dtype() == ir::DType::kF32) collector.Watch(id, tensor, pool);
  };
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(graph));
  for (int64_t i = 0; i < batches.size(); ++i) {
    OCTAVO_TRY(const ir::Batches::Batch batch, batches.Read(i, stop));
    for (size_t input = 0; input < batch.size() && input < graph.inputs().size(); ++input) {
      watch(graph.inputs()[input], batch[input]);
    }
    OCTAVO_CHECK(session.Run(batch, pool, stop, watch));
  }
  return collector.Finish(pool);
}

}  // namespace octavo::profile
