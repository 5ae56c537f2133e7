// Memory with a file behind it: it can be given back to the system and is read again when touched.
// Large weights lie in such memory, so that a job holds those that it is working on.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/base/blob.h"

namespace octavo {

// From how many bytes on a tensor is worth the calls.
inline constexpr size_t kWorthReleasing = size_t{1} << 20;

// The first bytes of an open file, mapped read-only; empty, with errno set, where that fails.
Blob MapDescriptor(int file, size_t size);

// The pages of mapped files (Blob::MapFile, CopyToFile) that lie wholly within `bytes` leave memory
// until somebody reads them again.  Other memory stays as it is.
void ReleasePages(std::span<const std::byte> bytes);

// The digest of bytes, whose pages leave memory as it goes on.
std::string Sha256OfMapped(std::span<const std::byte> bytes);

// A copy, aligned to a page, in a mapped temporary file without a name (in TMPDIR, else /tmp); in
// ordinary memory where there is no room for one.
Blob CopyToFile(std::span<const std::byte> bytes);

}  // namespace octavo
