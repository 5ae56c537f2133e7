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
  // Total of all inflated members; the sizes that the archive claims are not trusted.
  int64_t bytes = int64_t{4} << 30;
};

// Reads arrays by name (without ".npy").  Stored members are views of the archive.
// kInvalidArgument (reason INVALID_NPZ) for a broken archive or a wrong checksum, kTooLarge if a
// limit is exceeded, kUnimplemented for encryption and other compression methods.
Result<std::map<std::string, ir::Tensor>> ReadNpz(std::string_view what, const Blob& bytes,
                                                  const NpzLimits& limits = {});

// Writes stored members in the given order; equal arrays give equal bytes.
std::string WriteNpz(const std::vector<std::pair<std::string, ir::Tensor>>& arrays);

}  // namespace octavo::data
