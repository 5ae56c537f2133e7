// SPDX-License-Identifier: Apache-2.0
// Each test forks a child that locks itself in and then tries something.
#include "server/sandbox/sandbox.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <thread>

#include "core/base/descriptor.h"

namespace octavo::server::sandbox {
namespace {

constexpr int kCannot = 255;  // the kernel does not permit the step; no errno is as high

// The child's exit code, or 1000 and the signal that ended it.
constexpr int kSignal = 1000;
int RunChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? kSignal + WTERMSIG(status) : WEXITSTATUS(status);
}

int ErrorOf(long result) { return result < 0 ? errno : 0; }

int TryConnect(uint16_t port) {
  const Descriptor socket_of_child(socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = port;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ErrorOf(
      connect(socket_of_child.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
}

// A port of this process that accepts connections.
struct Listener {
  Listener() {
    listen(socket_.fd, 8);
    sockaddr_in address{};
    socklen_t size = sizeof address;
    getsockname(socket_.fd, reinterpret_cast<sockaddr*>(&address), &size);
    port = address.sin_port;
  }
  Descriptor socket_{socket(AF_INET, SOCK_STREAM, 0)};
  uint16_t port = 0;
};

// What may be missing is the kernel's support, never a step of ours.
#define OCTAVO_SKIP_IF_CANNOT(result, what) \
  if ((result) == kCannot) GTEST_SKIP() << "this kernel does not permit " << (what)

TEST(Step, NamespacesHaveNoNetwork) {
  const Listener listener;
  ASSERT_EQ(RunChild([&] { return TryConnect(listener.port); }), 0);
  const int result = RunChild([&] {
    if (!EnterNamespaces()) return kCannot;
    return TryConnect(listener.port);
  });
  OCTAVO_SKIP_IF_CANNOT(result, "namespaces");
  EXPECT_EQ(result, ENETUNREACH);
}

TEST(Step, LandlockDeniesEveryPath) {
  const int result = RunChild([] {
    if (!DenyPaths()) return kCannot;
    if (ErrorOf(open("/etc/passwd", O_RDONLY)) != EACCES) return 1;
    if (ErrorOf(open("/tmp", O_RDONLY | O_DIRECTORY)) != EACCES) return 2;
    if (ErrorOf(open("/tmp/octavo-sandbox", O_WRONLY | O_CREAT, 0600)) != EACCES) return 3;
    if (ErrorOf(open("/tmp", O_TMPFILE | O_RDWR, 0600)) != EACCES) return 4;
    return 0;
  });
  OCTAVO_SKIP_IF_CANNOT(result, "Landlock");
  EXPECT_EQ(result, 0);
}

TEST(Step, TheChildDiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const int result = RunChild([&] {
    if (fork() == 0) {
      if (!LimitResources(64)) _exit(1);
      char ready = 'r';
      if (write(ends[1], &ready, 1) != 1) _exit(1);
      for (;;) pause();  // holds the pipe open for as long as it lives
    }
    close(ends[1]);
    char ready = 0;
    return read(ends[0], &ready, 1) == 1 ? 0 : 1;
  });
  close(ends[1]);
  ASSERT_EQ(result, 0);
  char byte = 0;
  EXPECT_EQ(read(ends[0], &byte, 1), 0) << "the pipe ends when the orphan does";
  close(ends[0]);
}

class Level : public testing::TestWithParam<int> {
 protected:
  // Runs `body` in a child that is locked in at the level.
  static int Run(const std::function<int()>& body) {
    return RunChild([&] {
      const auto level = LockIn(GetParam());
      if (!level || *level != GetParam()) return kCannot;
      return body();
    });
  }
};

#define OCTAVO_EXPECT_AT_LEVEL(expected, ...)                  \
  do {                                                         \
    const int result_ = Run(__VA_ARGS__);                      \
    OCTAVO_SKIP_IF_CANNOT(result_, "this level of isolation"); \
    EXPECT_EQ(result_, expected);                              \
  } while (false)

TEST_P(Level, Computes) {
  OCTAVO_EXPECT_AT_LEVEL(0, [] {
    int sum = 0;
    std::thread first([&] { sum += 1; });
    first.join();
    std::vector<char> bytes(16 << 20, 1);
    for (const char byte : bytes) sum += byte;
    return sum == 1 + (16 << 20) ? 0 : 1;
  });
}

TEST_P(Level, OpensNoPath) {
  OCTAVO_EXPECT_AT_LEVEL(EPERM, [] { return ErrorOf(open("/etc/passwd", O_RDONLY)); });
}

TEST_P(Level, ReachesNoSocket) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS, [] { return TryConnect(htons(1)); });
}

TEST_P(Level, UsesNoSocketThatItHolds) {
  const Descriptor held(socket(AF_INET, SOCK_STREAM, 0));
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS, [&] {
    const sockaddr_in address{};
    return ErrorOf(connect(held.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
  });
}

TEST_P(Level, StartsNoProcess) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS, [] { return fork() == 0 ? 1 : 2; });
}

TEST_P(Level, RunsNoProgram) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS, [] {
    char name[] = "/bin/true";
    char* const args[] = {name, nullptr};
    return execv(name, args);
  });
}

TEST_P(Level, TracesNoProcess) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS,
                         [] { return ErrorOf(ptrace(PTRACE_ATTACH, getppid(), 0, 0)); });
}

TEST_P(Level, SignalsNoProcess) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS, [] { return kill(getppid(), 0); });
}

TEST_P(Level, SignalsNoOtherThread) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS, [] {
    return static_cast<int>(syscall(SYS_tgkill, getppid(), getppid(), 0));
  });
}

TEST_P(Level, MapsNoCode) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS, [] {
    mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return 0;
  });
}

TEST_P(Level, MakesNoDataExecutable) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS, [] {
    void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return mprotect(page, 4096, PROT_READ | PROT_EXEC);
  });
}

TEST_P(Level, AllocatesNoMoreThanItsLimit) {
  OCTAVO_EXPECT_AT_LEVEL(0, [] { return 0; });  // skips where the level is not permitted
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const bool locked = LockIn(GetParam()).has_value();
    char go = 0;
    if (!locked || read(ends[0], &go, 1) != 1) _exit(1);
    void* block =
        mmap(nullptr, size_t{1} << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    _exit(block == MAP_FAILED ? errno : 0);
  }
  // As the server does it: from outside, so the worker has no say.
  const rlimit limit{.rlim_cur = 256 << 20, .rlim_max = RLIM_INFINITY};
  EXPECT_EQ(prlimit(child, RLIMIT_DATA, &limit, nullptr), 0) << std::strerror(errno);
  ASSERT_EQ(write(ends[1], "g", 1), 1);
  int status = 0;
  waitpid(child, &status, 0);
  close(ends[0]);
  close(ends[1]);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), ENOMEM);
}

TEST_P(Level, RaisesNoLimit) {
  OCTAVO_EXPECT_AT_LEVEL(EPERM, [] {
    const rlimit limit{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
    return ErrorOf(setrlimit(RLIMIT_DATA, &limit));
  });
}

TEST_P(Level, DuplicatesNoDescriptor) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGSYS, [] { return dup(0); });
}

TEST_P(Level, AbortsAsUsual) {
  OCTAVO_EXPECT_AT_LEVEL(kSignal + SIGABRT, []() -> int { std::abort(); });
}

INSTANTIATE_TEST_SUITE_P(Sandbox, Level, testing::Values(1, 2, 3));

}  // namespace
}  // namespace octavo::server::sandbox
