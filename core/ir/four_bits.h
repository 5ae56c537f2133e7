// SPDX-License-Identifier: Apache-2.0
// Elements of 4 bits as files have them: two in a byte, the first in the lower half, as ONNX does.
// The upper half of the last byte is 0 if the number of elements is odd.  Elements of other types
// are the same in files and in memory.
#pragma once

#include "core/ir/tensor.h"

namespace octavo::ir {

// Bytes of the elements in a file; INT64_MAX on overflow.
int64_t StoredBytes(DType dtype, int64_t elements);
inline int64_t StoredBytes(const Tensor& tensor) {
  return StoredBytes(tensor.dtype(), tensor.size());
}

// The bytes of a file, sharing ownership where they are those in memory.
Blob ToStored(const Tensor& tensor);
// The inverse: the number of bytes must be StoredBytes.
Tensor FromStored(DType dtype, Shape shape, const Blob& bytes);

}  // namespace octavo::ir
