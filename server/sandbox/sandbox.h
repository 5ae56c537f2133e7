// SPDX-License-Identifier: Apache-2.0
// Locks the calling process in, for good: afterwards it can compute, use the descriptors that it
// holds, start threads, and nothing else.  Linux only.
//
//   level  system calls   resource limits   files, TCP (Landlock)   user, net and ipc namespaces
//   3      restricted     set               none                    own
//   2      restricted     set               none                    the parent's
//   1      restricted     set               no rule of their own    the parent's
//
// Restricted system calls alone already refuse every path and every socket; the other layers hold
// if the list of system calls has a hole.
#pragma once

#include "core/base/status.h"

namespace octavo::server::sandbox {

inline constexpr int kHighestLevel = 3;

// Each step fails with kUnavailable and the kernel's reason.  The process must have one thread.

// New user, net and ipc namespaces: no network interface is up, no System V object is visible.
Status EnterNamespaces();
// No path can be opened, created or changed; no TCP port can be bound or connected to; no signal
// and no abstract socket reaches a process outside.  What an older kernel does not know is left
// out.
Status DenyPaths();
// SIGKILL when the thread that started the process ends; no privilege by exec; no core dump; not
// readable by /proc or ptrace; at most `descriptors` open descriptors.
Status LimitResources(int descriptors);
// Kills the process at a system call outside of the list.  Calls that libraries make to probe their
// surroundings fail with EPERM instead.
Status RestrictSystemCalls();

// All steps of the highest level that the kernel permits, but of none above `highest` (1 to 3).
// Returns that level; fails if the kernel does not permit level 1.
Result<int> LockIn(int highest);

}  // namespace octavo::server::sandbox
