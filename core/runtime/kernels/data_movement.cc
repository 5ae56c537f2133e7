// SPDX-License-Identifier: Apache-2.0
// Ops that move elements, on stored integers: their definition depends only on the element size.
// Pad fills with its quantized constant, and Concat supports either layout.
#include "core/ops/quantize_math.h"
#include "core/ops/shared/strided_copy.h"
#include "core/runtime/kernel.h"

#include "core/runtime/kernels/shared/data_movement.h"

namespace octavo::runtime {

using ir::Role;
using ir::Tensor;

bool KeepsQuantization(const NodeView& view) {
  const ir::OpDef& op = *view.node.op;
  if (op.QuantOf(view.graph, view.node).kind != ir::QuantRule::Kind::kSameScale) return false;
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    if (!view.Has(i) || op.RoleOf(i) != Role::kData) continue;
    const ir::Type& from = view.in(i);
    const ir::Type& to = view.out();
    // For per-channel parameters, the op's axis rule has checked that channels stay together.
    const bool same = from.quantized() && from.quant->axis
                          ? from.dtype == to.dtype && to.quantized()
                          : SameQuantizedType(from, to);
    if (!from.quantized() || !same) return false;
  }
  return true;
}

ir::Tensor QuantizedPadValue(const NodeView& view) {
  const ir::Type& type = view.out();
  float value = 0;
  if (const Tensor* constant = view.constant(2)) value = static_cast<float>(constant->FloatAt(0));
  return ops::QuantizeTensor(Tensor::Scalar<float>(value), {type.dtype, {}, type.quant, {}});
}

namespace {

constexpr std::string_view kConcatOps[] = {"Concat"};
constexpr std::string_view kPadOps[] = {"Pad"};

bool MatchMove(const NodeView& view) {
  return view.node.op->moves_data >= ir::Movement::kCopy && KeepsQuantization(view);
}

Status Move(const ir::Node& node, std::span<const Tensor* const> inputs,
            const StepContext& context) {
  return node.op->definition(
      {.node = node, .inputs = inputs, .results = context.results, .pool = context.pool});
}

Result<Prepared> PrepareMove(const NodeView& view, ThreadPool&) {
  return Prepared{.run = [node = &view.node](const StepContext& context) {
    return Move(*node, context.inputs, context);
  }};
}

// Mode `onnx` rounds the pad value; zero is exact in every mode.
bool MatchPad(const NodeView& view) {
  const Tensor* value = view.constant(2);
  const bool exact = !view.Has(2) || (value != nullptr && value->FloatAt(0) == 0);
  return (exact || view.numerics->qlinear) && KeepsQuantization(view) &&
         view.in(0).quant->per_tensor() && (!view.Has(2) || view.constant(2) != nullptr);
}

Result<Prepared> PreparePad(const NodeView& view, ThreadPool&) {
  return Prepared{
      .run = [node = &view.node, fill = QuantizedPadValue(view)](const StepContext& context) {
        std::vector<const Tensor*> inputs(context.inputs.begin(), context.inputs.end());
        inputs.resize(std::max<size_t>(inputs.size(), 3));
        inputs[2] = &fill;
        return Move(*node, inputs, context);
      }};
}

bool MatchConcat(const NodeView& view) { return KeepsQuantization(view); }

Result<Prepared> PrepareConcat(const NodeView& view, ThreadPool&) {
  const ir::Shape& shape = view.out().shape;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = view.node.attributes.Int("axis", 0);
  if (axis < 0) axis += rank;
  const Layout layout = view.layout;
  const int stored_axis = StoredAxis(layout, shape, static_cast<int>(axis));
  return Prepared{.run = [=](const StepContext& context) -> Status {
    Tensor& result = context.out();
    const ir::Shape to_strides = ir::StridesOf(StoredShape(layout, result.shape()));
    const int element = ir::SizeOf(result.dtype());
    std::byte* to = result.mutable_raw();
    for (const Tensor* input : context.inputs) {
      const ir::Shape extents = StoredShape(layout, input->shape());
      ops::Copy({extents, ir::StridesOf(extents), to_strides}, element, input->raw(), to,
                context.pool);
      to += extents[stored_axis] * to_strides[stored_axis] * element;
    }
    return {};
  }};
}

}  // namespace

extern constexpr Kernel kMove{
    .name = "move-data", .modes = Modes::kAll, .match = &MatchMove, .prepare = &PrepareMove};

extern constexpr Kernel kMovePad{.name = "pad",
                                 .ops = kPadOps,
                                 .modes = Modes::kAll,
                                 .match = &MatchPad,
                                 .prepare = &PreparePad};

extern constexpr Kernel kMoveConcat{.name = "concat",
                                    .ops = kConcatOps,
                                    .layout = LayoutRule::kEither,
                                    .modes = Modes::kAll,
                                    .match = &MatchConcat,
                                    .prepare = &PrepareConcat};

}  // namespace octavo::runtime
