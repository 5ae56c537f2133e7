// Sigmoid, Tanh and Softmax of 8-bit codes in tflite and tflite-single: TFLite's integer reference
// operators.  Each fixes the parameters of its result.
#include <algorithm>
#include <bit>
#include <cmath>

#include "core/ops/data_op.h"
#include "core/ops/fixed_curve.h"
#include "core/ops/fixed_point.h"
#include "core/runtime/code_table.h"
#include "core/runtime/product.h"
#include "core/runtime/row_codes.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;

struct Curve {
  std::string_view op;
  int fraction_bits;  // the result's scale is 2^-fraction_bits
  bool centered;      // its zero point is the middle code, else the least
  int32_t (*value)(int32_t x, int integer_bits);  // null: of rows
};
constexpr Curve kFixedCurves[] = {{"Sigmoid", 8, false, &ops::FixedLogistic},
                                  {"Tanh", 7, true, &ops::FixedTanh},
                                  {"Softmax", 8, false, nullptr}};
constexpr std::string_view kCurveOps[] = {"Sigmoid", "Tanh"};
constexpr std::string_view kSoftmaxOps[] = {"Softmax"};
constexpr ir::NumericsSet kTfliteModes = Only(Numerics::kTflite) | Only(Numerics::kTfliteSingle);

int32_t ZeroOf(const Curve& curve, ir::DType dtype) {
  const auto least = static_cast<int32_t>(ir::CodesOf(dtype).min);
  return curve.centered ? least + 128 : least;
}

bool Match(const NodeView& view) {
  const Curve& curve = *std::ranges::find(kFixedCurves, view.node.op->name, &Curve::op);
  if (!IsPlain8(view.in(0)) || !IsPlain8(view.out())) return false;
  return view.out().quant->scale() == std::ldexp(1.0f, -curve.fraction_bits) &&
         view.out().quant->zero_point() == ZeroOf(curve, view.out().dtype);
}

// Differences of codes as fixed-point numbers of `integer_bits`: those beyond the radius are
// not representable.
struct FixedInput {
  int integer_bits = 4;
  ops::FixedPoint multiplier = {};
  int64_t radius = 0;
  int32_t (*multiply)(int64_t x, ops::FixedPoint m) = nullptr;

  FixedInput(Numerics mode, double scale, int bits)
      : integer_bits(bits),
        multiply(mode == Numerics::kTflite ? &ops::MultiplyDoubleRounding
                                           : &ops::MultiplySingleRounding) {
    const double most = mode == Numerics::kTflite ? 0x1p31 - 1 : 0x1p30 - 1;
    const double real = std::ldexp(scale, 31 - bits);
    multiplier = ops::ToFixedPoint(std::min(real, most));
    const double reach = std::ldexp((1 << bits) - 1, 31 - bits - multiplier.shift);
    radius = static_cast<int64_t>(std::floor(std::min(reach, 0x1p31)));
  }
  int32_t Of(int32_t difference) const { return multiply(difference, multiplier); }
};

Result<Prepared> PrepareCurve(const NodeView& view, ThreadPool&) {
  const Curve& curve = *std::ranges::find(kFixedCurves, view.node.op->name, &Curve::op);
  const FixedInput fixed(view.numerics, view.in(0).quant->scale(), 4);
  const ir::CodeRange codes = ir::CodesOf(view.out().dtype);
  const int32_t zero = ZeroOf(curve, view.out().dtype);
  return LookUp(view, OfAllCodes(view.in(0), [&](int32_t code) {
                  const int32_t x = code - view.in(0).quant->zero_point();
                  if (x <= -fixed.radius) return static_cast<int32_t>(codes.min);
                  if (x >= fixed.radius) return static_cast<int32_t>(codes.max);
                  const int32_t y = curve.value(fixed.Of(x), fixed.integer_bits);
                  const int32_t steps = ops::RoundingShiftRight(y, 31 - curve.fraction_bits);
                  return ops::ClampCode(int64_t{steps} + zero, codes);
                }));
}

