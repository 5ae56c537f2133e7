// The elementary functions on many numbers at once: each element becomes what the function of
// math.h makes of it, bit for bit, whatever the instruction set.
#pragma once

#include <span>

namespace octavo::math {

void ExpEach(std::span<double> values);
void Expm1Each(std::span<double> values);
void TanhEach(std::span<double> values);
void SigmoidEach(std::span<double> values);
void ErfEach(std::span<double> values);

}  // namespace octavo::math
