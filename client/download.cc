// SPDX-License-Identifier: Apache-2.0
#include "client/download.h"

#include <utility>

namespace octavo::client {
namespace {

template <class... Args>
Failure BadAnswer(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(Code::kInternal, "invalid response of the service: {}",
              fmt::format(format, std::forward<Args>(args)...))
      .Reason("BAD_ANSWER");
}

}  // namespace

Status Download::Begin(const v1::BlobInfo& info) {
  items_.push_back({.info = info, .bytes = ReceivedBytes(info.size_bytes(), folder_)});
  announced_ += info.size_bytes();
  return {};
}

Status Download::Add(const v1::Chunk& chunk) {
  if (chunk.blob() >= items_.size()) {
    return BadAnswer("a chunk of blob {} of {}", chunk.blob(), items_.size());
  }
  Item& item = items_[chunk.blob()];
  if (chunk.offset() != item.bytes.size() ||
      chunk.data().size() > item.info.size_bytes() - item.bytes.size()) {
    return BadAnswer("'{}': a chunk of {} bytes at offset {}, but {} of {} bytes have arrived",
                     item.info.name(), chunk.data().size(), chunk.offset(), item.bytes.size(),
                     item.info.size_bytes());
  }
  OCTAVO_CHECK(item.bytes.Append(chunk.data()));
  item.hash.Update(chunk.data());
  received_ += chunk.data().size();
  return {};
}

Result<job::Outcome> Download::Finish(const v1::Finished& finished) {
  job::Outcome outcome{.gate_failed = finished.gate_failed(), .message = finished.message()};
  bool has_model = false;
  for (Item& item : items_) {
    if (item.bytes.size() != item.info.size_bytes()) {
      return BadAnswer("'{}' has {} of {} bytes", item.info.name(), item.bytes.size(),
                       item.info.size_bytes());
    }
    if (item.hash.Finish() != item.info.sha256()) {
      return BadAnswer("'{}' does not match its digest", item.info.name());
    }
    OCTAVO_TRY(Blob bytes, item.bytes.Finish());
    if (item.info.role() == v1::BlobInfo::ROLE_REPORT) {
      outcome.report_json = bytes.text();
      continue;
    }
    job::NamedBlob blob{.name = item.info.name(), .bytes = std::move(bytes)};
    switch (item.info.role()) {
      case v1::BlobInfo::ROLE_OPTIMIZED_MODEL:
        outcome.model = std::move(blob);
        has_model = true;
        break;
      case v1::BlobInfo::ROLE_EXTERNAL:
        outcome.external.push_back(std::move(blob));
        break;
      case v1::BlobInfo::ROLE_SNAPSHOT:
        outcome.snapshots.push_back(std::move(blob));
        break;
      default:
        return BadAnswer("'{}' does not have the role of a result", blob.name);
    }
  }
  if (!has_model) return BadAnswer("the model is missing");
  return outcome;
}

}  // namespace octavo::client
