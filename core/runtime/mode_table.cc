// Tables of functions in the modes that tabulate them: Glow's, whose operands are summed up step by
// step, and pow2's, which are those of mode `onnx`.
#include "core/ops/fixed_point.h"
#include "core/ops/mode_quantize.h"
#include "core/ops/quantize_math.h"
#include "core/runtime/code_table.h"
#include "core/runtime/table_kernel.h"

namespace octavo::runtime {
namespace {

using ir::Numerics;

bool Match(const NodeView& view) {
  if (!IsTabled(view)) return false;
  return view.numerics != Numerics::kPow2 || (ops::IsPowerOfTwo(view.in(0).quant->scale()) &&
                                              ops::IsPowerOfTwo(view.out().quant->scale()));
}

// Glow starts at the least real and adds the step in float32.
ir::Tensor GlowReals(const ir::Type& type) {
  const ir::Quant& quant = *type.quant;
  ir::Tensor reals(ir::DType::kF32, {256});
  float real = ops::DequantizeOne(static_cast<int32_t>(ir::CodesOf(type.dtype).min), quant.scale(),
                                  quant.zero_point());
  for (float& each : reals.mutable_values<float>()) {
    each = real;
    real += quant.scale();
  }
  return reals;
}

ir::Tensor ExactReals(const ir::Type& type) {
  const ir::Quant& quant = *type.quant;
  ir::Tensor reals(ir::DType::kF32, {256});
  auto code = static_cast<int32_t>(ir::CodesOf(type.dtype).min);
  for (float& each : reals.mutable_values<float>()) {
    each = ops::DequantizeOne(code++, quant.scale(), quant.zero_point());
  }
  return reals;
}

Result<Prepared> Prepare(const NodeView& view, ThreadPool& pool) {
  const bool pow2 = view.numerics == Numerics::kPow2;
  OCTAVO_TRY(const ir::Tensor values,
             ValuesAt(view, pow2 ? ExactReals(view.in(0)) : GlowReals(view.in(0)), pool));
  ir::Type to = view.out();
  to.shape = {256};
  const ir::Tensor codes =
      ops::QuantizeTensorIn(pow2 ? Numerics::kOnnx : view.numerics, values, to);
  std::vector<int32_t> results;
  for (const int64_t code : codes.ToInts()) results.push_back(static_cast<int32_t>(code));
  return LookUp(view, results);
}

}  // namespace

extern constexpr Kernel kModeTable{.name = "mode-table",
                                   .ops = kCurves,
                                   .layout = LayoutRule::kEither,
                                   .numerics = ir::Only(Numerics::kGlowInterpreter) |
                                               ir::Only(Numerics::kGlowCpu) |
                                               ir::Only(Numerics::kPow2),
                                   .images = 1,
                                   .match = &Match,
                                   .prepare = &Prepare};

}  // namespace octavo::runtime
