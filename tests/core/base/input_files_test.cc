// SPDX-License-Identifier: Apache-2.0
#include "core/base/input_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "core/base/mapped_pages.h"
#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class Inputs : public testing::Test {
 protected:
  void SetUp() override {
    ForgetInputFiles();
    Put(path_, "contents");
    auto blob = Blob::MapFile(path_);
    ASSERT_TRUE(blob);
    blob_ = *blob;
  }
  void TearDown() override { ForgetInputFiles(); }

  static void Put(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  static std::string Message() {
    const Status same = CheckInputFiles();
    return same ? "" : same.error().message;
  }

  const TemporaryFolder folder_;
  const std::string path_ = (folder_.path() / "file").string();
  Blob blob_;
};

TEST_F(Inputs, AFileThatStaysAsItIsIsFine) { EXPECT_EQ(Message(), ""); }

TEST_F(Inputs, EveryChangeIsNamedWithTheFile) {
  ASSERT_EQ(truncate(path_.c_str(), 3), 0);
  EXPECT_EQ(Message(), "'" + path_ + "' changed during the job: it was truncated");
  ASSERT_EQ(truncate(path_.c_str(), 30), 0);
  EXPECT_TRUE(Message().ends_with("it has grown"));
  fs::remove(path_);
  EXPECT_TRUE(Message().ends_with("it is gone"));
  const Status same = CheckInputFiles();
  EXPECT_EQ(same.error().code, Code::kInvalidArgument);
  EXPECT_EQ(same.error().reason, "INPUT_CHANGED");
  EXPECT_EQ(same.error().field, path_);
}

TEST_F(Inputs, AWriteThatKeepsTheSizeIsAChange) {
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = 5, .tv_nsec = 6}};
  ASSERT_EQ(utimensat(AT_FDCWD, path_.c_str(), times, 0), 0);
  EXPECT_TRUE(Message().ends_with("it was written to"));
}

TEST_F(Inputs, AFileThatWasReplacedIsAChange) {
  Put(path_ + ".new", "contents");
  fs::rename(path_ + ".new", path_);
  EXPECT_TRUE(Message().ends_with("it is another file now"));
}

TEST_F(Inputs, TheFirstStateOfAPathCounts) {
  ASSERT_EQ(truncate(path_.c_str(), 3), 0);
  ASSERT_TRUE(Blob::MapFile(path_));
  EXPECT_TRUE(Message().ends_with("it was truncated"));
}

TEST_F(Inputs, AnInputIsKnownByEachOfItsNames) {
  const std::string other = path_ + ".link";
  fs::create_hard_link(path_, other);
  struct stat info = {};
  ASSERT_EQ(stat(other.c_str(), &info), 0);
  EXPECT_EQ(InputPathOf(info), path_);
  ForgetInputFiles();
  EXPECT_EQ(InputPathOf(info), "");
  fs::remove(other);
}

TEST_F(Inputs, AMappedAddressLeadsToItsFileUntilItIsUnmapped) {
  const std::byte* address = blob_.bytes().data();
  ASSERT_NE(InputMappedAt(address + 7), nullptr);
  EXPECT_EQ(InputMappedAt(address + 7)->path, path_);
  EXPECT_EQ(InputMappedAt(address + 8), nullptr);
  EXPECT_EQ(InputMappedAt(address - 1), nullptr);
  std::vector<Blob> many;  // more than one block of the table
  for (int i = 0; i < 200; ++i) many.push_back(*Blob::MapFile(path_));
  for (const Blob& blob : many) ASSERT_NE(InputMappedAt(blob.bytes().data()), nullptr);
  const std::byte* gone = many.back().bytes().data();
  many.clear();
  EXPECT_EQ(InputMappedAt(gone), nullptr);
  EXPECT_NE(InputMappedAt(address), nullptr);
}

}  // namespace
}  // namespace octavo
