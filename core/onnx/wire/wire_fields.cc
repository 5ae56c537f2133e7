// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/wire/wire_fields.h"

namespace octavo::onnx {
namespace {

Failure Truncated(size_t offset) {
  return Fail(Code::kInvalidArgument, "the model is cut off: a field at byte {} passes the end",
              offset)
      .Reason("TRUNCATED");
}

Result<uint64_t> Varint(std::string_view bytes, size_t& at, size_t end) {
  uint64_t value = 0;
  const size_t start = at;
  for (int shift = 0; shift < 70; shift += 7) {
    if (at >= end) return Truncated(start);
    const auto byte = static_cast<uint64_t>(static_cast<unsigned char>(bytes[at++]));
    if (shift == 63 && byte > 1) break;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return Malformed(start, "a varint of more than 64 bits");
}

}  // namespace

Result<Field> NextField(std::string_view bytes, size_t& at, size_t end) {
  Field field{.start = at};
  OCTAVO_TRY(const uint64_t tag, Varint(bytes, at, end));
  const uint64_t number = tag >> 3;
  if (number == 0 || number > (1 << 29) - 1) return Malformed(field.start, "a wrong field tag");
  field.number = static_cast<int>(number);
  field.type = static_cast<WireType>(tag & 7);
  field.begin = at;
  uint64_t length = 0;
  switch (field.type) {
    case kWireVarint: {
      OCTAVO_TRY(field.value, Varint(bytes, at, end));
      field.end = at;
      return field;
    }
    case kWireFixed64:
      length = 8;
      break;
    case kWireFixed32:
      length = 4;
      break;
    case kWireBytes: {
      OCTAVO_TRY(length, Varint(bytes, at, end));
      field.begin = at;
      break;
    }
    default:
      return Malformed(field.start, "a group or an unknown wire type");
  }
  if (length > end - at) return Truncated(field.start);
  at += length;
  field.end = at;
  return field;
}

Failure Malformed(size_t offset, std::string_view what) {
  return Fail(Code::kInvalidArgument, "not a valid ONNX model: {} at byte {}", what, offset)
      .Reason("MALFORMED");
}

}  // namespace octavo::onnx
