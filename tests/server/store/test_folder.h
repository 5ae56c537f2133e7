// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, which the destructor removes; and children that die.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <string>

#include "server/store/failpoint.h"

namespace octavo::server {

class TestFolder {
 public:
  TestFolder() {
    // In memory where possible: on a busy disk, the thousands of syncs take minutes.
    const bool shared_memory = access("/dev/shm", W_OK) == 0;
    std::string pattern =
        (shared_memory ? "/dev/shm/" : testing::TempDir()) + "octavo_store_XXXXXX";
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    EXPECT_FALSE(path_.empty());
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

struct ScopedFailpoint {
  explicit ScopedFailpoint(const std::string& text) { EXPECT_TRUE(SetFailpoint(text)); }
  ~ScopedFailpoint() { EXPECT_TRUE(SetFailpoint("")); }
};

// Runs `body` in a child process; its status is that of exit(0) if `body` returns true.
inline int InChild(const std::function<bool()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

inline bool WasKilled(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }

}  // namespace octavo::server
