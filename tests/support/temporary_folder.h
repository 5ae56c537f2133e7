// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, which the destructor removes.  Tests run side by side, several
// processes of one program among them: a fixed name would be another test's as well.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace octavo {

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& parent = testing::TempDir()) {
    std::string pattern = (std::filesystem::path(parent) / "octavo_test_XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    EXPECT_FALSE(path_.empty()) << "no folder in " << parent;
  }
  ~TemporaryFolder() {
    if (!path_.empty()) std::filesystem::remove_all(path_);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace octavo
