// SPDX-License-Identifier: Apache-2.0
// A move of one integer changes the whole gradient, by a row of the matrix.  The moves of kBlock
// terms reach the gradient of these terms at once, and that of all others together, once they have
// been made: an element of the gradient is read and written once for all of them, and the rows are
// still in a cache for the next channel.  Each element receives the same sums in the same order as
// if every move reached it at once, so the bits do not depend on kBlock.
#include "core/passes/finish/weight_descent.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/cpu.h"
#include "core/passes/finish/descent_loops.h"

namespace octavo::passes {
namespace {

constexpr int64_t kBlock = 32;
// Added and subtracted, it leaves the nearest integer of a number up to 2^31, of two the even one.
constexpr double kRoundToEven = 0x1.8p52;
// Of the way to the next integer: so little rounds to the same one, however the quotient rounds.
constexpr double kStays = 0.499;

const DescentLoops& CurrentLoops() {
  return ForIsa(portable::kDescentLoops, avx2::kDescentLoops, avx512::kDescentLoops);
}

// One output channel; its terms are in the curvature's order.
class Channel {
 public:
  // The gradient is still 0.
  Channel(const Curvature& curvature, const RoundingProblem& problem,
          std::span<const int32_t> integers)
      : curvature_(curvature), problem_(problem), gradient_(integers.size()) {
    for (const int64_t term : curvature.order) {
      const auto k = static_cast<size_t>(term);
      nearest_.push_back(integers[k]);
      errors_.push_back(integers[k] * problem.scale - double{problem.weights[k]});
    }
    integers_ = nearest_;
  }

  // In the order of the terms.
  std::vector<double> Errors() const {
    std::vector<double> errors;
    for (const int64_t place : curvature_.places) {
      errors.push_back(errors_[static_cast<size_t>(place)]);
    }
    return errors;
  }
  double* gradient() { return gradient_.data(); }

  double Objective() const {
    double sum = 0;
    for (const int64_t place : curvature_.places) {
      const auto at = static_cast<size_t>(place);
      sum += errors_[at] * gradient_[at];
    }
    return sum;
  }

  // Chooses the integers of the block from `begin` on.
  void Visit(int64_t begin, const DescentLoops& loops) {
    const int64_t end = std::min(begin + kBlock, curvature_.terms);
    const double* rows[kBlock];
    double moves[kBlock];
    int64_t count = 0;
    for (int64_t at = begin; at < end; ++at) {
      const double move = Choose(at);
      if (move == 0) continue;
      rows[count] = curvature_.Row(at);
      moves[count] = move;
      loops.add_scaled(move, rows[count] + begin, gradient() + begin, end - begin);
      ++count;
    }
    if (count == 0) return;
    moved_ = true;
    loops.add_rows(rows, moves, count, 0, begin, gradient());
    loops.add_rows(rows, moves, count, end, curvature_.terms, gradient());
  }

  // Whether a sweep since the last call changed an integer.
  bool TakeMoved() { return std::exchange(moved_, false); }

  // Writes the integers, in the order of the terms; returns how many are not the nearest.
  int64_t Store(std::span<int32_t> integers) const {
    int64_t changed = 0;
    for (size_t at = 0; at < integers_.size(); ++at) {
      integers[static_cast<size_t>(curvature_.order[at])] = integers_[at];
      changed += integers_[at] != nearest_[at] ? 1 : 0;
    }
    return changed;
  }

 private:
  // Returns what the error changes by.
  double Choose(int64_t place) {
    const auto at = static_cast<size_t>(place);
    const double slope = curvature_.Row(place)[place] * problem_.scale;
    if (std::fabs(gradient_[at]) < kStays * slope) return 0;  // without the division
    const double best = integers_[at] - gradient_[at] / slope;
    const int32_t low = std::max(problem_.least, nearest_[at] - kMostSteps);
    const int32_t high = std::min(problem_.most, nearest_[at] + kMostSteps);
    // Clamped first: the quotient may exceed any integer.
    const double clamped = std::clamp(best, static_cast<double>(low), static_cast<double>(high));
    const auto chosen = static_cast<int32_t>(clamped + kRoundToEven - kRoundToEven);
    const double move = (chosen - integers_[at]) * problem_.scale;
    integers_[at] = chosen;
    errors_[at] += move;
    return move;
  }

