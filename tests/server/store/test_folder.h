// SPDX-License-Identifier: Apache-2.0
// A folder of a test's own, which the destructor removes; and children that die.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>

#include "server/store/failpoint.h"
#include "tests/support/temporary_folder.h"

namespace octavo::server {

// In memory where possible: on a busy disk, the thousands of syncs take minutes.
class TestFolder {
 public:
  const std::string& path() const { return path_; }

 private:
  const TemporaryFolder folder_{access("/dev/shm", W_OK) == 0 ? "/dev/shm" : testing::TempDir()};
  const std::string path_ = folder_.path().string();
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
