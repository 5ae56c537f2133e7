// SPDX-License-Identifier: Apache-2.0
// Rounds the weights of one output channel one after another, and lets those that follow make up
// for the error of those before: GPTQ (Frantar et al., "GPTQ: Accurate Post-Training Quantization
// for Generative Pre-trained Transformers", 2023).  With few bits, errors are too large for
// coordinate descent from the nearest integers (weight_descent.h).
//
//   H = second moments / columns + damping * mean(diag H) * I,   H^-1 = U^T U, U upper triangular
//   k ascending:  q_k = clamp(rne(w_k / s_k)),  e_k = (w_k - q_k s_k) / U_kk,
//                 w_l -= e_k U_kl for l > k
//
// The objective, r^T H r with r = w - q s, is the sum of e_k^2.  U is not formed: with H = R R^T, R
// upper triangular, U is the inverse of R, and with the errors r_j of the weights before
//
//   w_k = given w_k + (sum over j < k of R_jk r_j) / R_kk,   e_k = R_kk (w_k - q_k s_k)
//
// Sums have one order, and multiplication and addition round separately: the same bits for every
// instruction set.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/profile/moments.h"

namespace octavo::passes {

inline constexpr double kFeedbackDamping = 0.01;  // of the mean of H's diagonal
// A matrix that is not positive definite is damped by ten times as much, so often.
inline constexpr int kMoreDamping = 4;

// R of one block of terms.
struct FeedbackFactor {
  int64_t terms = 0;
  double damping = 0;
  std::vector<double> rows = {};  // [terms][terms], 0 below the diagonal

  const double* Row(int64_t k) const { return rows.data() + k * terms; }
};
// `second` is the lower triangle of the block, by rows (profile::LayerMoments), over `columns` > 0
// columns.  nullopt if no damping makes H positive definite: the data are all 0, or not finite.
std::optional<FeedbackFactor> FactorOf(int64_t terms, std::span<const double> second,
                                       int64_t columns);

// The weights of a channel's terms in a block, and the scale of each.
struct FeedbackProblem {
  std::span<const float> weights = {};
  std::span<const float> scales = {};  // finite, not 0
  int32_t least = 0, most = 0;         // integers; the zero point is 0
};
struct FeedbackResult {
  double before = 0, after = 0;  // the objective; after <= before
  int64_t changed = 0;
};
// `integers` has the nearest integers and gets the result: nearest ones if the others are no
// better.
FeedbackResult FeedBack(const FeedbackFactor& factor, const FeedbackProblem& problem,
                        std::span<int32_t> integers);

}  // namespace octavo::passes
