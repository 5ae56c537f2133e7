// AveragePool and GlobalAveragePool in the modes beside `onnx`.
#include <functional>
#include <optional>

#include "core/ops/fixed_point.h"
#include "core/runtime/mode_rescale.h"
#include "core/runtime/pool_mean.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;
using PoolFormula = std::function<int32_t(const PoolSum& window)>;

constexpr std::string_view kOps[] = {"AveragePool", "GlobalAveragePool"};

// What the windows of a node have in common.
struct Windows {
  bool one_count = true;        // each divides by `count`
  bool padding_counts = false;  // some window divides by more taps than lie in the operand
  bool empty = false;           // some window lies in padding alone
  int64_t count = 0;
};

Windows WindowsOf(const NodeView& view) {
  const PoolMean mean = PoolMean::Of(view);
  Windows windows;
  for (int64_t row = 0; row < mean.height.out; ++row) {
    for (int64_t column = 0; column < mean.width.out; ++column) {
      PoolSum sum;
      mean.Count(row, column, sum);
      if (windows.count == 0) windows.count = sum.count;
      windows.one_count &= windows.count == sum.count;
      windows.padding_counts |= sum.count > sum.inside;
      windows.empty |= sum.inside == 0;
    }
  }
  return windows;
}

int32_t Coded(int64_t value, const ir::Type& y) {
  return ops::ClampCode(value + y.quant->zero_point(), ir::CodesOf(y.dtype));
}

// TFLite: one type; the sum of stored codes over the taps that lie in the operand, divided with
// halves away from zero.
PoolFormula Tflite(const NodeView& view, const Windows& windows) {
  if (!SameCodes(view.in(0), view.out()) || windows.padding_counts || windows.empty) return {};
  const int32_t zero = view.in(0).quant->zero_point();
  return [zero, codes = ir::CodesOf(view.out().dtype)](const PoolSum& window) {
    const int64_t sum = window.sum + window.inside * zero, half = window.count / 2;
    return ops::ClampCode((sum > 0 ? sum + half : sum - half) / window.count, codes);
  };
}

// Glow's Interpreter: clip(round(float(sum) * (s_x / s_y / area) + z)).
PoolFormula GlowInterpreter(const NodeView& view, const Windows&) {
  return [ratio = view.in(0).quant->scale() / view.out().quant->scale(),
          offset = static_cast<float>(view.out().quant->zero_point()),
          codes = ir::CodesOf(view.out().dtype)](const PoolSum& window) {
    const float multiplier = ratio / static_cast<float>(window.count);
    return ops::ClampCode(ops::RoundHalfAway(static_cast<float>(window.sum) * multiplier + offset),
                          codes);
  };
}

// Glow's CPU backend folds the area into the scale, so there must be one area.
PoolFormula GlowCpu(const NodeView& view, const Windows& windows) {
  if (!windows.one_count) return {};
  const float ratio = view.in(0).quant->scale() / view.out().quant->scale();
  return [transform = ops::ToGlowTransform(ratio / static_cast<float>(windows.count)),
          y = view.out()](const PoolSum& window) {
    return Coded(ops::Transform(window.sum, transform), y);
  };
}

// Powers of two: the sum times round(2^16 / count), and one rounding shift.
PoolFormula Pow2(const NodeView& view, const Windows&) {
  const float from = view.in(0).quant->scale(), to = view.out().quant->scale();
  if (!ops::IsPowerOfTwo(from) || !ops::IsPowerOfTwo(to)) return {};
  const int shift = ops::ExponentOf(from) - ops::ExponentOf(to) - 16;
  return [shift, y = view.out()](const PoolSum& window) {
    const int64_t inverse = ((int64_t{1} << 17) / window.count + 1) / 2;
    return Coded(ops::ShiftRounding(window.sum * inverse, shift), y);
  };
}

struct Row {
  Numerics mode;
  PoolFormula (*make)(const NodeView& view, const Windows& windows);
};
constexpr Row kRows[] = {
    {Numerics::kTflite, &Tflite},   {Numerics::kTfliteSingle, &Tflite},
    {Numerics::kGlowCpu, &GlowCpu}, {Numerics::kGlowInterpreter, &GlowInterpreter},
    {Numerics::kPow2, &Pow2},
};

PoolFormula FormulaOf(const NodeView& view) {
  for (const Row& row : kRows) {
    if (row.mode == view.numerics) return row.make(view, WindowsOf(view));
  }
  return {};
}

bool Match(const NodeView& view) {
  const size_t rank = view.in(0).shape.size();
  return (rank == 3 || rank == 4) && DefinesStorage(view.numerics, view.in(0)) &&
         DefinesStorage(view.numerics, view.out()) && view.in(0).quant->per_tensor() &&
         view.out().quant->per_tensor() && view.in(0).elements() > 0 && FormulaOf(view) != nullptr;
}

Result<Prepared> Prepare(const NodeView& view, ThreadPool&) {
  return RunPoolMean(view, FormulaOf(view));
}

}  // namespace

extern constexpr Kernel kModeAveragePool{.name = "mode-average-pool",
                                         .ops = kOps,
                                         .numerics = ir::kNumericsBesideOnnx,
                                         .match = &Match,
                                         .prepare = &Prepare};

}  // namespace octavo::runtime
