// SPDX-License-Identifier: Apache-2.0
// A file that is checked before a long computation and written after it:
//
//   Plan       follows links, checks permissions; changes nothing
//   Stage      the bytes are in an unnamed file of the same folder, and durable
//   Commit     that file has the path; links, mode and owner of the old file are kept
//
// A regular file is replaced as a whole or not at all.  Bytes for a device, a FIFO or an open
// descriptor pass through it in Commit.  Errors are kInternal with reason IO and the path as field.
// Not thread-safe.
#pragma once

#include <memory>
#include <string>

#include "core/base/blob.h"
#include "core/base/descriptor.h"
#include "core/base/output_path.h"
#include "core/base/stop_token.h"

namespace octavo {

class OutputFile {
 public:
  static Result<OutputFile> Plan(const std::string& path);

  const std::string& path() const { return path_; }
  const OutputPath& place() const { return place_; }

  // The bytes stay as they are until Commit.  Makes the folder if it is missing.
  Status Stage(Blob bytes);
  // Writes what was staged.  A FIFO waits for its reader until `stop`.
  Status Commit(const StopToken& stop = {});

 private:
  // A new file; it has a name, until Commit or the destructor, only where the file system has no
  // unnamed ones.
  struct Temporary;

  OutputFile(std::string path, OutputPath place)
      : path_(std::move(path)), place_(std::move(place)) {}
  Status Replace();
  Status WriteInPlace(const StopToken& stop);
  Status WriteThrough(const StopToken& stop);

  std::string path_;
  OutputPath place_;
  Blob bytes_ = {};  // unless they are in temporary_
  std::shared_ptr<Temporary> temporary_ = nullptr;
};

}  // namespace octavo
