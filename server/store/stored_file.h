// SPDX-License-Identifier: Apache-2.0
// Blobs that are mapped files and remember their descriptor, so that another process can be given
// the file instead of a copy.  Thread-safe.
#pragma once

#include <cstddef>
#include <memory>

#include "core/base/blob.h"
#include "core/base/descriptor.h"

namespace octavo::server {

// Maps the first `size` bytes, at least one; the blob keeps the file open and `held` alive.  An
// empty blob with errno set on failure.
Blob MapStoredFile(std::shared_ptr<const Descriptor> file, size_t size,
                   std::shared_ptr<const void> held = nullptr);

// The descriptor of a whole blob made by MapStoredFile, or -1.  Valid while the blob is.
int FileOf(const Blob& blob);

}  // namespace octavo::server
