// SPDX-License-Identifier: Apache-2.0
// An exported model without what its job says of itself (core/ir/qdq_notes.h), to compare the
// results of jobs that are not the same action.
#pragma once

#include <algorithm>
#include <string>

#include "core/base/blob.h"
#include "core/ir/qdq_notes.h"
#include "core/onnx/wire/onnx.pb.h"

namespace octavo::job {

inline std::string WithoutStamp(const Blob& bytes) {
  onnx_wire::Model model;
  if (!model.ParseFromString(std::string(bytes.text()))) return {};
  auto& entries = *model.mutable_metadata_props();
  const auto is_stamp = [](const onnx_wire::StringEntry& entry) {
    return entry.key() == ir::kActionDigestKey || entry.key() == ir::kOptionsKey ||
           entry.key() == ir::kProfileDigestKey;
  };
  entries.erase(std::remove_if(entries.begin(), entries.end(), is_stamp), entries.end());
  return model.SerializeAsString();
}

}  // namespace octavo::job
