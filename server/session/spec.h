// SPDX-License-Identifier: Apache-2.0
// The first message of a call as plain structs: the options and the declared blobs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/options/options.h"
#include "server/session/limits.h"
#include "server/store/job_store.h"

namespace octavo::server {

enum class Role {
  kModel,
  kExternal,
  kProfile,
  kSamples,
  kTarget,
  kOptimizedModel,
  kReport,
  kSnapshot,
};

struct BlobInfo {
  Role role = Role::kModel;
  std::string name = {};
  uint64_t size_bytes = 0;
  std::string sha256 = {};

  bool operator==(const BlobInfo&) const = default;
};

struct JobSpec {
  Options options = {};
  std::vector<BlobInfo> blobs = {};
  std::string action_digest = {};
  bool no_cache = false;  // run the job although its result is kept, and compare
  int priority = 0;       // among the client's own jobs; the highest runs first
  // Of a job that outlives its call: what the client gave, without ids.
  std::optional<NewJob> detached = {};
};

// Checks that the blobs are well formed and within the limits; SpecFromWire checks the options. An
// error's field is the path in the spec, as in "spec.blobs[2].sha256".
Status CheckSpec(const JobSpec& spec, const Limits& limits);

// The name of the model's blob.
std::string ModelNameOf(const JobSpec& spec);

// The two quantities that admission counts: bytes of the upload, and estimated bytes that the
// running job needs in addition.
struct Footprint {
  uint64_t stored = 0;
  uint64_t working = 0;
};
Footprint EstimateFootprint(const JobSpec& spec);

}  // namespace octavo::server
