// SPDX-License-Identifier: Apache-2.0
// Single-thread speed of the float kernels and of oneDNN on ResNet-50's convolutions and an
// encoder's products.  `ratio` is oneDNN's time divided by ours; each is the least time of
// alternating runs. oneDNN uses its preferred layout, and the conversions are not timed.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <random>
#include <vector>

#include "core/float_exec/kernels/conv.h"
#include "core/float_exec/kernels/matmul.h"
#include "core/runtime/int8/aligned.h"
#include "tests/bench/timing.h"
#include "tests/core/float_exec/kernels/onednn.h"

namespace octavo {
namespace {

using float_exec::ConvShape;

// Tensors are aligned to a cache line.
using Floats = std::vector<float, runtime::int8::internal::LineAllocator<float>>;

Floats Random(int64_t count) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  Floats values(static_cast<size_t>(count));
  for (float& value : values) value = draw(random);
  return values;
}

void Report(benchmark::State& state, const bench::Least& own, const bench::Least& onednn,
            double operations) {
  state.counters["GFLOPS"] = operations / own.seconds() * 1e-9;
  state.counters["onednn_GFLOPS"] = operations / onednn.seconds() * 1e-9;
  state.counters["ratio"] = onednn.seconds() / own.seconds();
}

// Arguments: input channels, output channels, size, kernel, stride, groups.
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
  const auto x = Random(s.in_channels * s.in_height * s.in_width);
  const auto w = Random(s.out_channels * taps), bias = Random(s.out_channels);
  Floats y(static_cast<size_t>(s.out_channels * ConvOutHeight(s) * ConvOutWidth(s)));
  ThreadPool pool(1);
  const auto packed = float_exec::PackConv2d(s, w.data());
  float_exec::test::OnednnConv onednn(s, x.data(), w.data(), bias.data());
  bench::Least own, peer;
  for (auto _ : state) {
    own.Time([&] { Convolve(packed, x.data(), bias.data(), y.data(), pool); });
    peer.Time([&] { onednn.Run(); });
  }
  Report(state, own, peer, 2.0 * static_cast<double>(taps) * static_cast<double>(y.size()));
}

// Arguments: input channels, output channels, size, kernel, stride.
void ConvTranspose(benchmark::State& state) {
  const int64_t kernel = state.range(3), stride = state.range(4), pad = (kernel - stride) / 2;
  const ConvShape s{.in_channels = state.range(0),
                    .out_channels = state.range(1),
                    .in_height = state.range(2),
                    .in_width = state.range(2),
                    .kernel_height = kernel,
                    .kernel_width = kernel,
                    .stride_height = stride,
                    .stride_width = stride,
                    .pad_top = pad,
                    .pad_left = pad,
                    .pad_bottom = pad,
                    .pad_right = pad};
  const int64_t taps = s.in_channels * kernel * kernel;
  const auto x = Random(s.in_channels * s.in_height * s.in_width);
  const auto w = Random(s.out_channels * taps), bias = Random(s.out_channels);
  const int64_t pixels = ConvTransposeOutHeight(s) * ConvTransposeOutWidth(s);
  Floats y(static_cast<size_t>(s.out_channels * pixels));
  ThreadPool pool(1);
  const auto packed = float_exec::PackConvTranspose2d(s, w.data());
  float_exec::test::OnednnConvTranspose onednn(s, x.data(), w.data(), bias.data());
  bench::Least own, peer;
  for (auto _ : state) {
    own.Time([&] { Convolve(packed, x.data(), bias.data(), y.data(), pool); });
    peer.Time([&] { onednn.Run(); });
  }
  Report(state, own, peer,
         2.0 * static_cast<double>(s.in_height * s.in_width) *
             static_cast<double>(taps * s.out_channels));
}

