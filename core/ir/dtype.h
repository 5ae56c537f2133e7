// SPDX-License-Identifier: Apache-2.0
// The element types of a tensor, with ONNX's semantics.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo::ir {

enum class DType : uint8_t {
  kF32,
  kF64,
  kF16,
  kBF16,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI64,
  kU64,
  kBool,
  // 4 bits, of quantized constants only (G11).  In memory an element has a byte of its own, so that
  // elements are read and copied like those of all other types; files have two in a byte
  // (four_bits.h).
  kI4,
  kU4,
};

// "f32", "i8", "bool": the names in text graphs, options and target files.
std::string_view Name(DType dtype);
std::optional<DType> ParseDType(std::string_view name);
// "float32", "int8", "bool": numpy's names.
std::string_view NumpyName(DType dtype);

// Bytes of one element in memory.
int SizeOf(DType dtype);
bool IsFloat(DType dtype);
// Signed or unsigned integers; bool is not one of them.
bool IsInteger(DType dtype);
bool IsFourBit(DType dtype);
bool IsSigned(DType dtype);

// The integers that an integer type can store: [-128, 127] for i8.  For u64, max is INT64_MAX.
struct IntegerRange {
  int64_t min = 0;
  int64_t max = 0;

  bool operator==(const IntegerRange&) const = default;
};
IntegerRange IntegerRangeOf(DType dtype);

// The DType of a C++ type.
template <class T>
constexpr DType DTypeOf();
template <>
constexpr DType DTypeOf<float>() {
  return DType::kF32;
}
template <>
constexpr DType DTypeOf<double>() {
  return DType::kF64;
}
template <>
constexpr DType DTypeOf<int8_t>() {
  return DType::kI8;
}
template <>
constexpr DType DTypeOf<uint8_t>() {
  return DType::kU8;
}
template <>
constexpr DType DTypeOf<int16_t>() {
  return DType::kI16;
}
template <>
constexpr DType DTypeOf<uint16_t>() {
  return DType::kU16;
}
template <>
constexpr DType DTypeOf<int32_t>() {
  return DType::kI32;
}
template <>
constexpr DType DTypeOf<uint32_t>() {
  return DType::kU32;
}
template <>
constexpr DType DTypeOf<int64_t>() {
  return DType::kI64;
}
template <>
constexpr DType DTypeOf<uint64_t>() {
  return DType::kU64;
}
template <>
constexpr DType DTypeOf<bool>() {
  return DType::kBool;
}

}  // namespace octavo::ir
