// SPDX-License-Identifier: Apache-2.0
#include "core/ir/four_bits.h"

namespace octavo::ir {

int64_t StoredBytes(DType dtype, int64_t elements) {
  if (IsFourBit(dtype)) return elements / 2 + elements % 2;
  return Type{dtype, {elements}, {}, {}}.bytes();
}

Blob ToStored(const Tensor& tensor) {
  if (!IsFourBit(tensor.dtype())) return tensor.ToBlob();
  std::vector<std::byte> packed(static_cast<size_t>(StoredBytes(tensor)));
  const auto from = tensor.values<uint8_t>();
  for (size_t i = 0; i < from.size(); ++i) {
    packed[i / 2] |= static_cast<std::byte>(i % 2 == 0 ? from[i] & 15 : from[i] << 4);
  }
  return Blob(std::move(packed));
}

Tensor FromStored(DType dtype, Shape shape, const Blob& bytes) {
  if (!IsFourBit(dtype)) return Tensor(dtype, std::move(shape), bytes);
  Tensor tensor(dtype, std::move(shape));
  assert(static_cast<int64_t>(bytes.size()) == StoredBytes(tensor));
  const auto to = tensor.mutable_values<uint8_t>();
  for (size_t i = 0; i < to.size(); ++i) {
    const auto pair = static_cast<uint8_t>(bytes.bytes()[i / 2]);
    const auto bits = static_cast<uint8_t>(i % 2 == 0 ? pair & 15 : pair >> 4);
    // Bit 3 is the sign.
    to[i] = static_cast<uint8_t>(IsSigned(dtype) && bits > 7 ? bits | 0xf0 : bits);
  }
  return tensor;
}

}  // namespace octavo::ir
