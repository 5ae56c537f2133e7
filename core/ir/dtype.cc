// SPDX-License-Identifier: Apache-2.0
#include "core/ir/dtype.h"

#include <array>
#include <limits>

namespace octavo::ir {
namespace {

struct Row {
  DType dtype;
  std::string_view name, numpy;
  int size;
  bool is_float, is_integer, is_signed;
  IntegerRange integers;
};

template <class T>
constexpr IntegerRange Limits() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

// One row per enumerator, in their order.
constexpr std::array<Row, 15> kRows = {{
    {DType::kF32, "f32", "float32", 4, true, false, true, {}},
    {DType::kF64, "f64", "float64", 8, true, false, true, {}},
    {DType::kF16, "f16", "float16", 2, true, false, true, {}},
    {DType::kBF16, "bf16", "bfloat16", 2, true, false, true, {}},
    {DType::kI8, "i8", "int8", 1, false, true, true, Limits<int8_t>()},
    {DType::kU8, "u8", "uint8", 1, false, true, false, Limits<uint8_t>()},
    {DType::kI16, "i16", "int16", 2, false, true, true, Limits<int16_t>()},
    {DType::kU16, "u16", "uint16", 2, false, true, false, Limits<uint16_t>()},
    {DType::kI32, "i32", "int32", 4, false, true, true, Limits<int32_t>()},
    {DType::kU32, "u32", "uint32", 4, false, true, false, Limits<uint32_t>()},
    {DType::kI64, "i64", "int64", 8, false, true, true, Limits<int64_t>()},
    {DType::kU64, "u64", "uint64", 8, false, true, false, {0, INT64_MAX}},
    {DType::kBool, "bool", "bool", 1, false, false, false, {0, 1}},
    {DType::kI4, "i4", "int4", 1, false, true, true, {-8, 7}},
    {DType::kU4, "u4", "uint4", 1, false, true, false, {0, 15}},
}};

const Row& RowOf(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view Name(DType dtype) { return RowOf(dtype).name; }

std::optional<DType> ParseDType(std::string_view name) {
  for (const Row& row : kRows) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::string_view NumpyName(DType dtype) { return RowOf(dtype).numpy; }
int SizeOf(DType dtype) { return RowOf(dtype).size; }
bool IsFloat(DType dtype) { return RowOf(dtype).is_float; }
bool IsInteger(DType dtype) { return RowOf(dtype).is_integer; }
bool IsFourBit(DType dtype) { return dtype == DType::kI4 || dtype == DType::kU4; }
bool IsSigned(DType dtype) { return RowOf(dtype).is_signed; }
IntegerRange IntegerRangeOf(DType dtype) { return RowOf(dtype).integers; }

}  // namespace octavo::ir
