// SPDX-License-Identifier: Apache-2.0
// What the client shows of a transfer, and where it keeps what arrives.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "client/cli/progress_printer.h"
#include "client/received_bytes.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMib = 1 << 20;

TEST(TransferText, shows_the_rate_and_the_time_left) {
  const job::Progress half{.stage = "upload", .done = 2 * kMib, .total = 8 * kMib};
  EXPECT_EQ(cli::TransferText(half, 4), "2.0/8.0 MiB, 0.5 MiB/s, 12 s left");
  EXPECT_EQ(cli::TransferText(half, 0.5), "2.0/8.0 MiB, 4.0 MiB/s");
  EXPECT_EQ(cli::TransferText(half, 0), "2.0/8.0 MiB, 0.0 MiB/s");
  const job::Progress all{.stage = "upload", .done = 8 * kMib, .total = 8 * kMib};
  EXPECT_EQ(cli::TransferText(all, 4), "8.0/8.0 MiB, 2.0 MiB/s");
}

// Resident memory that is not that of a file, in bytes.
int64_t AnonymousMemory() {
  std::ifstream status("/proc/self/status");
  int64_t kibibytes = 0;
  for (std::string word; status >> word;) {
    if (word == "RssAnon:") status >> kibibytes;
  }
  return kibibytes << 10;
}

TEST(ReceivedBytes, a_large_result_is_a_file_without_a_name) {
  const TemporaryFolder folder;
  const int64_t before = AnonymousMemory();
  client::ReceivedBytes bytes(64 * kMib, folder.path().string());
  std::string chunk(kMib, 'c');
  for (int i = 0; i < 64; ++i) {
    chunk[0] = static_cast<char>(i);
    ASSERT_TRUE(bytes.Append(chunk));
  }
  EXPECT_EQ(bytes.size(), static_cast<uint64_t>(64 * kMib));
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const auto blob = bytes.Finish();
  ASSERT_TRUE(blob) << blob.error().message;
  ASSERT_EQ(blob->size(), static_cast<size_t>(64 * kMib));
  for (size_t i = 0; i < 64; ++i) ASSERT_EQ(blob->text()[i * kMib], static_cast<char>(i));
  EXPECT_LT(AnonymousMemory() - before, 16 * kMib);
}

TEST(ReceivedBytes, a_small_result_needs_no_folder) {
  client::ReceivedBytes bytes(3, "/does/not/exist");
  ASSERT_TRUE(bytes.Append("ab"));
  ASSERT_TRUE(bytes.Append("c"));
  EXPECT_EQ(bytes.Finish()->text(), "abc");
}

TEST(ReceivedBytes, without_the_folder_the_file_is_in_the_temporary_one) {
  client::ReceivedBytes bytes(2 * kMib, "/does/not/exist");
  ASSERT_TRUE(bytes.Append(std::string(2 * kMib, 'x')));
  EXPECT_EQ(bytes.Finish()->size(), static_cast<size_t>(2 * kMib));
}

}  // namespace
}  // namespace octavo