// 256 exponentials by how far a code lies below the greatest of its row; 0 beyond the radius.
struct SoftmaxRow {
  std::array<int32_t, 256> exponentials = {};
  int64_t count = 1, stride = 1;
  ir::CodeRange codes = {};

  void Run(const ir::Tensor& x, int64_t begin, ir::Tensor& y) const {
    constexpr int kSumBits = 12;  // integer bits of the sum
    int64_t greatest = x.IntAt(begin);
    for (int64_t i = 1; i < count; ++i) greatest = std::max(greatest, x.IntAt(begin + i * stride));
    int64_t sum = 0;
    for (int64_t i = 0; i < count; ++i) {
      sum +=
          ops::RoundingShiftRight(exponentials[greatest - x.IntAt(begin + i * stride)], kSumBits);
    }
    const auto bits = static_cast<uint32_t>(sum);
    const int headroom = std::countl_zero(bits);
    const int over_unit = kSumBits - headroom;
    const int32_t scale =
        ops::FixedReciprocalOfOnePlus(static_cast<int32_t>((bits << headroom) - (1u << 31)));
    for (int64_t i = 0; i < count; ++i) {
      const int32_t e = exponentials[greatest - x.IntAt(begin + i * stride)];
      const int32_t steps =
          ops::RoundingShiftRight(ops::DoublingHighMultiply(scale, e), over_unit + 31 - 8);
      StoreCode(y, begin + i * stride, ops::ClampCode(steps + codes.min, codes));
    }
  }
};

int64_t AxisOf(const NodeView& view) {
  const int64_t axis = view.node.attributes.Int("axis", -1);
  return axis < 0 ? axis + static_cast<int64_t>(view.out().shape.size()) : axis;
}

// A sum of more ones than 12 integer bits hold is not defined; nor is a scale whose multiplier is
// not above one.
bool MatchSoftmax(const NodeView& view) {
  return Match(view) && view.out().shape.size() > 0 && view.out().elements() > 0 &&
         view.out().shape[AxisOf(view)] < (1 << 12) &&
         std::ldexp(double{view.in(0).quant->scale()}, 26) > 1;
}

Result<Prepared> PrepareSoftmax(const NodeView& view, ThreadPool&) {
  const FixedInput fixed(view.numerics, view.in(0).quant->scale(), 5);
  SoftmaxRow row{.count = view.out().shape[AxisOf(view)],
                 .stride = ir::StridesOf(view.out().shape)[AxisOf(view)],
                 .codes = ir::CodesOf(view.out().dtype)};
  for (int below = 0; below < 256; ++below) {
    if (below > fixed.radius) continue;
    row.exponentials[below] = ops::FixedExp(fixed.Of(-below), fixed.integer_bits);
  }
  return Prepared{.run = [row](const StepContext& context) -> Status {
    const int64_t rows = context.out().size() / row.count;
    context.pool->For(
        rows, std::max<int64_t>(1, kRowGrain / row.count / 8), [&](int64_t begin, int64_t end) {
          for (int64_t r = begin; r < end; ++r) {
            const int64_t outer = r / row.stride, inner = r % row.stride;
            row.Run(context.in(0), outer * row.count * row.stride + inner, context.out());
          }
        });
    return {};
  }};
}

}  // namespace

extern constexpr Kernel kModeCurve{.name = "mode-curve",
                                   .ops = kCurveOps,
                                   .layout = LayoutRule::kEither,
                                   .numerics = kTfliteModes,
                                   .match = &Match,
                                   .prepare = &PrepareCurve};

extern constexpr Kernel kModeSoftmax{.name = "mode-softmax",
                                     .ops = kSoftmaxOps,
                                     .numerics = kTfliteModes,
                                     .match = &MatchSoftmax,
                                     .prepare = &PrepareSoftmax};

}  // namespace octavo::runtime
