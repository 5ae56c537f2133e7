// SPDX-License-Identifier: Apache-2.0
// Weights that a model keeps in separate files.  A location names an entry in a map of blobs and is
// never opened as a path: on a server, the entries come with the request; on the command line, from
// the model's own folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/blob.h"

namespace octavo::onnx {

using ExternalData = std::map<std::string, Blob, std::less<>>;

// kInvalidArgument (reason EXTERNAL_DATA) unless the location stays within the model's folder: a
// relative path without "..", ".", empty parts, backslashes or control characters.
Status CheckLocation(std::string_view location);

// The locations that a model's tensors name: checked, sorted, without duplicates.
Result<std::vector<std::string>> ListExternalData(const Blob& model);

}  // namespace octavo::onnx
