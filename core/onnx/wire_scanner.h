// Keeps libprotobuf away from the weights: walks a model's bytes, checks every length before
// anything is allocated, and returns a small skeleton for libprotobuf to parse beside views into
// the given bytes.  Time and memory do not depend on the size of the payloads, nor is there a
// limit of 2 GiB on them.
#pragma once

#include <string>
#include <vector>

#include "core/base/blob.h"

namespace octavo::onnx {

// A payload field of a tensor (raw_data, float_data..), as it stands in the bytes.
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
  int depth = 64;              // of nested messages
  int64_t messages = 4 << 20;  // in all
  int64_t fields = 64 << 20;   // in all, payloads excluded
  size_t skeleton = size_t{1} << 30;
};

// kInvalidArgument with reason TRUNCATED where a length passes the end, MALFORMED where the bytes
// are no such message; kTooLarge where a limit is passed.
Result<Skeleton> ScanModel(const Blob& bytes, const ScanLimits& limits = {});
Result<Skeleton> ScanTensor(const Blob& bytes, const ScanLimits& limits = {});

}  // namespace octavo::onnx
