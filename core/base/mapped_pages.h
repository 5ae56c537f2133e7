// SPDX-License-Identifier: Apache-2.0
// File-backed memory, whose pages can be released to the system and are read again on access.
// Large weights are stored this way, so that a job holds in memory only those it is working on.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/base/blob.h"

namespace octavo {

// The smallest tensor, in bytes, that is worth the system calls.
inline constexpr size_t kWorthReleasing = size_t{1} << 20;

// The first bytes of an open file, mapped read-only; empty, with errno set, on failure.
Blob MapDescriptor(int file, size_t size);

// Releases the pages of mapped files (Blob::MapFile, CopyToFile) that are entirely within `bytes`;
// they are read again on the next access.  Other memory is not changed.
void ReleasePages(std::span<const std::byte> bytes);

// The SHA-256 digest of bytes, releasing their pages on the way.
std::string Sha256OfMapped(std::span<const std::byte> bytes);

// A page-aligned copy in an unnamed mapped temporary file (in TMPDIR, else /tmp), or in ordinary
// memory if the file cannot be made.
Blob CopyToFile(std::span<const std::byte> bytes);

}  // namespace octavo
