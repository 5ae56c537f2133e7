// SPDX-License-Identifier: Apache-2.0
#include "core/base/mapped_pages.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "core/base/sha256.h"

namespace octavo {
namespace {

// Bytes of mapped files that are resident in this process.
int64_t ResidentFiles() {
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    if (word != "RssFile:") continue;
    int64_t kilobytes = 0;
    status >> kilobytes;
    return kilobytes << 10;
  }
  return 0;
}

std::vector<std::byte> Pattern(size_t size) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 7 + i / 4096);
  return bytes;
}

constexpr int64_t kSize = int64_t{32} << 20;
constexpr int64_t kMax = kSize / 8;  // tolerance for other mappings

TEST(MappedPages, ACopyInAFileHoldsTheBytesAndLeavesMemoryWhenReleased) {
  const std::vector<std::byte> bytes = Pattern(kSize + 17);
  const int64_t before = ResidentFiles();
  const Blob copy = CopyToFile(bytes);
  ASSERT_TRUE(std::ranges::equal(copy.bytes(), bytes));
  EXPECT_NEAR(ResidentFiles() - before, kSize, kMax);
  ReleasePages(copy.bytes());
  EXPECT_NEAR(ResidentFiles(), before, kMax);
  EXPECT_TRUE(std::ranges::equal(copy.bytes(), bytes));
}

TEST(MappedPages, OnlyTheGivenPartIsReleased) {
  const std::vector<std::byte> bytes = Pattern(kSize);
  const int64_t before = ResidentFiles();
  const Blob copy = CopyToFile(bytes);
  ASSERT_TRUE(std::ranges::equal(copy.bytes(), bytes));
  constexpr int64_t kHalf = kSize / 2;
  ReleasePages(copy.bytes().subspan(100, kHalf));
  EXPECT_NEAR(ResidentFiles() - before, kHalf, kMax);
  EXPECT_TRUE(std::ranges::equal(copy.bytes(), bytes));
}

TEST(MappedPages, OtherMemoryStaysAsItIs) {
  std::vector<std::byte> bytes = Pattern(8 * 4096);
  const std::vector<std::byte> before = bytes;
  ReleasePages(bytes);
  EXPECT_EQ(bytes, before);
}

TEST(MappedPages, TheDigestIsThatOfTheBytes) {
  const std::vector<std::byte> bytes = Pattern((size_t{16} << 20) + 5);
  EXPECT_EQ(Sha256OfMapped(bytes), Sha256Of(bytes));
  EXPECT_EQ(Sha256OfMapped({}), Sha256Of(std::string_view()));
}

}  // namespace
}  // namespace octavo
