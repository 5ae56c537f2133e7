// SPDX-License-Identifier: Apache-2.0
#include "core/data/npy_elements.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace octavo::data {

void CopyFortran(const ir::Shape& shape, size_t width, std::span<const std::byte> stored,
                 size_t first, std::span<std::byte> out) {
  std::vector<size_t> index(shape.size(), 0), strides(shape.size(), 1);
  size_t rest = first;
  for (size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<size_t>(shape[axis]);
    index[axis] = rest % extent;
    rest /= extent;
  }
  for (size_t i = 1; i < shape.size(); ++i) {
    strides[i] = strides[i - 1] * static_cast<size_t>(shape[i - 1]);
  }
  for (size_t at = 0; at < out.size(); at += width) {
    size_t from = 0;
    for (size_t axis = 0; axis < shape.size(); ++axis) from += index[axis] * strides[axis];
    std::memcpy(out.data() + at, stored.data() + from * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++index[axis] < static_cast<size_t>(shape[axis])) break;
      index[axis] = 0;
    }
  }
}

Status FinishElements(std::string_view what, const NpyHeader& header, std::span<std::byte> part) {
  if (header.big_endian) {
    const auto width = static_cast<size_t>(ir::SizeOf(header.dtype));
    for (size_t at = 0; at < part.size(); at += width) {
      std::reverse(part.data() + at, part.data() + at + width);
    }
  }
  if (header.dtype != ir::DType::kBool) return {};
  for (const std::byte element : part) {
    if (element <= std::byte{1}) continue;
    return Fail(Code::kInvalidArgument, "'{}': a bool is {}", what, static_cast<int>(element))
        .Field(what)
        .Reason("INVALID_NPY");
  }
  return {};
}

}  // namespace octavo::data
