// SPDX-License-Identifier: Apache-2.0
// Computes a digest on another thread while its caller stores the bytes.  For one caller at a time.
#pragma once

#include <memory>
#include <string>

#include "core/base/blob.h"
#include "server/store/blob_store.h"

namespace octavo::server {

class HashQueue {
 public:
  // Bytes that may wait.  Beyond, Add hashes too, so memory is bounded and a busy executor cannot
  // block the caller.
  static constexpr size_t kMostWaiting = size_t{4} << 20;

  // Without an executor, Add hashes.
  explicit HashQueue(Executor executor);
  HashQueue(HashQueue&&) noexcept = default;
  HashQueue& operator=(HashQueue&&) noexcept = default;

  void Add(Blob bytes);
  // The digest of all bytes added; the object must not be used afterwards.
  std::string Finish();

 private:
  struct State;
  Executor executor_;
  std::shared_ptr<State> state_;
};

}  // namespace octavo::server
