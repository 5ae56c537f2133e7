// SPDX-License-Identifier: Apache-2.0
// The bytes of a result while they arrive: large ones go to an unnamed file, so that memory does
// not grow with the result.  Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/blob.h"
#include "core/base/descriptor.h"
#include "core/base/status.h"

namespace octavo::client {

class ReceivedBytes {
 public:
  // Results of more bytes than this go to a file.
  static constexpr uint64_t kInMemory = uint64_t{1} << 20;

  // `announced` is the size that the service has announced.  The file is created in `folder`, or
  // in TMPDIR (else /tmp) if that is empty or not there yet.
  ReceivedBytes(uint64_t announced, std::string folder)
      : announced_(announced), folder_(std::move(folder)) {}

  // kInternal, reason IO, if the file cannot be written.
  Status Append(std::string_view bytes);
  uint64_t size() const { return size_; }
  // All bytes; call it once.
  Result<Blob> Finish();

 private:
  Status Create();

  uint64_t announced_;
  std::string folder_;
  std::string memory_;
  std::shared_ptr<Descriptor> file_;
  uint64_t size_ = 0;
};

}  // namespace octavo::client
