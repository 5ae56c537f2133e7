// SPDX-License-Identifier: Apache-2.0
#include "core/base/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>

#include "tests/support/temporary_folder.h"

namespace octavo {
namespace {

namespace fs = std::filesystem;

class Outputs : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return (folder_ / name).string(); }
  void Put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }
  std::string Text(const std::string& name) const {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  size_t Files() const {
    return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {}));
  }
  static Status Write(const std::string& path, const std::string& text,
                      const StopToken& stop = {}) {
    OCTAVO_TRY(OutputFile file, OutputFile::Plan(path));
    OCTAVO_CHECK(file.Stage(Blob(text)));
    return file.Commit(stop);
  }
  static Error ErrorOf(const std::string& path) {
    const auto file = OutputFile::Plan(path);
    return file ? Error() : file.error();
  }

  const TemporaryFolder temporary_;
  const fs::path& folder_ = temporary_.path();
};

struct stat StatOf(const std::string& path) {
  struct stat info = {};
  EXPECT_EQ(lstat(path.c_str(), &info), 0) << path;
  return info;
}

TEST_F(Outputs, ANewFileAndItsFoldersAreMade) {
  ASSERT_TRUE(Write(Path("a/b/c"), "text"));
  EXPECT_EQ(Text("a/b/c"), "text");
  const mode_t mask = umask(0);
  umask(mask);
  EXPECT_EQ(StatOf(Path("a/b/c")).st_mode & 07777, 0666 & ~mask);
}

TEST_F(Outputs, UntilTheCommitTheOldFileStaysAndNothingElseIsSeen) {
  Put("f", "old");
  {
    auto file = OutputFile::Plan(Path("f"));
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->Stage(Blob(std::string("new"))));
    EXPECT_EQ(Text("f"), "old");
  }
  EXPECT_EQ(Text("f"), "old");
  EXPECT_EQ(Files(), 1u);
}

TEST_F(Outputs, ModeAndOwnerOfTheOldFileAreKept) {
  Put("f", "old");
  ASSERT_EQ(chmod(Path("f").c_str(), 0640), 0);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(Path("f").c_str(), 1234, 2345), 0);
  }
  const struct stat before = StatOf(Path("f"));
  ASSERT_TRUE(Write(Path("f"), "new"));
  const struct stat after = StatOf(Path("f"));
  EXPECT_EQ(Text("f"), "new");
  EXPECT_EQ(after.st_mode, before.st_mode);
  EXPECT_EQ(after.st_uid, before.st_uid);
  EXPECT_EQ(after.st_gid, before.st_gid);
  EXPECT_NE(after.st_ino, before.st_ino);  // replaced as a whole
}

TEST_F(Outputs, LinksStayAndTheirTargetsAreReplacedOrCreated) {
  fs::create_directory(folder_ / "d");
  Put("d/old", "old");
  fs::create_symlink("d/old", folder_ / "link");
  fs::create_symlink("link", folder_ / "second");
  fs::create_symlink("d/new", folder_ / "dangling");
  ASSERT_TRUE(Write(Path("second"), "one"));
  ASSERT_TRUE(Write(Path("dangling"), "two"));
  EXPECT_EQ(Text("d/old"), "one");
  EXPECT_EQ(Text("d/new"), "two");
  for (const char* link : {"link", "second", "dangling"}) {
    EXPECT_TRUE(fs::is_symlink(folder_ / link)) << link;
  }
  fs::create_symlink("loop", folder_ / "loop");
  EXPECT_NE(ErrorOf(Path("loop")).message.find("loop'"), std::string::npos);
}

TEST_F(Outputs, BytesForAFifoPassThroughIt) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  const std::string text(300'000, 'x');  // more than it holds
  std::string read;
  std::thread reader([&] { read = Text("fifo"); });
  const Status written = Write(Path("fifo"), text);
  reader.join();
  EXPECT_TRUE(written) << written.error().message;
  EXPECT_TRUE(read == text);
  EXPECT_TRUE(S_ISFIFO(StatOf(Path("fifo")).st_mode));
}

TEST_F(Outputs, AFifoWithoutReadersWaitsUntilItIsStopped) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  const StopToken soon(StopToken::Clock::now() + std::chrono::milliseconds(80));
  const Status written = Write(Path("fifo"), "text", soon);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, Code::kDeadlineExceeded);
}

TEST_F(Outputs, AReaderThatLeavesIsAnErrorAndNotTheEndOfTheProcess) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  std::thread reader([&] { const Descriptor opened(open(Path("fifo").c_str(), O_RDONLY)); });
  const Status written = Write(Path("fifo"), std::string(300'000, 'x'));
  reader.join();
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().reason, "IO");
  EXPECT_EQ(written.error().field, Path("fifo"));
}

TEST_F(Outputs, AnOpenDescriptorIsWrittenWhereItStands) {
  Put("log", "before ");
  const Descriptor file(open(Path("log").c_str(), O_WRONLY | O_APPEND));
  const std::string path = fmt::format("/dev/fd/{}", file.fd);
  ASSERT_TRUE(Write(path, "after"));
  EXPECT_EQ(Text("log"), "before after");
  EXPECT_EQ(ErrorOf("/dev/fd/987").reason, "IO");
}

TEST_F(Outputs, WhatCannotBeWrittenIsFoundWithoutATrace) {
  Put("file", "text");
  for (const std::string& path : {Path(""), Path("file/x"), Path("d/"), std::string("/proc/x/y")}) {
    const Error error = ErrorOf(path);
    EXPECT_EQ(error.reason, "IO") << path;
    EXPECT_EQ(error.code, Code::kInternal) << path;
    EXPECT_NE(error.message.find(path), std::string::npos) << error.message;
  }
  EXPECT_FALSE(CheckFolder(Path("file")));
  EXPECT_TRUE(CheckFolder(Path("new/folder")));
  EXPECT_EQ(Files(), 1u);
}

TEST_F(Outputs, TwoPathsOfOneFileHaveOneIdentity) {
  Put("f", "");
  fs::create_hard_link(Path("f"), Path("hard"));
  fs::create_symlink("f", folder_ / "soft");
  fs::create_symlink("new", folder_ / "dangling");
  const auto identity = [&](const std::string& path) {
    const auto place = ResolveOutput(path);
    return place ? place->identity : place.error().message;
  };
  EXPECT_EQ(identity(Path("hard")), identity(Path("f")));
  EXPECT_EQ(identity(Path("soft")), identity(Path("f")));
  EXPECT_EQ(identity(Path("dangling")), identity(Path("new")));
  EXPECT_EQ(identity(Path("./new")), identity(Path("new")));
  EXPECT_NE(identity(Path("other")), identity(Path("new")));
  EXPECT_EQ(identity("/dev/null"), "");  // any number of outputs may go there
}

TEST_F(Outputs, APathThatBecameAFolderMeanwhileIsNotReplaced) {
  auto file = OutputFile::Plan(Path("f"));
  ASSERT_TRUE(file && file->Stage(Blob(std::string("text"))));
  fs::create_directory(folder_ / "f");
  EXPECT_FALSE(file->Commit());
  EXPECT_TRUE(fs::is_directory(folder_ / "f"));
}

}  // namespace
}  // namespace octavo
