// SPDX-License-Identifier: Apache-2.0
// Collects bytes of unknown number in an unnamed temporary file (in TMPDIR, else /tmp), so that
// they need no memory; in ordinary memory if the file cannot be created.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "core/base/blob.h"
#include "core/base/descriptor.h"

namespace octavo {

class Spool {
 public:
  Spool();

  // kResourceExhausted with reason STORAGE if the file system is full.
  Status Append(std::span<const std::byte> part);
  // All bytes, mapped.  Call it once.
  Result<Blob> Finish();

 private:
  std::unique_ptr<Descriptor> file_ = {};  // null: in memory
  std::string held_ = {};
  size_t size_ = 0;
};

}  // namespace octavo
