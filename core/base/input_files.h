// SPDX-License-Identifier: Apache-2.0
// The files that this process has read as inputs, and whether they are still what it read.  A
// mapped file shows what others write to it meanwhile, so that the result of a job would be of
// neither the old nor the new contents.  Thread-safe.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/status.h"

namespace octavo {

// What a write, a truncation and a replacement of a file change.
struct FileState {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  int64_t seconds = 0;  // of the last write
  int64_t nanoseconds = 0;

  bool operator==(const FileState&) const = default;
};

struct InputFile {
  std::string path = {};
  FileState state = {};
};

// Remembers an opened file as an input.  Blob::MapFile does it; code that reads a user's file in
// another way must do it too.  For a path that is known already, the first state counts.
std::shared_ptr<const InputFile> NoteInputFile(const std::string& path, const struct stat& info);

// Forgets all inputs: those of a command that is done.
void ForgetInputFiles();

// What has happened to the file since it was read, as in "it was truncated"; null if nothing has.
// A signal handler may call it.
const char* ChangeOf(const InputFile& file);

// kInvalidArgument with reason INPUT_CHANGED and the path as field, if an input has changed.
Status CheckInputFiles();

// The path of the input that is this file; empty if no input is.
std::string InputPathOf(const struct stat& info);

}  // namespace octavo
