// SPDX-License-Identifier: Apache-2.0
// Elements of tensors as text: numbers that read back to the same bits, and the fixed generator
// behind random(seed).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/ir/tensor.h"

namespace octavo::text {

// Whether every element prints as a number that reads back to the same bits (a NaN with a payload
// does not).
bool PrintsExactly(const ir::Tensor& tensor);
// Element i: the shortest number that reads back the same.
std::string PrintElement(const ir::Tensor& tensor, int64_t i);
// Reads a number into element i.  False if it is no number or out of the dtype's range.
bool ParseElement(std::string_view number, ir::Tensor& tensor, int64_t i);

// Parses the whole text as a number; false if it is none or out of range.
bool ParseInt(std::string_view text, int64_t& value);
bool ParseFloat(std::string_view text, float& value);

// random(seed): element i is made from output i of splitmix64 started at `seed`.  Floats are
// uniform in [-1, 1) with 24 random bits (f64: 53; f16, bf16: the f32 rounded to nearest even);
// integers take the top bits, so that all values of the dtype are equally likely.
ir::Tensor RandomTensor(ir::DType dtype, const ir::Shape& shape, uint64_t seed);

}  // namespace octavo::text
