// SPDX-License-Identifier: Apache-2.0
#include "core/text/elements.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>

namespace octavo::text {
namespace {

using ir::DType;

template <class T>
bool ReadNumber(std::string_view text, T& value) {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end;
}

template <class T>
bool ReadInto(std::string_view number, ir::Tensor& tensor, int64_t i) {
  return ReadNumber(number, tensor.mutable_values<T>()[i]);
}

// Converts a float to the bits of a 16-bit float, rounded to nearest even.
uint16_t HalfOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const double magnitude = std::fabs(static_cast<double>(value));
  if (std::isnan(value)) return sign | 0x7e00u;
  if (magnitude >= 65520.0) return sign | 0x7c00u;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  // The spacing of 16-bit floats is 2^-24 for subnormals, else 2^(exponent - 11).
  const int step = std::max(exponent - 11, -24);
  const double steps = std::nearbyint(std::ldexp(magnitude, -step));
  const uint32_t count = static_cast<uint32_t>(steps);
  if (step == -24) return static_cast<uint16_t>(sign | count);
  // count is in [1024, 2048]; 2048 correctly carries into the exponent.
  return static_cast<uint16_t>(sign | (((step + 24) << 10) + count));
}

uint16_t BrainOf(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

uint64_t SplitMix(uint64_t seed, uint64_t index) {
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

template <class T>
void FillIntegers(ir::Tensor& tensor, uint64_t seed) {
  const auto values = tensor.mutable_values<T>();
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<T>(SplitMix(seed, i) >> (64 - 8 * sizeof(T)));
  }
}

float UnitFloat(uint64_t z) { return static_cast<float>(z >> 40) * 0x1p-23f - 1.0f; }

}  // namespace

bool ParseInt(std::string_view text, int64_t& value) { return ReadNumber(text, value); }
bool ParseFloat(std::string_view text, float& value) { return ReadNumber(text, value); }

bool PrintsExactly(const ir::Tensor& tensor) {
  if (!ir::IsFloat(tensor.dtype())) return true;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (std::isnan(tensor.FloatAt(i))) return false;
  }
  return true;
}

std::string PrintElement(const ir::Tensor& tensor, int64_t i) {
  if (tensor.dtype() == DType::kF64) return fmt::format("{}", tensor.FloatAt(i));
  if (ir::IsFloat(tensor.dtype())) return fmt::format("{}", static_cast<float>(tensor.FloatAt(i)));
  if (tensor.dtype() == DType::kU64) return fmt::format("{}", tensor.values<uint64_t>()[i]);
  return fmt::format("{}", tensor.IntAt(i));
}

bool ParseElement(std::string_view number, ir::Tensor& tensor, int64_t i) {
  switch (tensor.dtype()) {
    case DType::kF32:
      return ReadInto<float>(number, tensor, i);
    case DType::kF64:
      return ReadInto<double>(number, tensor, i);
    case DType::kF16:
    case DType::kBF16: {
      float value = 0;
      if (!ReadNumber(number, value)) return false;
      tensor.mutable_values<uint16_t>()[i] =
          tensor.dtype() == DType::kF16 ? HalfOf(value) : BrainOf(value);
      return true;
    }
    case DType::kI8:
      return ReadInto<int8_t>(number, tensor, i);
    case DType::kU8:
      return ReadInto<uint8_t>(number, tensor, i);
    case DType::kI16:
      return ReadInto<int16_t>(number, tensor, i);
    case DType::kU16:
      return ReadInto<uint16_t>(number, tensor, i);
    case DType::kI32:
      return ReadInto<int32_t>(number, tensor, i);
    case DType::kU32:
      return ReadInto<uint32_t>(number, tensor, i);
    case DType::kI64:
      return ReadInto<int64_t>(number, tensor, i);
    case DType::kU64:
      return ReadInto<uint64_t>(number, tensor, i);
    case DType::kI4:
    case DType::kU4: {
      int64_t value = 0;
      const ir::IntegerRange range = ir::IntegerRangeOf(tensor.dtype());
      if (!ReadNumber(number, value) || value < range.min || value > range.max) return false;
      tensor.mutable_values<int8_t>()[i] = static_cast<int8_t>(value);
      return true;
    }
    case DType::kBool: {
      if (number != "0" && number != "1") return false;
      tensor.mutable_values<uint8_t>()[i] = number == "1";
      return true;
    }
  }
  return false;
}

bool HoldsElements(const ir::Tensor& tensor) {
  if (!ir::IsFourBit(tensor.dtype())) return true;
  const ir::IntegerRange range = ir::IntegerRangeOf(tensor.dtype());
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (tensor.IntAt(i) < range.min || tensor.IntAt(i) > range.max) return false;
  }
  return true;
}

ir::Tensor RandomTensor(DType dtype, const ir::Shape& shape, uint64_t seed) {
  ir::Tensor tensor(dtype, shape);
  const uint64_t count = static_cast<uint64_t>(tensor.size());
  switch (dtype) {
    case DType::kF32:
      for (uint64_t i = 0; i < count; ++i) {
        tensor.mutable_values<float>()[i] = UnitFloat(SplitMix(seed, i));
      }
      break;
    case DType::kF64:
      for (uint64_t i = 0; i < count; ++i) {
        tensor.mutable_values<double>()[i] =
            static_cast<double>(SplitMix(seed, i) >> 11) * 0x1p-52 - 1.0;
      }
      break;
    case DType::kF16:
    case DType::kBF16:
      for (uint64_t i = 0; i < count; ++i) {
        const float value = UnitFloat(SplitMix(seed, i));
        tensor.mutable_values<uint16_t>()[i] =
            dtype == DType::kF16 ? HalfOf(value) : BrainOf(value);
      }
      break;
    case DType::kI4:
    case DType::kU4: {
      // Adding the minimum 0 or -8 to 4 bits gives each value of the type.
      const int64_t least = ir::IntegerRangeOf(dtype).min;
      for (uint64_t i = 0; i < count; ++i) {
        const auto bits = static_cast<int64_t>(SplitMix(seed, i) >> 60);
        tensor.mutable_values<int8_t>()[i] = static_cast<int8_t>(bits + least);
      }
      break;
    }
    case DType::kI8:
    case DType::kU8:
      FillIntegers<uint8_t>(tensor, seed);
      break;
    case DType::kI16:
    case DType::kU16:
      FillIntegers<uint16_t>(tensor, seed);
      break;
    case DType::kI32:
    case DType::kU32:
      FillIntegers<uint32_t>(tensor, seed);
      break;
    case DType::kI64:
    case DType::kU64:
      FillIntegers<uint64_t>(tensor, seed);
      break;
    case DType::kBool:
      for (uint64_t i = 0; i < count; ++i) {
        tensor.mutable_values<uint8_t>()[i] = static_cast<uint8_t>(SplitMix(seed, i) >> 63);
      }
      break;
  }
  return tensor;
}

}  // namespace octavo::text
