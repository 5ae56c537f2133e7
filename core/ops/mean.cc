// Mean(a, b, ..): the mean, element by element over the broadcast of all.
#include "core/ops/variadic.h"

namespace octavo::ops {
namespace {

Status Reference(const ir::EvalContext& context) {
  OCTAVO_CHECK(Variadic(context, []<class T>(T a, T b) { return Modular<T>(a) + Modular<T>(b); }));
  const auto count = static_cast<float>(context.inputs.size());
  VisitDType(context.out().dtype(), [&]<class T>(T) {
    for (T& value : context.out().mutable_values<T>()) value = static_cast<T>(value / count);
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kMean{
    .name = "Mean",
    .inputs = {1, ir::kManyInputs},
    .quant = kFreeResult,
    .rescale = kScalesItself,
    .infer = &InferNumericBinary,
    .reference = &Reference,
    .commutative = true,
};

}  // namespace octavo::ops
