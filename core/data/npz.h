// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz files: zip archives of .npy members, stored or deflated.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/blob.h"
#include "core/ir/tensor.h"

namespace octavo::data {

struct NpzLimits {
  size_t members = 4096;
  // Limit for all inflated members together; sizes claimed by the archive are not trusted.
  int64_t bytes = int64_t{4} << 30;
};

// Arrays by name (without ".npy").  Stored members are views of the archive.  kInvalidArgument
// (reason INVALID_NPZ) for a broken archive or a wrong checksum, kTooLarge past a limit,
// kUnimplemented for encryption and other compression methods.
Result<std::map<std::string, ir::Tensor>> ReadNpz(std::string_view what, const Blob& bytes,
                                                  const NpzLimits& limits = {});

// Stored members in the order given; equal arrays give equal bytes.
std::string WriteNpz(const std::vector<std::pair<std::string, ir::Tensor>>& arrays);

}  // namespace octavo::data
