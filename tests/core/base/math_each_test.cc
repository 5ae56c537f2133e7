// SPDX-License-Identifier: Apache-2.0
// Compares the vector forms of the elementary functions with the scalar ones, bit for bit.
#include "core/base/math_each.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "core/base/cpu.h"
#include "core/base/math.h"

namespace octavo::math {
namespace {

struct Row {
  const char* name;
  double (*one)(double);
  void (*each)(std::span<double>);
};

const Row kTable[] = {{"Exp", &Exp, &ExpEach},
                      {"Expm1", &Expm1, &Expm1Each},
                      {"Tanh", &Tanh, &TanhEach},
                      {"Sigmoid", &Sigmoid, &SigmoidEach},
                      {"Erf", &Erf, &ErfEach}};

// The points where a definition branches, each with its neighbours and both signs; also non-finite
// numbers, subnormal numbers and zero.
std::vector<double> SpecialValues() {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> values = {-0.0, kNan, -kNan, std::numeric_limits<double>::max()};
  for (const double at : {0.0,    5e-324, 1e-310, 2.2250738585072014e-308,
                          1e-20,  0.35,   0.5,    1.25,
                          1.0,    2.5,    6.0,    11.0,
                          22.0,   700.0,  708.4,  709.79,
                          745.13, 745.2,  1e300,  kInfinity}) {
    for (const double value : {std::nextafter(at, 0.0), at, std::nextafter(at, kInfinity)}) {
      values.push_back(value);
      values.push_back(-value);
    }
  }
  return values;
}

std::vector<double> Arguments() {
  std::vector<double> values = SpecialValues();
  std::mt19937_64 random(11);
  for (const double range : {1e-9, 0.4, 1.0, 3.0, 8.0, 40.0, 800.0}) {
    std::uniform_real_distribution<double> draw(-range, range);
    for (int i = 0; i < 20000; ++i) values.push_back(draw(random));
  }
  for (int i = 0; i < 20000; ++i) {
    const auto value = std::bit_cast<double>(random());
    if (!std::isnan(value)) values.push_back(value);
  }
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

TEST(MathEach, HasTheBitsOfTheFunctionOnEveryInstructionSet) {
  const std::vector<double> arguments = Arguments();
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    for (const Row& row : kTable) {
      std::vector<double> values = arguments;
      row.each(values);
      for (size_t i = 0; i < values.size(); ++i) {
        const double want = row.one(arguments[i]);
        ASSERT_EQ(std::bit_cast<uint64_t>(values[i]), std::bit_cast<uint64_t>(want))
            << row.name << "(" << arguments[i] << ") on " << IsaName(isa) << ": " << values[i]
            << ", but " << want;
      }
    }
  }
}

TEST(MathEach, TouchesNothingBeyondItsEndAtAnyLength) {
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    for (const Row& row : kTable) {
      for (size_t length = 0; length <= 70; ++length) {
        std::vector<double> values(length + 1);
        for (size_t i = 0; i < length; ++i) values[i] = 0.1 * static_cast<double>(i) - 2;
        values[length] = 4711;
        row.each(std::span(values).first(length));
        for (size_t i = 0; i < length; ++i) {
          ASSERT_EQ(values[i], row.one(0.1 * static_cast<double>(i) - 2)) << row.name;
        }
        ASSERT_EQ(values[length], 4711) << row.name;
      }
    }
  }
}

}  // namespace
}  // namespace octavo::math