  const Curvature& curvature_;
  const RoundingProblem& problem_;
  std::vector<int32_t> nearest_, integers_;
  std::vector<double> errors_, gradient_;  // gradient = matrix * errors
  bool moved_ = false;
};

void FindGradients(const Curvature& curvature, std::span<Channel> channels) {
  std::vector<std::vector<double>> errors;
  std::vector<const double*> factors, rows;
  std::vector<double*> gradients;
  for (Channel& channel : channels) {
    factors.push_back(errors.emplace_back(channel.Errors()).data());
    gradients.push_back(channel.gradient());
  }
  for (const int64_t place : curvature.places) rows.push_back(curvature.Row(place));
  std::vector<double> packed(static_cast<size_t>(kPackedColumns * curvature.terms));
  CurrentLoops().multiply(factors.data(), rows.data(), gradients.data(),
                          static_cast<int64_t>(channels.size()), curvature.terms, packed.data());
}

}  // namespace

Curvature CurvatureOf(const profile::TermBlock& block, std::span<const double> first,
                      std::span<const double> second, int64_t columns, bool centred) {
  Curvature curvature;
  FindCurvature(block, first, second, columns, centred, curvature);
  return curvature;
}

void FindCurvature(const profile::TermBlock& block, std::span<const double> first,
                   std::span<const double> second, int64_t columns, bool centred,
                   Curvature& curvature) {
  const auto terms = static_cast<size_t>(block.terms);
  const auto n = static_cast<double>(columns);
  // `k` >= `l`
  const auto covariance = [&](size_t k, size_t l) {
    const double about_zero = second[k * (k + 1) / 2 + l] / n;
    return centred ? about_zero - first[k] / n * (first[l] / n) : about_zero;
  };
  curvature.terms = block.terms;
  curvature.order.clear();
  curvature.places.clear();
  std::vector<double> diagonal;
  double trace = 0;
  for (size_t k = 0; k < terms; ++k) {
    // The difference of equal numbers may be a small negative one.
    diagonal.push_back(std::max(covariance(k, k), 0.0));
    trace += diagonal.back();
  }
  if (!(trace > 0) || !std::isfinite(trace)) return;
  const double damping = kDamping * (trace / static_cast<double>(terms));
  if (!(damping > 0)) return;
  for (double& each : diagonal) each += damping;
  std::vector<int64_t>& order = curvature.order;
  order.resize(terms);
  std::iota(order.begin(), order.end(), int64_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](int64_t k) { return diagonal[static_cast<size_t>(k)]; });
  curvature.places.resize(terms);
  std::vector<double>& matrix = curvature.matrix;
  const auto stride = static_cast<size_t>(curvature.stride());
  matrix.resize(terms * stride);
  for (size_t i = 0; i < terms; ++i) {
    const auto k = static_cast<size_t>(order[i]);
    curvature.places[k] = static_cast<int64_t>(i);
    for (size_t j = 0; j < i; ++j) {
      const auto l = static_cast<size_t>(order[j]);
      matrix[i * stride + j] = matrix[j * stride + i] = covariance(std::max(k, l), std::min(k, l));
    }
    matrix[i * stride + i] = diagonal[k];
  }
}

std::vector<RoundingResult> DescendTogether(const Curvature& curvature,
                                            std::span<const RoundingProblem> problems,
                                            std::span<std::vector<int32_t>> integers) {
  std::vector<RoundingResult> results(problems.size());
  if (curvature.zero()) return results;
  std::vector<Channel> channels;
  for (size_t i = 0; i < problems.size(); ++i) {
    channels.emplace_back(curvature, problems[i], integers[i]);
  }
  FindGradients(curvature, channels);
  for (size_t i = 0; i < problems.size(); ++i) {
    results[i].before = results[i].after = channels[i].Objective();
  }
  const DescentLoops& loops = CurrentLoops();
  std::vector<bool> ended(problems.size(), false);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    for (int64_t begin = 0; begin < curvature.terms; begin += kBlock) {
      for (size_t i = 0; i < channels.size(); ++i) {
        if (!ended[i]) channels[i].Visit(begin, loops);
      }
    }
    for (size_t i = 0; i < channels.size(); ++i) ended[i] = !channels[i].TakeMoved();
  }
  for (size_t i = 0; i < channels.size(); ++i) {
    const double after = channels[i].Objective();
    if (!(after < results[i].before)) continue;
    results[i].after = after;
    results[i].changed = channels[i].Store(integers[i]);
  }
  return results;
}

RoundingResult Descend(const Curvature& curvature, const RoundingProblem& problem,
                       std::span<int32_t> integers) {
  std::vector<int32_t> own(integers.begin(), integers.end());
  const RoundingResult result = DescendTogether(curvature, {&problem, 1}, {&own, 1}).front();
  std::ranges::copy(own, integers.begin());
  return result;
}

}  // namespace octavo::passes
