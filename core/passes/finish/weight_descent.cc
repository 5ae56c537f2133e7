// SPDX-License-Identifier: Apache-2.0
#include "core/passes/finish/weight_descent.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/base/cpu.h"
#include "core/passes/finish/descent_loops.h"

namespace octavo::passes {
namespace {

const DescentLoops& CurrentLoops() {
  return ForIsa(portable::kDescentLoops, avx2::kDescentLoops, avx512::kDescentLoops);
}

double Objective(std::span<const double> errors, std::span<const double> gradient) {
  double sum = 0;
  for (size_t k = 0; k < errors.size(); ++k) sum += errors[k] * gradient[k];
  return sum;
}

// The state of one channel: gradient = C * errors.
struct Channel {
  const Curvature& curvature;
  const RoundingProblem& problem;
  std::vector<double> errors = {};
  std::vector<double> gradient = {};

  // The gradient is still 0.
  Channel(const Curvature& c, const RoundingProblem& p, std::span<const int32_t> integers)
      : curvature(c), problem(p), errors(integers.size()), gradient(integers.size()) {
    for (size_t k = 0; k < integers.size(); ++k) {
      errors[k] = integers[k] * problem.scale - double{problem.weights[k]};
    }
  }
  void Move(int64_t k, double by) {
    if (by != 0) {
      CurrentLoops().add_scaled(by, curvature.Row(k), gradient.data(), curvature.terms);
    }
  }
};

void FindGradients(std::span<Channel> channels) {
  const Curvature& curvature = channels[0].curvature;
  if (channels.size() != kTogether) {
    for (Channel& channel : channels) {
      for (int64_t k = 0; k < curvature.terms; ++k) {
        channel.Move(k, channel.errors[static_cast<size_t>(k)]);
      }
    }
    return;
  }
  // Adding 0 times a row changes no bit: no sum is -0, since each begins at +0.
  double* const gradients[] = {channels[0].gradient.data(), channels[1].gradient.data(),
                               channels[2].gradient.data(), channels[3].gradient.data()};
  const DescentLoops& loops = CurrentLoops();
  for (size_t k = 0; k < static_cast<size_t>(curvature.terms); ++k) {
    const double factors[] = {channels[0].errors[k], channels[1].errors[k], channels[2].errors[k],
                              channels[3].errors[k]};
    loops.add_scaled_4(factors, curvature.Row(static_cast<int64_t>(k)), gradients, curvature.terms);
  }
}

// Returns whether an integer changed.
bool Sweep(Channel& channel, std::span<const int32_t> nearest, std::span<int32_t> integers) {
  const RoundingProblem& problem = channel.problem;
  bool any = false;
  for (const int64_t k : channel.curvature.order) {
    const double slope = channel.curvature.Row(k)[k] * problem.scale;
    const double best = integers[k] - channel.gradient[k] / slope;
    const int32_t low = std::max(problem.least, nearest[k] - kMostSteps);
    const int32_t high = std::min(problem.most, nearest[k] + kMostSteps);
    // Clamped first: the quotient may exceed any integer.
    const auto chosen = static_cast<int32_t>(
        std::nearbyint(std::clamp(best, static_cast<double>(low), static_cast<double>(high))));
    if (chosen == integers[k]) continue;
    const double by = (chosen - integers[k]) * problem.scale;
    integers[k] = chosen;
    channel.errors[k] += by;
    channel.Move(k, by);
    any = true;
  }
  return any;
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
  curvature.terms = block.terms;
  curvature.order.clear();
  std::vector<double>& matrix = curvature.matrix;
  matrix.resize(terms * terms);
  double trace = 0;
  for (size_t k = 0; k < terms; ++k) {
    const double* row = second.data() + k * (k + 1) / 2;
    const double mean = first[k] / n;
    for (size_t l = 0; l <= k; ++l) {
      const double about_zero = row[l] / n;
      const double value = centred ? about_zero - mean * (first[l] / n) : about_zero;
      matrix[k * terms + l] = matrix[l * terms + k] = value;
    }
    // The difference of equal numbers may be a small negative one.
    double& diagonal = matrix[k * terms + k];
    diagonal = std::max(diagonal, 0.0);
    trace += diagonal;
  }
  if (!(trace > 0) || !std::isfinite(trace)) return;
  const double damping = kDamping * (trace / static_cast<double>(terms));
  if (!(damping > 0)) return;
  for (size_t k = 0; k < terms; ++k) matrix[k * terms + k] += damping;
  curvature.order.resize(terms);
  std::iota(curvature.order.begin(), curvature.order.end(), int64_t{0});
  std::ranges::stable_sort(curvature.order, std::ranges::greater{},
                           [&](int64_t k) { return curvature.Row(k)[k]; });
}

namespace {

RoundingResult Sweeps(Channel& channel, std::span<int32_t> integers) {
  const std::vector<int32_t> nearest(integers.begin(), integers.end());
  RoundingResult result;
  result.before = result.after = Objective(channel.errors, channel.gradient);
  for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
    if (!Sweep(channel, nearest, integers)) break;
  }
  const double after = Objective(channel.errors, channel.gradient);
  if (!(after < result.before)) {
    std::ranges::copy(nearest, integers.begin());
    return result;
  }
  result.after = after;
  for (size_t k = 0; k < integers.size(); ++k) result.changed += integers[k] != nearest[k] ? 1 : 0;
  return result;
}

}  // namespace

RoundingResult Descend(const Curvature& curvature, const RoundingProblem& problem,
                       std::span<int32_t> integers) {
  if (curvature.zero()) return {};
  Channel channel(curvature, problem, integers);
  FindGradients({&channel, 1});
  return Sweeps(channel, integers);
}

std::vector<RoundingResult> DescendTogether(const Curvature& curvature,
                                            std::span<const RoundingProblem> problems,
                                            std::span<std::vector<int32_t>> integers) {
  std::vector<RoundingResult> results(problems.size());
  if (curvature.zero()) return results;
  for (size_t begin = 0; begin < problems.size(); begin += kTogether) {
    const size_t count = std::min(kTogether, problems.size() - begin);
    std::vector<Channel> channels;
    for (size_t i = begin; i < begin + count; ++i) {
      channels.emplace_back(curvature, problems[i], integers[i]);
    }
    FindGradients(channels);
    for (size_t i = 0; i < count; ++i) {
      results[begin + i] = Sweeps(channels[i], integers[begin + i]);
    }
  }
  return results;
}

}  // namespace octavo::passes
