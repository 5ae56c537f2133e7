// SPDX-License-Identifier: Apache-2.0
// Sums of products of centered values (q - z) of up to 16 bits, for several rows of weights at once
// and two taps at a time, with the loop add_pairs of simd/.  The sums are those of WideRow.
//
// Where the zero point takes centered values out of int16, the loop multiplies shifted ones,
// x' = x + a and w' = w + b, and the rest is subtracted:
//   sum of x w = sum of x' w' - a (sum of w') - b (sum of x') + taps a b
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "core/ir/type.h"

namespace octavo::runtime {

struct PairForm {
  int64_t reach = 0;  // a bound of |x'|
  int32_t x_shift = 0, w_shift = 0;
};
// How the two types' values are multiplied; none if sums of two products exceed 32 bits.
std::optional<PairForm> PairFormOf(const ir::Type& x, const ir::Type& w);

// The operands of kPairLanes adjacent outputs.
struct PairBlock {
  std::vector<uint32_t> words = {};
  std::vector<int64_t> sums = {};  // of x', by output
};

class PairRows {
 public:
  // `weights` has `rows` rows of centered weights.
  PairRows(std::span<const int32_t> weights, int64_t rows, const PairForm& form);

  // Output i reads x[offsets[t] + i] for each tap t; x is centered.
  PairBlock Pack(const int32_t* x, std::span<const int64_t> offsets) const;
  // sums[r * kPairLanes + i] = output i of row first + r, for r < count <= kPairRows.
  void Run(const PairBlock& block, int64_t first, int64_t count, int64_t* sums) const;

 private:
  PairForm form_ = {};
  int64_t taps_ = 0, pairs_ = 0;
  std::vector<uint32_t> weights_ = {};  // [rows][pairs]
  std::vector<int64_t> totals_ = {};    // of w', by row
  std::vector<int64_t> ends_ = {};      // of runs of pairs whose sums fit in 32 bits
};

}  // namespace octavo::runtime
