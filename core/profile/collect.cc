// SPDX-License-Identifier: Apache-2.0
#include "core/profile/collect.h"

#include <algorithm>

#include "core/float_exec/run.h"
#include "core/profile/channel_ranges.h"

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

// What a run has shown of each value.
class Collector {
 public:
  // `moments` sees every value, as options.moments does; may be null.
  Collector(const ir::Graph& graph, const CollectOptions& options, MomentCollector* moments,
            ThreadPool& pool, const StopToken& stop)
      : graph_(graph),
        options_(options),
        moments_(moments),
        pool_(pool),
        stop_(stop),
        histograms_(graph.value_bound()),
        channels_(graph.value_bound()) {}

  void Watch(ir::ValueId id, const ir::Tensor& tensor) {
    if (tensor.dtype() != ir::DType::kF32) return;
    AddUntilStopped(tensor.values<float>(), pool_, stop_, histograms_[id.index]);
    AddChannels(id, tensor);
    if (options_.moments != nullptr) options_.moments->Watch(id, tensor, pool_);
    if (moments_ != nullptr) moments_->Watch(id, tensor, pool_);
  }

  // `samples` were in the batches.
  Profile Finish(int64_t samples) {
    Profile profile{.model_digest = options_.model_digest, .samples = samples};
    for (size_t i = 0; i < histograms_.size(); ++i) {
      Histogram& histogram = histograms_[i];
      if (histogram.empty() && histogram.non_finite() == 0) continue;
      const std::string& name = graph_.name(ir::ValueId{static_cast<int32_t>(i)});
      Entry entry{.min = histogram.min(),
                  .max = histogram.max(),
                  .non_finite = histogram.non_finite(),
                  .channels = std::move(channels_[i])};
      if (!histogram.empty()) entry.histogram = std::move(histogram);
      profile.values.emplace(name, std::move(entry));
    }
    return profile;
  }

 private:
  void AddChannels(ir::ValueId id, const ir::Tensor& tensor) {
    if (options_.channel_axes.empty() || options_.channel_axes[id.index] < 0) return;
    const int axis = options_.channel_axes[id.index];
    const int64_t count = tensor.shape()[static_cast<size_t>(axis)];
    if (count > kMostChannels) return;
    std::optional<ChannelRanges>& ranges = channels_[id.index];
    if (!ranges) ranges = EmptyRanges(axis, count);
    AddTo(*ranges, tensor, pool_);
  }

  const ir::Graph& graph_;
  const CollectOptions& options_;
  MomentCollector* const moments_;
  ThreadPool& pool_;
  const StopToken& stop_;
  std::vector<Histogram> histograms_;                   // by value
  std::vector<std::optional<ChannelRanges>> channels_;  // by value
};

}  // namespace

Result<Profile> Collect(const ir::Graph& graph, const ir::Batches& batches,
                        const CollectOptions& options, ThreadPool& pool, const StopToken& stop) {
  Halves* const halves = options.halves;
  Collector even(graph, options, halves != nullptr ? halves->moments : nullptr, pool, stop);
  Collector odd(graph, options, nullptr, pool, stop);
  Collector* collector = &even;
  const auto watch = [&](ir::ValueId id, const ir::Tensor& tensor) {
    collector->Watch(id, tensor);
    if (options.kept != nullptr) options.kept->Keep(id, tensor);
  };
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(graph));
  for (int64_t done = 0; done < batches.size(); ++done) {
    OCTAVO_TRY(const ir::Batches::Batch batch, batches.Read(done, stop));
    if (halves != nullptr) collector = done % 2 == 0 ? &even : &odd;
    for (size_t i = 0; i < batch.size() && i < graph.inputs().size(); ++i) {
      collector->Watch(graph.inputs()[i], batch[i]);
    }
    if (options.kept != nullptr) options.kept->AddSample();
    OCTAVO_TRY(std::vector<ir::Tensor> outputs, session.Run(batch, pool, stop, watch));
    OCTAVO_CHECK(stop.Check());  // which the last value's histogram may have heard
    if (halves != nullptr && done % 2 == 1 && done / 2 < halves->kept_odd) {
      halves->outputs.push_back(std::move(outputs));
    }
    if (options.progress) options.progress(done + 1, batches.size());
  }
  if (halves == nullptr) return even.Finish(options.samples);
  const int64_t batch = options.samples / std::max<int64_t>(batches.size(), 1);
  const int64_t held = batches.size() / 2 * batch;
  halves->even = even.Finish(options.samples - held);
  return Merge({halves->even, odd.Finish(held)});
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
