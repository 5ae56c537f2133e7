// SPDX-License-Identifier: Apache-2.0
#include "core/data/array.h"

#include <algorithm>

namespace octavo::data {
namespace {

using ir::DType;

template <class T>
Status StoreIntegers(const Array& array, int64_t first, const ir::Tensor& from, std::span<T> to) {
  const ir::IntegerRange range = ir::IntegerRangeOf(ir::DTypeOf<T>());
  for (int64_t i = 0; i < from.size(); ++i) {
    const int64_t value = from.IntAt(i);
    const bool large_unsigned = from.dtype() == DType::kU64 && value < 0;
    if (large_unsigned || value < range.min || value > range.max) {
      return Fail(Code::kInvalidArgument, "samples: element {} of '{}' is {}, which {} cannot hold",
                  first + i, array.name(), value, ir::NumpyName(ir::DTypeOf<T>()))
          .Field(array.name())
          .Reason("INVALID_SAMPLES");
    }
    to[static_cast<size_t>(i)] = static_cast<T>(value);
  }
  return {};
}

template <class T>
void StoreFloats(const ir::Tensor& from, std::span<T> to) {
  for (int64_t i = 0; i < from.size(); ++i) {
    to[static_cast<size_t>(i)] = static_cast<T>(from.FloatAt(i));
  }
}

// `to` is a part of the whole; `first` is its place in the array, for the message.
Status Convert(const Array& array, int64_t first, const ir::Tensor& from, ir::Tensor& to) {
  switch (to.dtype()) {
    case DType::kF32:
      StoreFloats(from, to.mutable_values<float>());
      return {};
    case DType::kF64:
      StoreFloats(from, to.mutable_values<double>());
      return {};
    case DType::kI8:
      return StoreIntegers(array, first, from, to.mutable_values<int8_t>());
    case DType::kU8:
      return StoreIntegers(array, first, from, to.mutable_values<uint8_t>());
    case DType::kI16:
      return StoreIntegers(array, first, from, to.mutable_values<int16_t>());
    case DType::kU16:
      return StoreIntegers(array, first, from, to.mutable_values<uint16_t>());
    case DType::kI32:
      return StoreIntegers(array, first, from, to.mutable_values<int32_t>());
    case DType::kU32:
      return StoreIntegers(array, first, from, to.mutable_values<uint32_t>());
    case DType::kI64:
      return StoreIntegers(array, first, from, to.mutable_values<int64_t>());
    case DType::kU64:
      return StoreIntegers(array, first, from, to.mutable_values<uint64_t>());
    case DType::kF16:
    case DType::kBF16:
    case DType::kBool:
    case DType::kI4:
    case DType::kU4:
      break;
  }
  return Fail(Code::kInternal, "no conversion into {}", ir::Name(to.dtype()));
}

std::span<std::byte> BytesOf(ir::Tensor& tensor) {
  return {tensor.mutable_raw(), static_cast<size_t>(tensor.bytes())};
}

}  // namespace

bool CanConvert(DType from, DType to) {
  const bool integer = ir::IsInteger(from) || from == DType::kBool;
  if (to == DType::kF32 || to == DType::kF64) return true;
  return integer && ir::IsInteger(to);
}

Result<ir::Tensor> ReadWhole(Array& array, const StopToken& stop) {
  ir::Tensor tensor(array.dtype(), array.shape());
  OCTAVO_CHECK(array.Read(0, BytesOf(tensor), stop));
  return tensor;
}

Status ReadAs(Array& array, int64_t first, ir::Tensor& to, const StopToken& stop) {
  const auto bits = [](DType dtype) { return dtype == DType::kBF16 ? DType::kU16 : dtype; };
  // numpy has no bfloat16: its arrays hold the bits as uint16.
  if (bits(array.dtype()) == bits(to.dtype())) return array.Read(first, BytesOf(to), stop);
  // 2^16 elements convert in a fraction of a millisecond.
  constexpr int64_t kPart = 1 << 16;
  const auto width = static_cast<size_t>(ir::SizeOf(to.dtype()));
  for (int64_t done = 0; done < to.size(); done += kPart) {
    const int64_t count = std::min(kPart, to.size() - done);
    ir::Tensor from(array.dtype(), {count});
    OCTAVO_CHECK(array.Read(first + done, BytesOf(from), stop));
    // The owner outlives this view of its part.
    ir::Tensor part(to.dtype(), {count}, std::shared_ptr<void>(),
                    to.mutable_raw() + static_cast<size_t>(done) * width);
    OCTAVO_CHECK(Convert(array, first + done, from, part));
  }
  return {};
}

}  // namespace octavo::data
