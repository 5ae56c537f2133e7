// SPDX-License-Identifier: Apache-2.0
// File-backed memory: the system can drop its pages and reads them again on access.  Large weights
// use it, so that a job keeps only the weights in memory that it is working on.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/base/blob.h"
#include "core/base/input_files.h"

namespace octavo {

// The smallest tensor, in bytes, for which releasing pages is worth the system calls.
inline constexpr size_t kWorthReleasing = size_t{1} << 20;

// Maps the first bytes of an open file read-only; empty, with errno set, on failure.  `input` names
// the file where others can change it.
Blob MapDescriptor(int file, size_t size, std::shared_ptr<const InputFile> input = nullptr);

// The input file that is mapped at an address, or null.  For a signal handler: an access beyond the
// end of a file that was truncated after it was mapped raises SIGBUS.
const InputFile* InputMappedAt(const void* address);

// Releases the pages of mapped files (Blob::MapFile, CopyToFile) that are entirely within `bytes`;
// the next access reads them again.  Does nothing for other memory.
void ReleasePages(std::span<const std::byte> bytes);

// The SHA-256 digest of `bytes`; releases their pages as it proceeds.
std::string Sha256OfMapped(std::span<const std::byte> bytes);

// A page-aligned copy in an unnamed mapped temporary file (in TMPDIR, else /tmp), or in ordinary
// memory if the file cannot be created.
Blob CopyToFile(std::span<const std::byte> bytes);

}  // namespace octavo
