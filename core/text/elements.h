// SPDX-License-Identifier: Apache-2.0
// Tensor elements as text: numbers that parse back to the same bits, and the fixed generator for
// random(seed).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/ir/tensor.h"

namespace octavo::text {

// Whether every element prints as a number that parses back to the same bits (a NaN with a payload
// does not).
bool PrintsExactly(const ir::Tensor& tensor);
// Element i as the shortest number that parses back to the same bits.
std::string PrintElement(const ir::Tensor& tensor, int64_t i);
// Parses a number into element i.  False if the text is not a number or the dtype cannot represent
// it.
bool ParseElement(std::string_view number, ir::Tensor& tensor, int64_t i);

// Whether every element is one of the type's: in memory, those of 4 bits have a byte.
bool HoldsElements(const ir::Tensor& tensor);

// Parses the whole text as a number; false if it is not a number or is out of range.
bool ParseInt(std::string_view text, int64_t& value);
bool ParseFloat(std::string_view text, float& value);

// random(seed): element i is derived from output i of splitmix64 seeded with `seed`.  Floats are
// uniform in [-1, 1) with 24 random bits (f64: 53; f16, bf16: the f32 rounded to nearest even);
// integers use the top bits, so that all values of the dtype are equally likely.
ir::Tensor RandomTensor(ir::DType dtype, const ir::Shape& shape, uint64_t seed);

}  // namespace octavo::text
