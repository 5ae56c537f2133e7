// SPDX-License-Identifier: Apache-2.0
#include "core/job/execute.h"
#include "core/job/job_warnings.h"
#include "core/job/load.h"
#include "core/job/opaque.h"
#include "core/job/prepare.h"
#include "core/job/settings.h"
#include "core/passes/equalize/channel_classes.h"
#include "core/profile/collect.h"

namespace octavo::job {

namespace {

// The graph as jobs of the other limits prepare it, where that is another one.
Result<std::optional<ir::Graph>> OtherPreparation(const ir::Graph& imported, passes::Effect limit,
                                                  ThreadPool& pool, const StopToken& stop) {
  const bool exact = limit == passes::Effect::kExact;
  ir::Graph graph = imported;
  const passes::Effect other = exact ? passes::Effect::kRealExact : passes::Effect::kExact;
  OCTAVO_TRY(bool differs, PrepareFloat(graph, other, pool, stop));
  if (exact && !differs) return std::nullopt;
  if (!exact) {
    ir::Graph again = imported;
    OCTAVO_TRY(differs, PrepareFloat(again, limit, pool, stop));
    if (!differs) return std::nullopt;
  }
  return graph;
}

}  // namespace

namespace {

// The profile of the samples that are loaded.
Result<profile::Profile> ProfileOf(Loaded& loaded, passes::Effect effect, ThreadPool& pool,
                                   const StopToken& stop, const Observer& observer) {
  OCTAVO_TRY(const std::optional<ir::Graph> other,
             OtherPreparation(loaded.model.graph, effect, pool, stop));
  ir::Graph& graph = loaded.model.graph;
  OCTAVO_CHECK(PrepareFloat(graph, effect, pool, stop));
  const int64_t batches = loaded.samples.batches.size();
  const auto collect = [&](const ir::Graph& prepared, int64_t before) {
    const std::vector<int> axes = passes::ChannelAxesOf(prepared);
    return profile::Collect(prepared, loaded.samples.batches,
                            {.model_digest = "sha256:" + loaded.digest.get(),
                             .samples = loaded.samples.count,
                             .progress =
                                 [&](int64_t done, int64_t) {
                                   if (!observer) return;
                                   observer({.stage = "profile",
                                             .done = before + done,
                                             .total = other ? 2 * batches : batches});
                                 },
                             .channel_axes = axes},
                            pool, stop);
  };
  OCTAVO_TRY(profile::Profile profile, collect(graph, 0));
  if (other) {
    OCTAVO_TRY(profile::Profile more, collect(*other, batches));
    profile.values.merge(more.values);  // adds the names that the first does not have
  }
  return profile;
}

}  // namespace

Result<std::string> MakeProfile(const ModelInput& input, NumericsLimit limit, const StopToken& stop,
                                const Observer& observer, std::vector<ir::Warning>* warnings) {
  LoadRequest request = RequestOf(input, input, stop);
  request.several_sizes = true;
  OCTAVO_TRY(Loaded loaded, LoadToRun(request, "profile"));
  ThreadPool pool(input.threads);
  const passes::Effect effect = EffectOf(limit);
  OCTAVO_TRY(profile::Profile profile, ProfileOf(loaded, effect, pool, stop, observer));
  request.several_sizes = false;
  for (const data::SampleSource& samples : loaded.other_sizes) {
    OCTAVO_TRY(Loaded at_size, LoadAtSize(request, samples));
    at_size.digest = loaded.digest;
    OCTAVO_TRY(const profile::Profile more, ProfileOf(at_size, effect, pool, stop, observer));
    OCTAVO_TRY(profile, profile::Merge({profile, more}));
  }
  if (warnings != nullptr) {
    WarnOfOpaque(loaded.model, *warnings);
    loaded.samples.count = profile.samples;
    WarnOfSamples(loaded.samples, loaded.survey.get(), *warnings);
  }
  return profile::ToJson(profile);
}

Result<std::string> MergeProfiles(const std::vector<NamedBlob>& profiles) {
  std::vector<profile::Profile> parsed;
  for (const NamedBlob& blob : profiles) {
    auto profile = profile::Parse(blob.bytes.text());
    if (!profile) {
      Error error = std::move(profile).error();
      error.message = fmt::format("'{}': {}", blob.name, error.message);
      return Forward(std::move(error));
    }
    parsed.push_back(std::move(*profile));
  }
  OCTAVO_TRY(const profile::Profile merged, profile::Merge(parsed));
  return profile::ToJson(merged);
}

Result<std::string> GlowYamlOf(std::string_view profile) {
  OCTAVO_TRY(const profile::Profile parsed, profile::Parse(profile));
  return profile::ToGlowYaml(parsed);
}

}  // namespace octavo::job
