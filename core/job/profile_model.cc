// SPDX-License-Identifier: Apache-2.0
#include "core/job/execute.h"
#include "core/job/load.h"
#include "core/job/prepare.h"
#include "core/profile/collect.h"

namespace octavo::job {

Result<std::string> MakeProfile(const ModelInput& input, const StopToken& stop,
                                const Observer& observer) {
  if (input.samples.empty()) return Fail(Code::kUsage, "profile needs --data").Field("data");
  OCTAVO_TRY(Loaded loaded, Load(RequestOf(input, input)));
  ThreadPool pool(input.threads);
  OCTAVO_CHECK(PrepareFloat(loaded.model.graph, pool, stop));
  OCTAVO_TRY(const profile::Profile profile,
             profile::Collect(loaded.model.graph, loaded.samples.batches,
                              {.model_digest = "sha256:" + loaded.digest.get(),
                               .samples = loaded.samples.count,
                               .progress =
                                   [&](int64_t done, int64_t total) {
                                     if (!observer) return;
                                     observer({.stage = "profile", .done = done, .total = total});
                                   }},
                              pool, stop));
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
