// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files: versions 1 to 3, little- and big-endian, C and Fortran order.
#pragma once

#include <string>

#include "core/base/blob.h"
#include "core/data/array.h"

namespace octavo::data {

// What precedes the elements of a .npy file.
struct NpyHeader {
  ir::DType dtype = ir::DType::kF32;
  ir::Shape shape = {};
  bool fortran = false;  // the first axis varies fastest
  bool big_endian = false;
  size_t data = 0;  // offset of the elements
};

// The most bytes that a header may have.
inline constexpr size_t kMaxNpyHead = 12 + 10000;

// `what` names the array in messages, `head` holds the first kMaxNpyHead of `total` bytes, or all.
// kInvalidArgument (reason INVALID_NPY) for bytes that are not a complete .npy file; kUnimplemented
// for element types that a graph cannot hold.
Result<NpyHeader> ReadNpyHeader(std::string_view what, std::string_view head, uint64_t total);

// The array of a file in memory or mapped.
Result<ArrayPtr> OpenNpy(std::string_view what, const Blob& bytes);
// All of its elements at once, for arrays that are small.
Result<ir::Tensor> ReadNpy(std::string_view what, const Blob& bytes);

// Writes version 1.0, C order.
std::string WriteNpy(const ir::Tensor& tensor);

}  // namespace octavo::data
