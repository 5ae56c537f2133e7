// SPDX-License-Identifier: Apache-2.0
// Sums of products of centered values (q - z) of 16 bits, for several rows of weights at once and
// two taps at a time, with the loop add_pairs of simd/.  The sums are those of WideRow.
#pragma once

#include <span>
#include <vector>

#include "core/ir/type.h"

namespace octavo::runtime {

// Whether products of the two types' centered values can be summed so.
bool FitPairs(const ir::Type& x, const ir::Type& w);

class PairRows {
 public:
  // `weights` has `rows` rows of centered weights.  `reach` is a bound of |x|.
  PairRows(std::span<const int32_t> weights, int64_t rows, int64_t reach);

  // A block is kPairLanes adjacent outputs: output i reads x[offsets[t] + i] for each tap t.
  std::vector<uint32_t> Pack(const int32_t* x, std::span<const int64_t> offsets) const;
  // sums[r * kPairLanes + i] = output i of row first + r, for r < count <= kPairRows.
  void Run(std::span<const uint32_t> block, int64_t first, int64_t count, int64_t* sums) const;

 private:
  int64_t pairs_ = 0;
  std::vector<uint32_t> weights_ = {};  // [rows][pairs]
  std::vector<int64_t> ends_ = {};      // of runs of pairs whose sums fit in 32 bits
};

}  // namespace octavo::runtime
