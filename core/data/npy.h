// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: versions 1 to 3, little- and big-endian, C and Fortran order.
#pragma once

#include <string>

#include "core/base/blob.h"
#include "core/ir/tensor.h"

namespace octavo::data {

// `what` names the array in messages.  kInvalidArgument (reason INVALID_NPY) for bytes that are not
// a complete .npy file; kUnimplemented for element types that a graph cannot hold.  An array in
// native byte order is a view of the bytes.
Result<ir::Tensor> ReadNpy(std::string_view what, const Blob& bytes);

// Writes version 1.0, C order.
std::string WriteNpy(const ir::Tensor& tensor);

}  // namespace octavo::data
