// SPDX-License-Identifier: Apache-2.0
#include "server/blobs/blob_services.h"

#include <utility>

namespace octavo::server {

CallStatus FromStore(Error error) {
  const bool may_recover = error.code == Code::kResourceExhausted;
  return {.error = std::move(error),
          .retry_after = may_recover ? std::optional(kStorageRetry) : std::nullopt};
}

Result<std::vector<BlobDigest>> FindMissing(BlobStore& store, std::span<const BlobDigest> digests) {
  if (digests.size() > kMostDigests) {
    return Fail(Code::kInvalidArgument, "{} digests; a request has at most {}", digests.size(),
                kMostDigests)
        .Field("digests")
        .Reason("INVALID_SPEC");
  }
  std::vector<BlobDigest> missing;
  for (size_t i = 0; i < digests.size(); ++i) {
    const auto blob = store.Open(digests[i], Check::kNone);
    if (!blob) {
      Error error = blob.error();
      if (error.code == Code::kInvalidArgument) error.field = fmt::format("digests[{}].sha256", i);
      return tl::unexpected(std::move(error));
    }
    if (*blob == nullptr) missing.push_back(digests[i]);
  }
  return missing;
}

}  // namespace octavo::server
