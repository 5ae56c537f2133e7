// SPDX-License-Identifier: Apache-2.0
// The system calls of a worker.  tests/server/sandbox and every job in a worker check the list.
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "server/sandbox/sandbox.h"

namespace octavo::server::sandbox {
namespace {

// Free of effects outside of the process, whatever the arguments.
constexpr int kAllowed[] = {
    // the descriptors it holds
    SCMP_SYS(read), SCMP_SYS(write), SCMP_SYS(pread64), SCMP_SYS(pwrite64), SCMP_SYS(readv),
    SCMP_SYS(writev), SCMP_SYS(lseek), SCMP_SYS(fstat), SCMP_SYS(ftruncate), SCMP_SYS(close),
    SCMP_SYS(recvmsg), SCMP_SYS(poll), SCMP_SYS(ppoll),
    // memory
    SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(brk),
    // threads
    SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    // signals of its own
    SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigreturn), SCMP_SYS(sigaltstack),
    SCMP_SYS(restart_syscall),
    // time, randomness, figures
    SCMP_SYS(clock_gettime), SCMP_SYS(clock_nanosleep), SCMP_SYS(nanosleep), SCMP_SYS(gettimeofday),
    SCMP_SYS(getrandom), SCMP_SYS(getrusage), SCMP_SYS(sysinfo)};

// Libraries try these and go on without: temporary files, CPU topology, terminals, stack sizes.
constexpr int kRefused[] = {SCMP_SYS(open),      SCMP_SYS(openat),     SCMP_SYS(stat),
                            SCMP_SYS(lstat),     SCMP_SYS(newfstatat), SCMP_SYS(statx),
                            SCMP_SYS(access),    SCMP_SYS(faccessat),  SCMP_SYS(readlink),
                            SCMP_SYS(ioctl),     SCMP_SYS(fcntl),      SCMP_SYS(prctl),
                            SCMP_SYS(prlimit64), SCMP_SYS(uname)};

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};

// Collects the first error of many calls that return 0 or -errno.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx filter) : filter_(filter) {}

  void Add(uint32_t action, int call) { Note(seccomp_rule_add(filter_, action, call, 0)); }
  void Add(uint32_t action, int call, scmp_arg_cmp condition) {
    Note(seccomp_rule_add(filter_, action, call, 1, condition));
  }
  void Note(int result) {
    if (error_ == 0) error_ = result;
  }
  int error() const { return error_; }

 private:
  scmp_filter_ctx filter_;
  int error_ = 0;
};

void AddRules(Rules& rules) {
  for (const int call : kAllowed) rules.Add(SCMP_ACT_ALLOW, call);
  for (const int call : kRefused) rules.Add(SCMP_ACT_ERRNO(EPERM), call);
  // Data only: code that a graph brings must never run.
  rules.Add(SCMP_ACT_ALLOW, SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  rules.Add(SCMP_ACT_ALLOW, SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  // Threads, no processes.  The flags of clone3 lie in memory, where no filter reads them; without
  // it, the C library uses clone.
  rules.Add(SCMP_ACT_ALLOW, SCMP_SYS(clone),
            SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
  rules.Add(SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3));
  // abort() sends a signal to its own process.
  rules.Add(SCMP_ACT_ALLOW, SCMP_SYS(tgkill),
            SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(getpid()), 0));
}

}  // namespace

Status RestrictSystemCalls() {
  const std::unique_ptr<void, Release> filter(seccomp_init(SCMP_ACT_KILL_PROCESS));
  if (filter == nullptr) return Fail(Code::kUnavailable, "cannot make a seccomp filter");
  Rules rules(filter.get());
  AddRules(rules);
  if (rules.error() == 0) rules.Note(seccomp_load(filter.get()));
  if (rules.error() != 0) {
    return Fail(Code::kUnavailable, "cannot restrict system calls: {}",
                std::strerror(-rules.error()));
  }
  return {};
}

}  // namespace octavo::server::sandbox
