// SPDX-License-Identifier: Apache-2.0
#include "core/job/calibration_run.h"

#include <algorithm>

#include "core/data/hold_out.h"
#include "core/job/settings.h"
#include "core/passes/equalize/channel_classes.h"
#include "core/profile/collect.h"

namespace octavo::job {
namespace {

// Collects the moments of as many layers as fit into memory together; those of the others come from
// further runs, of a copy of the graph, when they are needed.
class MomentsOfRun {
 public:
  MomentsOfRun(const JobContext& job, const ir::Graph& graph, ir::Batches batches)
      : job_(job),
        graph_(graph),
        batches_(std::move(batches)),
        layers_(CollectsMoments(job.request, job.options()) ? profile::LayersOf(graph)
                                                            : std::vector<profile::Layer>()),
        end_(profile::EndOfPart(layers_, 0)),
        collector_(graph, std::span(layers_).first(end_), batches_.size()) {}

  profile::MomentCollector* collector() { return &collector_; }
  std::shared_ptr<profile::MomentSource> Finish() {
    if (layers_.empty()) return nullptr;
    profile::MomentSource::Rerun rerun;
    if (end_ < layers_.size()) {
      rerun = [copy = std::make_shared<const ir::Graph>(graph_), batches = batches_,
               pool = job_.settings.pool,
               stop = job_.settings.stop](std::span<const profile::Layer> layers) {
        return profile::CollectMoments(*copy, batches, layers, *pool, stop);
      };
    }
    profile::MomentSource::Map first = collector_.Finish(*job_.settings.pool);
    return std::make_shared<profile::MomentSource>(graph_, std::move(layers_), std::move(first),
                                                   end_, std::move(rerun));
  }

 private:
  const JobContext& job_;
  const ir::Graph& graph_;
  const ir::Batches batches_;
  std::vector<profile::Layer> layers_;
  size_t end_ = 0;
  profile::MomentCollector collector_;
};

// Whether the moments are of exactly these layers, and not of others that they were lowered from.
bool HasLayers(const profile::MomentSource& moments, const passes::Division& division) {
  return std::ranges::all_of(division.layers, [&](const auto& divided) {
    const profile::Layer* layer = moments.LayerOf(divided.first);
    return layer != nullptr && layer->groups * (layer->terms / layer->unit) ==
                                   static_cast<int64_t>(divided.second.size());
  });
}

// Divides the ranges and the moments as the pass divided values; false, and no change, if they do
// not follow from those before.
bool Divide(const Options& options, const passes::Division& division, profile::Profile& profile,
            std::shared_ptr<profile::MomentSource>& moments) {
  const bool needs_histograms = options.calibration != profile::Calibration();
  if (needs_histograms || !division.measured) return false;
  if (moments != nullptr) {
    if (!HasLayers(*moments, division)) return false;
    moments = std::make_shared<profile::MomentSource>(std::move(moments), division.layers);
  }
  for (const auto& [name, range] : division.ranges) {
    profile.values.insert_or_assign(name, profile::Entry{.min = range.min, .max = range.max});
  }
  return true;
}

}  // namespace

Result<CalibrationRun> RunCalibration(const JobContext& job, const ir::Graph& graph,
                                      const data::Samples& samples,
                                      const CalibrationRequest& request) {
  MomentsOfRun moments(job, graph, samples.batches);
  std::vector<int> axes;
  if (request.channels) axes = passes::ChannelAxesOf(graph);
  std::optional<MomentsOfRun> even_moments;
  if (request.even_moments) {
    even_moments.emplace(job, graph, data::HoldOut(samples, 2).calibration.batches);
    request.halves->moments = even_moments->collector();
  }
  CalibrationRun run;
  OCTAVO_TRY(run.profile, profile::Collect(graph, samples.batches,
                                           {.samples = samples.count,
                                            .progress = request.progress,
                                            .kept = request.kept,
                                            .moments = moments.collector(),
                                            .halves = request.halves,
                                            .channel_axes = axes},
                                           *job.settings.pool, job.settings.stop));
  run.moments = moments.Finish();
  if (even_moments) run.even_moments = even_moments->Finish();
  return run;
}

Status EqualizeChannels(const JobContext& job, const data::Samples& samples, Rewriting& rewriting,
                        std::optional<profile::Profile>& profile,
                        std::shared_ptr<profile::MomentSource>& moments) {
  const size_t earlier = rewriting.records.size();
  OCTAVO_CHECK(RunPhases(job, "passes", {passes::Phase::kEqualize}, rewriting));
  const bool changed = rewriting.records.size() > earlier && rewriting.records.back().changed > 0;
  if (!changed || job.request.profile || samples.batches.empty()) return {};
  if (Divide(job.options(), rewriting.findings.division, *profile, moments)) return {};
  OCTAVO_TRY(CalibrationRun run,
             RunCalibration(job, rewriting.graph, samples, CalibrationRequest()));
  run.profile.model_digest = profile->model_digest;
  *profile = std::move(run.profile);
  moments = std::move(run.moments);
  return {};
}

}  // namespace octavo::job
