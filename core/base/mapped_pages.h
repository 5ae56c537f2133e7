// SPDX-License-Identifier: Apache-2.0
// File-backed memory: the system can drop its pages and reads them again on access.  Large weights
// use it, so that a job keeps only the weights in memory that it is working on.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/base/blob.h"

namespace octavo {

// The smallest tensor, in bytes, for which releasing pages is worth the system calls.
inline constexpr size_t kWorthReleasing = size_t{1} << 20;

// Maps the first bytes of an open file read-only; empty, with errno set, on failure.
Blob MapDescriptor(int file, size_t size);

// Releases the pages of mapped files (Blob::MapFile, CopyToFile) that are entirely within `bytes`;
// the next access reads them again.  Does nothing for other memory.
void ReleasePages(std::span<const std::byte> bytes);

// The SHA-256 digest of `bytes`; releases their pages as it proceeds.
std::string Sha256OfMapped(std::span<const std::byte> bytes);

// A page-aligned copy in an unnamed mapped temporary file (in TMPDIR, else /tmp), or in ordinary
// memory if the file cannot be created.
Blob CopyToFile(std::span<const std::byte> bytes);

}  // namespace octavo
