// SPDX-License-Identifier: Apache-2.0
// Single-thread speed of the int8 kernels in GOPS (a multiply-add counts as two operations) and in
// percent of the peak.  Peak and kernels are measured alternately, because the clock may change.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/runtime/int8/conv.h"
#include "core/runtime/int8/gemm.h"
#include "tests/bench/peak.h"
#include "tests/bench/timing.h"

namespace octavo::runtime::int8 {
namespace {

std::vector<uint8_t> Random(int64_t count) {
  std::mt19937 random(1);
  std::vector<uint8_t> bytes(static_cast<size_t>(count));
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

constexpr float kMultiplier[] = {1e-3f};

// Times `call` alternately with the peak and records its speed for `operations`: GOPS at the least
// time, and the median over all turns of the percentage of the peak in the same turn.
template <class F>
void Measure(benchmark::State& state, double operations, F&& call) {
  bench::Least least;
  std::vector<double> percents;
  for (auto _ : state) {
    bench::Least own, peak;
    own.Time(call);
    least.Take(own.seconds());
    if (!bench::HasPeak()) continue;
    double peak_operations = 0;
    peak.Time([&] { peak_operations = bench::RunPeak(); });
    percents.push_back(100 * operations / own.seconds() * peak.seconds() / peak_operations);
  }
  state.counters["GOPS"] = 1e-9 * operations / least.seconds();
  if (percents.empty()) return;
  std::ranges::nth_element(percents, percents.begin() + percents.size() / 2);
  state.counters["percent"] = percents[percents.size() / 2];
}

// Arguments: input channels, output channels, size, kernel, stride, groups, 1 for s8 activations.
void Conv(benchmark::State& state) {
  const int64_t kernel = state.range(3), pad = kernel / 2;
  const ConvShape s{.in_channels = state.range(0),
                    .out_channels = state.range(1),
                    .groups = state.range(5),
                    .in_height = state.range(2),
                    .in_width = state.range(2),
                    .kernel_height = kernel,
                    .kernel_width = kernel,
                    .stride_height = state.range(4),
                    .stride_width = state.range(4),
                    .pad_top = pad,
                    .pad_left = pad,
                    .pad_bottom = pad,
                    .pad_right = pad};
  const int64_t taps = s.in_channels / s.groups * kernel * kernel;
  const auto x = Random(s.in_channels * s.in_height * s.in_width),
             w = Random(s.out_channels * taps);
  const auto plan =
      ConvPlan::Prepare({.shape = s,
                         .input = {state.range(6) == 1 ? Storage::kS8 : Storage::kU8, 3},
                         .weights = {w.data()},
                         .requantization = {Output::kU8, kMultiplier, 128}});
  std::vector<uint8_t> y(
      static_cast<size_t>(s.out_channels * plan->out_height() * plan->out_width()));
  ThreadPool pool(1);
  Measure(state, 2 * static_cast<double>(taps) * static_cast<double>(y.size()),
          [&] { plan->Run(x.data(), y.data(), pool); });
}

// Arguments: m, n, k.
void Gemm(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const auto a = Random(m * k), b = Random(k * n);
  const auto plan = GemmPlan::Prepare(
      {.n = n, .k = k, .weights = {b.data()}, .requantization = {Output::kU8, kMultiplier, 128}});
  std::vector<uint8_t> c(static_cast<size_t>(m * n));
  ThreadPool pool(1);
  Measure(state, 2 * static_cast<double>(m * n) * static_cast<double>(k),
          [&] { plan->Run(a.data(), m, c.data(), pool); });
}

// Arguments: m, n, k, 1 for B as [n][k].
void MatMul(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const auto a = Random(m * k), b = Random(k * n);
  const auto plan = MatMulPlan::Prepare({.m = m,
                                         .n = n,
                                         .k = k,
                                         .b = {Storage::kU8, 128},
                                         .layout = state.range(3) == 1 ? Layout::kNk : Layout::kKn,
                                         .requantization = {Output::kU8, kMultiplier, 128}});
  std::vector<uint8_t> c(static_cast<size_t>(m * n));
  const int64_t zero[] = {0};
  ThreadPool pool(1);
  Measure(state, 2 * static_cast<double>(m * n) * static_cast<double>(k), [&] {
    plan->Run(a.data(), b.data(), c.data(), {1, zero, zero}, pool);
  });
}

BENCHMARK(Conv)
    ->Args({3, 64, 224, 7, 2, 1, 0})
    ->Args({64, 64, 56, 1, 1, 1, 0})
    ->Args({64, 256, 56, 1, 1, 1, 0})
    ->Args({64, 64, 56, 3, 1, 1, 0})
    ->Args({64, 64, 56, 3, 1, 1, 1})
    ->Args({256, 256, 14, 3, 1, 1, 0})
    ->Args({256, 256, 14, 3, 1, 1, 1})
    ->Args({1024, 256, 14, 1, 1, 1, 0})
    ->Args({512, 512, 7, 3, 1, 1, 0})
    ->Args({24, 144, 56, 1, 1, 1, 0})
    ->Args({144, 144, 56, 3, 1, 144, 0})
    ->Args({144, 144, 56, 3, 2, 144, 0})
    ->Iterations(60);
BENCHMARK(Gemm)
    ->Args({128, 384, 384})
    ->Args({128, 1536, 384})
    ->Args({1, 1000, 2048})
    ->Iterations(60);
BENCHMARK(MatMul)->Args({128, 128, 32, 1})->Args({128, 32, 128, 0})->Iterations(100);

}  // namespace
}  // namespace octavo::runtime::int8

BENCHMARK_MAIN();
