// What a client asks for in its first message, free of the wire's types: the options and the
// blobs that are to come, as declared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/status.h"
#include "core/job/options.h"
#include "server/session/limits.h"

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
  job::Options options = {};
  std::vector<BlobInfo> blobs = {};
};

// Whether the spec is well formed and within the limits.  The error's field is the path of the
// offending thing, "spec.blobs[2].sha256".
Status CheckSpec(const JobSpec& spec, const Limits& limits);

// What admission counts: bytes kept of the upload, and bytes that the job is expected to need
// while it runs.
struct Footprint {
  uint64_t stored = 0;
  uint64_t working = 0;
};
Footprint EstimateFootprint(const JobSpec& spec);

}  // namespace octavo::server