// Arguments: count, m, n, k.  Neither operand is constant.
void BatchedMatMul(benchmark::State& state) {
  const int64_t count = state.range(0), m = state.range(1), n = state.range(2), k = state.range(3);
  const auto a = Random(count * m * k), b = Random(count * k * n);
  Floats c(static_cast<size_t>(count * m * n));
  std::vector<int64_t> from_a, from_b, to;
  for (int64_t i = 0; i < count; ++i) {
    from_a.push_back(i * m * k);
    from_b.push_back(i * k * n);
    to.push_back(i * m * n);
  }
  ThreadPool pool(1);
  bench::Least own, peer;
  for (auto _ : state) {
    own.Time([&] {
      float_exec::MatMulBatched({a.data(), m, k, k, 1}, {b.data(), k, n, n, 1}, c.data(), n,
                                {.count = count,
                                 .a_offsets = from_a.data(),
                                 .b_offsets = from_b.data(),
                                 .c_offsets = to.data()},
                                pool);
    });
    peer.Time([&] {
      for (int64_t i = 0; i < count; ++i) {
        float_exec::test::OnednnMatMul(m, n, k, a.data() + from_a[i], b.data() + from_b[i],
                                       c.data() + to[i]);
      }
    });
  }
  Report(state, own, peer, 2.0 * static_cast<double>(count * m * n) * static_cast<double>(k));
}

// Arguments: m, n, k.
void MatMul(benchmark::State& state) {
  const int64_t m = state.range(0), n = state.range(1), k = state.range(2);
  const auto a = Random(m * k), b = Random(k * n);
  Floats c(static_cast<size_t>(m * n));
  ThreadPool pool(1);
  const float_exec::PackedMatrix packed({b.data(), k, n, n, 1});
  bench::Least own, peer;
  for (auto _ : state) {
    own.Time([&] { MatMul({a.data(), m, k, k, 1}, packed, c.data(), n, pool); });
    peer.Time([&] { float_exec::test::OnednnMatMul(m, n, k, a.data(), b.data(), c.data()); });
  }
  Report(state, own, peer, 2.0 * static_cast<double>(m * n) * static_cast<double>(k));
}

BENCHMARK(Conv)
    ->Args({3, 64, 224, 7, 2, 1})
    ->Args({64, 64, 56, 1, 1, 1})
    ->Args({64, 64, 56, 3, 1, 1})
    ->Args({256, 128, 56, 1, 2, 1})
    ->Args({128, 128, 28, 3, 1, 1})
    ->Args({256, 1024, 14, 1, 1, 1})
    ->Args({256, 256, 14, 3, 1, 1})
    ->Args({512, 512, 7, 3, 1, 1})
    ->Args({2048, 512, 7, 1, 1, 1})
    ->Args({144, 144, 56, 3, 1, 144})
    ->Args({144, 144, 56, 3, 2, 144})
    ->Args({32, 32, 112, 3, 1, 32})
    ->Args({96, 96, 112, 3, 2, 96})
    ->Args({576, 576, 14, 3, 1, 576})
    ->Args({576, 576, 14, 3, 2, 576})
    ->Args({240, 240, 28, 5, 1, 240})
    ->Args({240, 240, 28, 5, 2, 240})
    ->Args({3, 32, 224, 3, 2, 1})
    ->Args({64, 64, 28, 5, 1, 1})
    ->Args({128, 128, 56, 3, 2, 1})
    ->Args({128, 128, 28, 3, 1, 4})
    ->Args({128, 128, 28, 3, 1, 32})
    ->Iterations(30);
BENCHMARK(MatMul)
    ->Args({128, 384, 384})
    ->Args({128, 1536, 384})
    ->Args({1, 1000, 2048})
    ->Iterations(60);
BENCHMARK(ConvTranspose)
    ->Args({64, 32, 28, 4, 2})
    ->Args({64, 64, 28, 2, 2})
    ->Args({128, 64, 14, 3, 1})
    ->Iterations(30);
BENCHMARK(BatchedMatMul)
    ->Args({12, 128, 128, 32})
    ->Args({12, 128, 32, 128})
    ->Args({12, 128, 128, 64})
    ->Iterations(60);

}  // namespace
}  // namespace octavo

int main(int argc, char** argv) {
  omp_set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
