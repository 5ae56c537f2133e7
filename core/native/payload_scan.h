// SPDX-License-Identifier: Apache-2.0
// Splits a serialized octavo.v1.Graph into what libprotobuf parses and constant data, which stay
// where they lie.
#pragma once

#include <string>
#include <vector>

#include "core/base/blob.h"

namespace octavo::native {

struct Split {
  std::string skeleton = {};        // the graph without its constant data
  std::vector<Blob> payloads = {};  // views into the bytes, in order
};

// kInvalidArgument where the bytes are no message or a length passes the end, kTooLarge where the
// skeleton passes 1 GiB.
Result<Split> SplitPayloads(const Blob& bytes);

// Appends constant data as the field that SplitPayloads takes out.
void AppendPayload(std::string& bytes, std::span<const std::byte> payload);

}  // namespace octavo::native
