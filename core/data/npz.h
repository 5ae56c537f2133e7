// SPDX-License-Identifier: Apache-2.0
// NumPy's .npz files: zip archives of .npy members, stored or deflated.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/data/array.h"
#include "core/data/zip_archive.h"

namespace octavo::data {

// The array of one .npy member.  Its elements are inflated as they are read, so memory does not
// depend on the size that the archive claims.
Result<ArrayPtr> OpenMember(std::string name, const std::shared_ptr<ZipArchive>& archive,
                            const ZipMember& member);

// The arrays by name (without ".npy"); other members are ignored.  kInvalidArgument (reason
// INVALID_NPZ) for a broken archive, here or where the damage is read, and for one without arrays.
Result<std::map<std::string, ArrayPtr>> OpenNpz(std::string_view what, const Blob& bytes);

// Writes stored members in the given order; equal arrays give equal bytes.
Result<std::string> WriteNpz(const std::vector<std::pair<std::string, ir::Tensor>>& arrays);

}  // namespace octavo::data
