// SPDX-License-Identifier: Apache-2.0
// The elementary functions on arrays, in place: each element gets the same bits as from the
// function in math.h, on every instruction set.
#pragma once

#include <span>

namespace octavo::math {

void ExpEach(std::span<double> values);
void Expm1Each(std::span<double> values);
void TanhEach(std::span<double> values);
void SigmoidEach(std::span<double> values);
void ErfEach(std::span<double> values);

}  // namespace octavo::math
