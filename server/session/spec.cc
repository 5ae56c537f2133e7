// SPDX-License-Identifier: Apache-2.0
#include "server/session/spec.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

namespace octavo::server {
namespace {

constexpr size_t kMaxNameBytes = 1024;
constexpr std::string_view kReason = "INVALID_SPEC";

std::string_view NameOf(Role role) {
  switch (role) {
    case Role::kModel:
      return "MODEL";
    case Role::kExternal:
      return "EXTERNAL";
    case Role::kProfile:
      return "PROFILE";
    case Role::kSamples:
      return "SAMPLES";
    case Role::kTarget:
      return "TARGET";
    case Role::kOptimizedModel:
      return "OPTIMIZED_MODEL";
    case Role::kReport:
      return "REPORT";
    case Role::kSnapshot:
      return "SNAPSHOT";
  }
  return "UNSPECIFIED";
}

bool IsInput(Role role) {
  return role != Role::kOptimizedModel && role != Role::kReport && role != Role::kSnapshot;
}

bool IsDigest(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

template <class... Args>
Failure Invalid(std::string field, fmt::format_string<Args...> format, Args&&... args) {
  std::string message = fmt::format(format, std::forward<Args>(args)...);
  return Fail(Code::kInvalidArgument, "{}: {}", field, message).Field(field).Reason(kReason);
}

Status CheckBlob(const BlobInfo& blob, const std::string& path) {
  if (!IsInput(blob.role)) {
    return Invalid(path + ".role",
                   "{} is a result; a request sends MODEL, EXTERNAL, PROFILE, "
                   "SAMPLES or TARGET",
                   NameOf(blob.role));
  }
  if (!IsDigest(blob.sha256)) {
    return Invalid(path + ".sha256", "must be 64 lower-case hexadecimal digits");
  }
  if (blob.name.size() > kMaxNameBytes) {
    return Invalid(path + ".name", "has {} bytes; at most {} are allowed", blob.name.size(),
                   kMaxNameBytes);
  }
  const bool named = blob.role == Role::kExternal || blob.role == Role::kSamples;
  if (named && blob.name.empty()) {
    return Invalid(path + ".name", "a blob with role {} needs a name", NameOf(blob.role));
  }
  return {};
}

Status CheckCounts(const JobSpec& spec) {
  const auto count = [&](Role role) {
    return std::count_if(spec.blobs.begin(), spec.blobs.end(),
                         [&](const BlobInfo& blob) { return blob.role == role; });
  };
  if (const auto models = count(Role::kModel); models != 1) {
    return Invalid("spec.blobs", "lists {} blobs with role MODEL; a job has exactly one", models);
  }
  for (const Role role : {Role::kProfile, Role::kTarget}) {
    if (count(role) > 1) {
      return Invalid("spec.blobs", "lists {} blobs with role {}; a job has at most one",
                     count(role), NameOf(role));
    }
  }
  return {};
}

Status CheckBytes(std::string_view what, std::string_view flag, uint64_t bytes, uint64_t limit) {
  if (bytes <= limit) return {};
  return Fail(Code::kTooLarge, "the {} {} bytes; this service accepts at most {} ({})", what, bytes,
              limit, flag)
      .Field("spec.blobs");
}

bool IsModelBytes(Role role) { return role == Role::kModel || role == Role::kExternal; }

// Saturates: declared sizes are untrusted.
uint64_t AddCapped(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

std::pair<uint64_t, uint64_t> ModelAndDataBytes(const JobSpec& spec) {
  uint64_t model = 0;
  uint64_t data = 0;
  for (const BlobInfo& blob : spec.blobs) {
    uint64_t& sum = IsModelBytes(blob.role) ? model : data;
    sum = AddCapped(sum, blob.size_bytes);
  }
  return {model, data};
}

}  // namespace

Status CheckSpec(const JobSpec& spec, const Limits& limits) {
  if (spec.blobs.size() > limits.blobs) {
    return Invalid("spec.blobs", "lists {} blobs; at most {} are allowed", spec.blobs.size(),
                   limits.blobs);
  }
  std::set<std::tuple<Role, std::string_view>> names;
  for (size_t i = 0; i < spec.blobs.size(); ++i) {
    const BlobInfo& blob = spec.blobs[i];
    const std::string path = fmt::format("spec.blobs[{}]", i);
    OCTAVO_CHECK(CheckBlob(blob, path));
    if (blob.role == Role::kModel) continue;
    if (!names.emplace(blob.role, blob.name).second) {
      return Invalid(path + ".name", "'{}' is listed twice with role {}", blob.name,
                     NameOf(blob.role));
    }
  }
  OCTAVO_CHECK(CheckCounts(spec));
  const auto [model, data] = ModelAndDataBytes(spec);
  OCTAVO_CHECK(CheckBytes("model has", "--max-model-bytes", model, limits.model_bytes));
  OCTAVO_CHECK(
      CheckBytes("samples and profile have", "--max-samples-bytes", data, limits.samples_bytes));
  return {};
}

// A generous estimate.  The float weights are a view of the upload; their packed copy and their
// quantized copy need additional memory.  A job processes samples one batch at a time, but it keeps
// the float values of a batch for the comparison.
std::string ModelNameOf(const JobSpec& spec) {
  for (const BlobInfo& blob : spec.blobs) {
    if (blob.role == Role::kModel) return blob.name;
  }
  return {};
}

Footprint EstimateFootprint(const JobSpec& spec) {
  const auto [model, data] = ModelAndDataBytes(spec);
  const uint64_t stored = AddCapped(model, data);
  const uint64_t twice = AddCapped(model, model);
  return {.stored = stored, .working = AddCapped(AddCapped(kWorkingBytes, twice), data)};
}

}  // namespace octavo::server
