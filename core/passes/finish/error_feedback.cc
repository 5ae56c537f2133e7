// SPDX-License-Identifier: Apache-2.0
#include "core/passes/finish/error_feedback.h"

#include <algorithm>
#include <cmath>

#include "core/base/cpu.h"
#include "core/passes/finish/descent_loops.h"

namespace octavo::passes {
namespace {

const DescentLoops& CurrentLoops() {
  return ForIsa(portable::kDescentLoops, avx2::kDescentLoops, avx512::kDescentLoops);
}

// The mean of the diagonal of H before damping.
double MeanOfDiagonal(int64_t terms, std::span<const double> second, int64_t columns) {
  double trace = 0;
  for (int64_t k = 0; k < terms; ++k) {
    trace += second[static_cast<size_t>(k * (k + 1) / 2 + k)] / static_cast<double>(columns);
  }
  return trace / static_cast<double>(terms);
}

// Finds the columns of R from the last one on; row j of the matrix holds column j, of which element
// i <= j is R_ij.  False at the first pivot that is not positive.
bool FindColumns(std::span<const double> second, int64_t columns, double added,
                 FeedbackFactor& factor) {
  const int64_t n = factor.terms;
  const DescentLoops& loops = CurrentLoops();
  for (int64_t j = n - 1; j >= 0; --j) {
    double* column = factor.rows.data() + j * n;
    for (int64_t i = 0; i <= j; ++i) {
      column[i] = second[static_cast<size_t>(j * (j + 1) / 2 + i)] / static_cast<double>(columns);
    }
    column[j] += added;
    for (int64_t k = n - 1; k > j; --k) {
      const double* other = factor.rows.data() + k * n;
      loops.add_scaled(-other[j], other, column, j + 1);
    }
    const double pivot = column[j];
    if (!(pivot > 0) || !std::isfinite(pivot)) return false;
    const double root = std::sqrt(pivot);
    for (int64_t i = 0; i < j; ++i) column[i] /= root;
    column[j] = root;
  }
  return true;
}

void Transpose(FeedbackFactor& factor) {
  const int64_t n = factor.terms;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1; j < n; ++j) {
      double& upper = factor.rows[static_cast<size_t>(i * n + j)];
      upper = factor.rows[static_cast<size_t>(j * n + i)];
      factor.rows[static_cast<size_t>(j * n + i)] = 0;
    }
  }
}

// One way to round a channel, and what the errors so far ask of each weight: R_kk times it.
struct Walk {
  std::vector<double> carried = {};
  double objective = 0;
  double error = 0;  // of the current weight: w - q s, as given

  explicit Walk(size_t terms) : carried(terms) {}
  // The weight that would cancel what was carried to it.
  double Wanted(double weight, double pivot, size_t k) const { return weight + carried[k] / pivot; }
  void Round(double weight, double rounded, double pivot, size_t k) {
    error = weight - rounded;
    const double e = pivot * error + carried[k];
    objective += e * e;
  }
};

}  // namespace

std::optional<FeedbackFactor> FactorOf(int64_t terms, std::span<const double> second,
                                       int64_t columns) {
  const double mean = MeanOfDiagonal(terms, second, columns);
  FeedbackFactor factor{.terms = terms, .damping = kFeedbackDamping};
  factor.rows.resize(static_cast<size_t>(terms * terms));
  for (int raised = 0; raised <= kMoreDamping; ++raised, factor.damping *= 10) {
    if (!FindColumns(second, columns, factor.damping * mean, factor)) continue;
    Transpose(factor);
    return factor;
  }
  return std::nullopt;
}

FeedbackResult FeedBack(const FeedbackFactor& factor, const FeedbackProblem& problem,
                        std::span<int32_t> integers) {
  const DescentLoops& loops = CurrentLoops();
  const auto terms = static_cast<size_t>(factor.terms);
  Walk nearest(terms), chosen(terms);
  std::vector<int32_t> better(terms);
  FeedbackResult result;
  for (size_t k = 0; k < terms; ++k) {
    const double* row = factor.Row(static_cast<int64_t>(k));
    const double weight = problem.weights[k], scale = problem.scales[k], pivot = row[k];
    const double wanted = chosen.Wanted(weight, pivot, k) / scale;
    // Clamped first: the quotient may exceed any integer.
    better[k] = static_cast<int32_t>(std::nearbyint(
        std::clamp(wanted, static_cast<double>(problem.least), static_cast<double>(problem.most))));
    nearest.Round(weight, integers[k] * scale, pivot, k);
    chosen.Round(weight, better[k] * scale, pivot, k);
    const auto rest = static_cast<int64_t>(terms - k - 1);
    loops.add_scaled(nearest.error, row + k + 1, nearest.carried.data() + k + 1, rest);
    loops.add_scaled(chosen.error, row + k + 1, chosen.carried.data() + k + 1, rest);
  }
  result.before = result.after = nearest.objective;
  if (!(chosen.objective < nearest.objective)) return result;
  result.after = chosen.objective;
  for (size_t k = 0; k < terms; ++k) {
    result.changed += better[k] != integers[k] ? 1 : 0;
    integers[k] = better[k];
  }
  return result;
}

}  // namespace octavo::passes
