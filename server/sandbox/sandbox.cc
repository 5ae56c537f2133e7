// SPDX-License-Identifier: Apache-2.0
#include "server/sandbox/sandbox.h"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>

#include "core/base/descriptor.h"

namespace octavo::server::sandbox {
namespace {

constexpr int kDescriptors = 64;
// Bounds threads, where the namespace counts this process's alone.
constexpr rlim_t kThreads = 1100;

Failure NotPermitted(std::string_view action) {
  return Fail(Code::kUnavailable, "cannot {}: {}", action, std::strerror(errno));
}

Status SetLimit(int resource, rlim_t value, std::string_view name) {
  const rlimit limit{.rlim_cur = value, .rlim_max = value};
  if (setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) {
    return NotPermitted(fmt::format("limit {}", name));
  }
  return {};
}

// The kernel's struct landlock_ruleset_attr up to ABI 6; Debian 12's header ends at ABI 2.
struct LandlockRuleset {
  uint64_t files = 0;
  uint64_t network = 0;
  uint64_t scopes = 0;
};

constexpr uint64_t LowBits(int count) { return (uint64_t{1} << count) - 1; }

// Everything that an ABI can forbid.
LandlockRuleset Everything(long abi) {
  // 13 rights of ABI 1, then refer, truncate and (ABI 5) ioctl of devices.
  const int files = abi >= 5 ? 16 : abi >= 3 ? 15 : abi == 2 ? 14 : 13;
  return {.files = LowBits(files),
          .network = abi >= 4 ? LowBits(2) : 0,  // bind and connect
          .scopes = abi >= 6 ? LowBits(2) : 0};  // abstract sockets and signals
}

// How much of the struct an ABI knows: the kernel refuses a longer one with bytes set.
size_t SizeFor(long abi) {
  return abi >= 6   ? sizeof(LandlockRuleset)
         : abi >= 4 ? offsetof(LandlockRuleset, scopes)
                    : offsetof(LandlockRuleset, network);
}

}  // namespace

Status EnterNamespaces() {
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) != 0) {
    return NotPermitted("create namespaces");
  }
  // In the namespace, the kernel counts the threads of this user apart from those outside.
  return SetLimit(RLIMIT_NPROC, kThreads, "processes");
}

Status DenyPaths() {
  constexpr unsigned kVersion = 1;
  const long abi = syscall(SYS_landlock_create_ruleset, nullptr, size_t{0}, kVersion);
  if (abi < 1) return NotPermitted("use Landlock");
  const LandlockRuleset ruleset = Everything(abi);
  const Descriptor rules(
      static_cast<int>(syscall(SYS_landlock_create_ruleset, &ruleset, SizeFor(abi), 0U)));
  if (rules.fd < 0) return NotPermitted("create a Landlock ruleset");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return NotPermitted("give up privileges");
  if (syscall(SYS_landlock_restrict_self, rules.fd, 0U) != 0) {
    return NotPermitted("apply a Landlock ruleset");
  }
  return {};
}

// Follows EnterNamespaces, which resets the parent-death signal and the dumpable flag.
Status LimitResources(int descriptors) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) return NotPermitted("follow the parent");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return NotPermitted("give up privileges");
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return NotPermitted("become unreadable");
  OCTAVO_CHECK(SetLimit(RLIMIT_CORE, 0, "core dumps"));
  return SetLimit(RLIMIT_NOFILE, static_cast<rlim_t>(descriptors), "descriptors");
}

Result<int> LockIn(int highest) {
  int level = 1;
  const bool namespaces = highest >= 3 && EnterNamespaces().has_value();
  if (highest >= 2 && DenyPaths()) level = namespaces ? 3 : 2;
  OCTAVO_CHECK(LimitResources(kDescriptors));
  OCTAVO_CHECK(RestrictSystemCalls());
  return level;
}

}  // namespace octavo::server::sandbox
