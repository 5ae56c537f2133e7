// SPDX-License-Identifier: Apache-2.0
// LpNormalization with p = 2 between 8-bit types by the float definition: squares are summed in
// double in the definition's order and rounded once.  For a long row, each of the 256 values is
// divided once.
#include <algorithm>
#include <memory>

#include "core/ops/shared/data_op.h"
#include "core/ops/shared/lp_norm.h"
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kOps[] = {"LpNormalization"};
// Adjacent strided rows that are transposed to dense rows, and back.
constexpr int64_t kTransposed = 64;

struct NormState {
  int64_t count = 1, stride = 1;  // of a row
  RealTable real = {};
  simd::Quant from = {}, to = {};
  ops::Divisor divisor = {};
  const simd::Kernels* loops = nullptr;

  // Computes one dense row; `kept` receives the floats of a short row.
  void RunRow(const uint8_t* x, double* kept, uint8_t* y) const {
    double by = divisor.Of(loops->sum_of_squares(x, count, from), /*squares=*/true);
    if (by == 0) by = 1;
    if (count > kShortRow) {
      uint8_t table[256];
      loops->quantize_quotients(real.data(), 256, by, to, table);
      loops->look_up(x, count, table, y);
      return;
    }
    for (int64_t i = 0; i < count; ++i) kept[i] = real[x[i]];
    loops->quantize_quotients(kept, count, by, to, y);
  }

  // Computes rows [begin, end) of strided elements, in blocks of adjacent rows.
  void RunStrided(const uint8_t* x, int64_t begin, int64_t end, double* kept, uint8_t* y) const {
    std::vector<uint8_t> transposed(2 * kTransposed * count);
    uint8_t* const dense = transposed.data();
    uint8_t* const results = dense + kTransposed * count;
    while (begin < end) {
      const int64_t inner = begin % stride;
      const int64_t block = std::min({kTransposed, end - begin, stride - inner});
      const int64_t first = begin / stride * stride * count + inner;
      for (int64_t i = 0; i < count; ++i) {
        const uint8_t* line = x + first + i * stride;
        for (int64_t r = 0; r < block; ++r) dense[r * count + i] = line[r];
      }
      for (int64_t r = 0; r < block; ++r) RunRow(dense + r * count, kept, results + r * count);
      for (int64_t i = 0; i < count; ++i) {
        uint8_t* line = y + first + i * stride;
        for (int64_t r = 0; r < block; ++r) line[r] = results[r * count + i];
      }
      begin += block;
    }
  }

  Status Run(const StepContext& context) const {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    const int64_t grain = std::max<int64_t>(1, kRowGrain / 4 / count);
    context.pool->For(context.in(0).size() / count, grain, [&](int64_t begin, int64_t end) {
      double kept[kShortRow];
      if (stride > 1) return RunStrided(x, begin, end, kept, y);
      for (int64_t r = begin; r < end; ++r) RunRow(x + r * count, kept, y + r * count);
    });
    return {};
  }
};

bool Match(const NodeView& view) {
  return IsPlain8(view.in(0)) && IsPlain8(view.out()) && view.in(0).elements() > 0 &&
         !view.in(0).shape.empty() && view.node.attributes.Int("p", 2) == 2;
}

Result<Prepared> Prepare(const NodeView& view, ThreadPool&) {
  const ir::Shape& shape = view.in(0).shape;
  const int axis =
      ops::FrontAxis(view.node.attributes.Int("axis", -1), static_cast<int>(shape.size()));
  const auto state = std::make_shared<NormState>();
  state->count = shape[axis];
  state->stride = ir::StridesOf(shape)[axis];
  state->real = RealTableOf(view.in(0));
  state->from = SimdQuant(view.in(0));
  state->to = SimdQuant(view.out());
  state->divisor = *ops::DivisorOf(view.node.attributes);
  state->loops = &simd::CurrentKernels();
  return Prepared{.run = [state = std::shared_ptr<const NormState>(state)](
                             const StepContext& context) { return state->Run(context); }};
}

}  // namespace

extern constexpr Kernel kSimdLpNormalization{.name = "simd-lp-normalization",
                                             .ops = kOps,
                                             .match = &Match,
                                             .prepare = &Prepare,
                                             .isa = &CurrentIsaName};

}  // namespace octavo::runtime
