// SPDX-License-Identifier: Apache-2.0
// Separates the weights of a serialized model from its structure.  Walks the bytes, checks every
// length before it allocates anything, and returns a small skeleton, which libprotobuf parses, and
// views into the given bytes.  Time and memory do not depend on the size of the constant data, and
// libprotobuf's limit of 2 GiB does not apply to it.
#pragma once

#include <string>
#include <vector>

#include "core/base/blob.h"

namespace octavo::onnx {

// A data field of a tensor (raw_data, float_data..), as serialized.
struct View {
  int field = 0;
  Blob bytes = {};
};

// `bytes` parses as octavo.onnx_wire.Model (or .Tensor); Tensor.view numbers entries of `views`.
struct Skeleton {
  std::string bytes = {};
  std::vector<View> views = {};
};

struct ScanLimits {
  int depth = 64;              // nesting depth of messages
  int64_t messages = 4 << 20;  // total
  int64_t fields = 64 << 20;   // total, without constant data
  size_t skeleton = size_t{1} << 30;
};

// kInvalidArgument with reason TRUNCATED if a length exceeds the bytes, MALFORMED if the bytes are
// not such a message; kTooLarge if a limit is exceeded.
Result<Skeleton> ScanModel(const Blob& bytes, const ScanLimits& limits = {});
Result<Skeleton> ScanTensor(const Blob& bytes, const ScanLimits& limits = {});

}  // namespace octavo::onnx
