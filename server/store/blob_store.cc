// SPDX-License-Identifier: Apache-2.0
#include "server/store/blob_store.h"

#include <algorithm>

namespace octavo::server {
namespace {

constexpr size_t kPart = size_t{1} << 20;

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

Status CheckDigest(const BlobDigest& digest) {
  const std::string& text = digest.sha256;
  if (text.size() != 64 || !std::all_of(text.begin(), text.end(), &IsHexDigit)) {
    return Fail(Code::kInvalidArgument,
                "a SHA-256 digest has 64 lower-case hexadecimal digits; this has {} bytes",
                text.size())
        .Field("digest.sha256")
        .Reason("INVALID_SPEC");
  }
  return {};
}

Result<HeldBlob> StoreBytes(BlobStore& store, const BlobDigest& digest, const Blob& bytes) {
  OCTAVO_TRY(const std::unique_ptr<BlobWriter> writer, store.Write(digest));
  for (uint64_t at = writer->committed(); at < bytes.size(); at = writer->committed()) {
    OCTAVO_CHECK(writer->Append(at, bytes.Slice(at, std::min(kPart, bytes.size() - at))));
  }
  return writer->Commit();
}

}  // namespace octavo::server
