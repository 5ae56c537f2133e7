// SPDX-License-Identifier: Apache-2.0
// MelWeightMatrix(bins, dft_length, sample_rate, lower_hertz, upper_hertz) {output_datatype}: the
// matrix that maps a spectrum to mel bins; each bin is a triangle over frequencies.
#include <cmath>

#include "core/base/math.h"
#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"output_datatype", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  OCTAVO_TRY(const std::vector<int64_t> bins, context.KnownInts(0, "num_mel_bins"));
  OCTAVO_TRY(const std::vector<int64_t> length, context.KnownInts(1, "dft_length"));
  const auto dtype = DTypeOfNumber(context.node().attributes.Int("output_datatype", 1));
  if (!dtype) return context.Unsupported("its output_datatype is not supported");
  if (bins.size() != 1 || bins[0] < 0 || length.size() != 1 || length[0] < 1) {
    return context.Invalid("num_mel_bins and dft_length must be positive numbers");
  }
  context.SetResult(0, *dtype, {length[0] / 2 + 1, bins[0]});
  return {};
}

constexpr double kLn10 = 2.302585092994046;

double MelOf(double hertz) { return 2595 * math::Log(1 + hertz / 700) / kLn10; }

// The bins + 2 spectrum indices at which the triangles begin, peak and end.
std::vector<int64_t> Edges(const ir::EvalContext& context, int64_t bins) {
  const double low = MelOf(context.in(3).FloatAt(0)), high = MelOf(context.in(4).FloatAt(0));
  const double step = (high - low) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double mel = low + static_cast<double>(i) * step;
    const double hertz = 700 * (math::Exp(mel / 2595 * kLn10) - 1);
    const double place = (context.in(1).FloatAt(0) + 1) * hertz / context.in(2).FloatAt(0);
    edges.push_back(FromReal<int64_t>(std::floor(place)));
  }
  return edges;
}

Status Definition(const ir::EvalContext& context) {
  ir::Tensor& result = context.out();
  const int64_t rows = result.shape()[0], bins = result.shape()[1];
  const std::vector<int64_t> edges = Edges(context, bins);
  std::vector<double> values(rows * bins, 0);
  for (int64_t bin = 0; bin < bins; ++bin) {
    const int64_t begin = edges[bin], peak = edges[bin + 1], end = edges[bin + 2];
    const auto set = [&](int64_t row, double value) {
      if (row >= 0 && row < rows) values[row * bins + bin] = value;
    };
    if (begin == peak) set(peak, 1);
    for (int64_t row = begin; begin < peak && row <= peak; ++row) {
      set(row, static_cast<double>(row - begin) / static_cast<double>(peak - begin));
    }
    for (int64_t row = peak; row < end; ++row) {
      set(row, static_cast<double>(end - row) / static_cast<double>(end - peak));
    }
  }
  VisitDType(result.dtype(), [&]<class T>(T) {
    std::ranges::transform(values, result.mutable_values<T>().begin(), &FromReal<T>);
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kMelWeightMatrix{
    .name = "MelWeightMatrix",
    .since = ir::Since(17),
    .inputs = {5, 5},
    .attributes = kAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = {.why = "it has no real-valued input"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
