// SPDX-License-Identifier: Apache-2.0
// The fields of a serialized protobuf message, one after the other, with every length checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/status.h"

namespace octavo::onnx {

enum WireType : uint32_t { kWireVarint = 0, kWireFixed64 = 1, kWireBytes = 2, kWireFixed32 = 5 };

// One serialized field: its tag starts at `start`, its content is [begin, end).
struct Field {
  int number = 0;
  WireType type = {};
  size_t start = 0, begin = 0, end = 0;
  uint64_t value = 0;  // of a varint
};

// Reads the field at `at`, which moves behind it.  kInvalidArgument: reason TRUNCATED if the field
// passes `end`, MALFORMED if the bytes are no field.
Result<Field> NextField(std::string_view bytes, size_t& at, size_t end);

// The error of bytes that are no model, at `offset` of the message.
Failure Malformed(size_t offset, std::string_view what);

}  // namespace octavo::onnx
