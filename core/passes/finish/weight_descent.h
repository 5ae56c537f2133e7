// SPDX-License-Identifier: Apache-2.0
// Rounds the weights of one output channel so that the layer's results, and not the weights, are
// closest to the float ones: coordinate descent on the integers, as AdaRound's objective without
// its gradient (Nagel et al., "Up or Down? Adaptive Rounding for Post-Training Quantization",
// 2020).
//
//   objective = r^T C r,   r_k = q_k * s - w_k,   C = H / n - m m^T / n^2 + damping * I
//
// With r fixed, the mean of (sum_k r_k x_k)^2 over the columns x is r^T (H / n) r; the mean of the
// error is corrected by the bias, if there is one, so that C is centred.  Sums have one order, and
// multiplication and addition round separately: the same bits for every instruction set.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/profile/moments.h"

namespace octavo::passes {

inline constexpr double kDamping = 0.05;  // of the mean of C's diagonal
inline constexpr int kMostSweeps = 3;
inline constexpr int32_t kMostSteps = 2;  // away from the nearest integer

// C of one block of one group.  All-zero if the data are constant: nothing can be gained then.
struct Curvature {
  int64_t terms = 0;
  std::vector<int64_t> order = {};   // terms by descending diagonal, of equal ones the lower first
  std::vector<int64_t> places = {};  // of the terms, in `order`
  std::vector<double> matrix = {};   // [terms][stride], rows and columns in that order

  // An odd number of cache lines: rows must not compete for the same sets of a cache.
  int64_t stride() const { return ((terms + 7) / 8 | 1) * 8; }
  const double* Row(int64_t place) const { return matrix.data() + place * stride(); }
  double At(int64_t k, int64_t l) const {
    return Row(places[static_cast<size_t>(k)])[places[static_cast<size_t>(l)]];
  }
  bool zero() const { return order.empty(); }
};
// `first` and `second` are of the block (profile::LayerMoments), over `columns` > 0 columns.
Curvature CurvatureOf(const profile::TermBlock& block, std::span<const double> first,
                      std::span<const double> second, int64_t columns, bool centred);
// The same, with the memory of an earlier result.
void FindCurvature(const profile::TermBlock& block, std::span<const double> first,
                   std::span<const double> second, int64_t columns, bool centred,
                   Curvature& curvature);

// The weights of a channel's terms in a block.
struct RoundingProblem {
  std::span<const float> weights = {};
  double scale = 1;
  int32_t least = 0, most = 0;  // integers, without the zero point
};
struct RoundingResult {
  double before = 0, after = 0;  // the objective; after <= before
  int64_t changed = 0;
};
// `integers` has the nearest integers, without the zero point, and gets the result.
RoundingResult Descend(const Curvature& curvature, const RoundingProblem& problem,
                       std::span<int32_t> integers);

// The same for several channels, which read the matrix together: it is larger than a cache.
// `integers` and the result have an entry for each problem.
std::vector<RoundingResult> DescendTogether(const Curvature& curvature,
                                            std::span<const RoundingProblem> problems,
                                            std::span<std::vector<int32_t>> integers);
// So many channels and their gradients fit into a cache.
inline constexpr int64_t kTogether = 32;

}  // namespace octavo::passes
