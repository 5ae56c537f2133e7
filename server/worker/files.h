// SPDX-License-Identifier: Apache-2.0
// The files that a job's process shares with the server.
#pragma once

#include <memory>
#include <string>

#include "core/base/blob.h"
#include "core/base/descriptor.h"
#include "core/base/status.h"

namespace octavo::server::worker {

// A descriptor through which the bytes of `blob` can be read and not changed: of its own file
// (server/store/stored_file.h), or of a sealed copy in memory.
Result<std::unique_ptr<Descriptor>> OpenForReading(const Blob& blob);

// An empty unnamed file: in `folder`, or in memory if `folder` is empty or no file can be made
// there.
Result<std::unique_ptr<Descriptor>> NewOutput(const std::string& folder);

// The whole file, mapped.
Result<Blob> MapOutput(const Descriptor& output);

}  // namespace octavo::server::worker
