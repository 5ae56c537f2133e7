// SPDX-License-Identifier: Apache-2.0
#include "server/config/memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/config/config.h"
#include "server/session/spec.h"
#include "tests/support/temporary_folder.h"

namespace octavo::server {
namespace {

namespace fs = std::filesystem;

// A folder with files of /proc and /sys.
class UsableMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    Write("proc/meminfo", "MemTotal:  1048576 kB\nMemFree: 5 kB\n");  // 1 GiB
  }
  void Write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  const TemporaryFolder folder_;
  const fs::path& root_ = folder_.path();
};

TEST_F(UsableMemoryTest, WithoutControlGroupsItIsTheMachines) {
  EXPECT_EQ(UsableMemory(root_.string()), 1u << 30);
}

TEST_F(UsableMemoryTest, TheLeastLimitOfAGroupAndThoseAboveCounts) {
  Write("proc/self/cgroup", "0::/farm/octavod\n");
  Write("sys/fs/cgroup/farm/octavod/memory.max", "max\n");
  Write("sys/fs/cgroup/farm/memory.max", "268435456\n");
  EXPECT_EQ(UsableMemory(root_.string()), 256u << 20);
}

TEST_F(UsableMemoryTest, AContainerSeesItsGroupAsTheRoot) {
  Write("proc/self/cgroup", "0::/\n");
  Write("sys/fs/cgroup/memory.max", "134217728\n");
  EXPECT_EQ(UsableMemory(root_.string()), 128u << 20);
}

TEST_F(UsableMemoryTest, Version1HasAMemoryController) {
  Write("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:hugetlb,memory:/docker/a\n");
  Write("sys/fs/cgroup/memory/docker/a/memory.limit_in_bytes", "67108864\n");
  Write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(UsableMemory(root_.string()), 64u << 20);
}

TEST(Limits, AModelOfTheLargestSizeFits) {
  const auto config = LoadConfig({"--max-bytes-reserved", "8GiB", "--max-model-bytes", "4GiB"},
                                 [](const std::string&) { return std::nullopt; });
  ASSERT_TRUE(config);
  const Limits& limits = config->limits;
  EXPECT_LT(limits.model_bytes, 4ull << 30);
  const auto fits = [&](uint64_t model_bytes) {
    const Footprint needs =
        EstimateFootprint({.blobs = {{.role = Role::kModel, .size_bytes = model_bytes}}});
    return needs.stored + needs.working <= limits.bytes_reserved;
  };
  EXPECT_TRUE(fits(limits.model_bytes));
  EXPECT_FALSE(fits(limits.model_bytes + 1));
}

TEST(Limits, HalfOfTheMemoryIsTheDefault) {
  const auto config = LoadConfig({}, [](const std::string&) { return std::nullopt; });
  ASSERT_TRUE(config);
  EXPECT_EQ(config->limits.bytes_reserved, UsableMemory() / 2);
}

}  // namespace
}  // namespace octavo::server
