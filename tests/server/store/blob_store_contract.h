// SPDX-License-Identifier: Apache-2.0
// What every blob store must do.  An implementation passes its StoreHarness to
// INSTANTIATE_TEST_SUITE_P(NAME, BlobStoreContract, ...).
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "core/base/sha256.h"
#include "server/store/blob_store.h"

namespace octavo::server {

inline BlobDigest DigestOf(const std::string& bytes) {
  return {.sha256 = Sha256Of(bytes), .size_bytes = bytes.size()};
}

inline std::string ReadAll(const HeldBlob& blob) {
  std::string bytes(blob->digest().size_bytes, '\0');
  EXPECT_TRUE(blob->Read(0, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

// One store under test.
class StoreHarness {
 public:
  virtual ~StoreHarness() = default;
  virtual BlobStore& store() = 0;
  // Changes one byte of a complete blob behind the store's back.
  virtual void Damage(const BlobDigest& digest) = 0;
  // Advances the clock by which partial blobs age; their period is an hour.
  virtual void Wait(std::chrono::seconds period) = 0;
};

struct StoreSize {
  uint64_t limit_bytes = uint64_t{1} << 20;
  size_t partials = 16;
};

struct StoreFactory {
  std::string name = {};
  std::function<std::unique_ptr<StoreHarness>(StoreSize)> make = {};
};

class BlobStoreContract : public testing::TestWithParam<StoreFactory> {
 protected:
  void Make(StoreSize size = {}) { harness_ = GetParam().make(size); }
  BlobStore& store() { return harness_->store(); }

  void Put(const std::string& bytes) {
    const auto stored = StoreBytes(store(), DigestOf(bytes), Blob(bytes));
    ASSERT_TRUE(stored) << stored.error().message;
  }
  // Whether the store has the blob with its right bytes.
  bool Has(const std::string& bytes, Check check = Check::kAlways) {
    const auto blob = store().Open(DigestOf(bytes), check);
    EXPECT_TRUE(blob) << blob.error().message;
    if (!*blob) return false;
    EXPECT_EQ(ReadAll(*blob), bytes);
    return true;
  }

  std::unique_ptr<StoreHarness> harness_;
};

}  // namespace octavo::server
