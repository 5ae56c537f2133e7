// SPDX-License-Identifier: Apache-2.0
#include "server/worker/child.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "server/worker/worker.h"

namespace octavo::server::worker {
namespace {

Failure CannotStart(const std::string& program, int error) {
  return Fail(Code::kUnavailable, "cannot start the worker '{}': {}", program,
              std::strerror(error));
}

// What the new process is to do before it runs the program.
struct SpawnActions {
  explicit SpawnActions(int socket) {
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, socket, kSocket);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&files, kSocket + 1);
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    // A process group of its own: a terminal's Ctrl-C is for the server.
    posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  ~SpawnActions() {
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;

  posix_spawn_file_actions_t files = {};
  posix_spawnattr_t attributes = {};
};

// A worker that does not read must not hold up the server.
void BoundSending(int socket) {
  const timeval most{.tv_sec = 5, .tv_usec = 0};
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof most);
}

Status LimitResource(pid_t pid, __rlimit_resource resource, uint64_t most) {
  rlimit limit{};
  const bool known = prlimit(pid, resource, nullptr, &limit) == 0;
  limit.rlim_cur = std::min<rlim_t>(most, limit.rlim_max);
  if (known && prlimit(pid, resource, &limit, nullptr) == 0) return {};
  return Fail(Code::kInternal, "cannot limit a worker: {}", std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<Child>> Child::Spawn(const std::string& program, int highest_level) {
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    return CannotStart(program, errno);
  }
  const Descriptor its_end(ends[1]);
  Descriptor our_end(ends[0]);
  BoundSending(our_end.fd);
  const SpawnActions actions(its_end.fd);
  std::string name = "octavo-worker";
  std::string option = "--sandbox";
  std::string level = std::to_string(highest_level);
  std::array<char*, 4> argv = {name.data(), option.data(), level.data(), nullptr};
  std::array<char*, 1> none = {nullptr};
  // A sanitizer reads its options from the environment.
  char** const environment = kLocked ? none.data() : environ;
  pid_t pid = 0;
  const int error = posix_spawn(&pid, program.c_str(), &actions.files, &actions.attributes,
                                argv.data(), environment);
  if (error != 0) return CannotStart(program, error);
  const auto process = static_cast<int>(syscall(SYS_pidfd_open, pid, 0U));
  std::unique_ptr<Child> child(new Child(pid, std::exchange(our_end.fd, -1), process));
  if (process < 0) return CannotStart(program, errno);
  return child;
}

Child::~Child() {
  if (reaped_) return;
  Kill();
  Reap();
}

Status Child::Limit(const ChildLimits& limits) const {
  OCTAVO_CHECK(LimitMemory(limits));
  OCTAVO_CHECK(LimitResource(pid_, RLIMIT_FSIZE, limits.file_bytes));
  return LimitResource(pid_, RLIMIT_CPU, static_cast<uint64_t>(limits.cpu.count()));
}

Status Child::LimitMemory(const ChildLimits& limits) const {
  const uint64_t most = limits.data_bytes + limits.stack_bytes;
  return LimitResource(pid_, RLIMIT_DATA, kLocked ? most : RLIM_INFINITY);
}

void Child::Kill() const { kill(pid_, SIGKILL); }

bool Child::EndsWithin(std::chrono::milliseconds time) const {
  pollfd ended{.fd = process_.fd, .events = POLLIN, .revents = 0};
  int result = 0;
  do {
    result = poll(&ended, 1, static_cast<int>(time.count()));
  } while (result < 0 && errno == EINTR);
  return result > 0;
}

const Exit& Child::Reap() {
  if (std::exchange(reaped_, true)) return exit_;
  int status = 0;
  rusage usage{};
  while (wait4(pid_, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) exit_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) exit_.signal = WTERMSIG(status);
  exit_.peak_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) << 10;
  return exit_;
}

}  // namespace octavo::server::worker
