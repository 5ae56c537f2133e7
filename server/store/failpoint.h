// SPDX-License-Identifier: Apache-2.0
// Named points in durable steps, at which a test ends the process or makes the step fail.  The
// environment variable OCTAVO_FAILPOINT holds NAME:ACTION or NAME:ACTION@N:
//   kill           the process gets SIGKILL
//   eio, enospc    the step fails as if the system call had returned this error
// from the Nth time (default: the first) that the process reaches the point.
#pragma once

#include <span>
#include <string_view>

#include "core/base/status.h"

namespace octavo::server {

// X(enumerator, name, what happens next)
#define OCTAVO_FAILPOINTS(X)                                                     \
  X(kStoreCreate, "store.create", "create the file of a partial upload")         \
  X(kStoreWrite, "store.write", "write bytes to a partial upload")               \
  X(kStoreSync, "store.sync", "sync the file of a complete upload")              \
  X(kStoreRename, "store.rename", "rename a synced upload to its digest")        \
  X(kStoreFolder, "store.folder", "sync the folder of a renamed blob")           \
  X(kStorePublish, "store.publish", "make a durable blob visible to readers")    \
  X(kStoreRead, "store.read", "read a complete blob")                            \
  X(kStoreRemove, "store.remove", "remove the file of a blob or of an upload")   \
  X(kDatabaseBegin, "database.begin", "begin a transaction")                     \
  X(kDatabaseCommit, "database.commit", "commit a transaction")                  \
  X(kDatabaseDone, "database.done", "tell the callers of a durable transaction") \
  X(kDatabaseMigrate, "database.migrate", "commit a step of a migration")

enum class Failpoint {
#define OCTAVO_FAILPOINT_ENUMERATOR(enumerator, name, next) enumerator,
  OCTAVO_FAILPOINTS(OCTAVO_FAILPOINT_ENUMERATOR)
#undef OCTAVO_FAILPOINT_ENUMERATOR
};

struct FailpointInfo {
  Failpoint point = {};
  std::string_view name = {};
  std::string_view next = {};
};
std::span<const FailpointInfo> Failpoints();

// Selects the point and its action; an empty text selects none.  kUsage names what is unknown.
// Not thread-safe: call it before other threads reach a point, or while none can.
Status SetFailpoint(std::string_view text);

// To be called before the step.  0, or the errno with which the step must fail.
int Reach(Failpoint point);

}  // namespace octavo::server
