// SPDX-License-Identifier: Apache-2.0
// Where the bytes for a path go.  Nothing here changes a file; MakeFolder alone makes folders.
// Errors are kInternal with reason IO and the path as field.
#pragma once

#include <sys/stat.h>

#include <string>

#include "core/base/status.h"

namespace octavo {

// What is at a path, links followed, and so how to write it.
enum class OutputKind {
  kReplaced,  // a regular file or nothing: a new file is renamed over it
  kInPlace,   // a regular file whose folder takes no new file: it is written as it is
  kStream,    // a device, a FIFO or an open descriptor (/dev/fd/N): bytes pass through
};

struct OutputPath {
  OutputKind kind = OutputKind::kReplaced;
  std::string target = {};    // the path behind the symbolic links
  std::string identity = {};  // equal for two paths of one file; empty for a character device
  int descriptor = -1;        // N of /dev/fd/N, of /dev/stdout ..
};

// Follows the links of `path` (a dangling one to the file that it would create) and checks that it
// can be written: it is no folder, its permissions allow it, and its folder exists or can be made.
Result<OutputPath> ResolveOutput(const std::string& path);

// Checks that the folder exists and takes new files, or can be made.
Status CheckFolder(const std::string& folder);
// Makes the folder and those above it, as far as they are missing.
Status MakeFolder(const std::string& folder);
// Makes the names in a folder durable.
Status SyncFolder(const std::string& folder);

// The folder of a file: "." for a bare name.
std::string FolderOf(const std::string& path);
// "cannot write 'PATH': Permission denied", for an errno.
Failure CannotWrite(const std::string& path, int error);

}  // namespace octavo
