// Ops that move elements, on stored codes: the op's own definition looks at the size of an element
// alone.  Pad fills with the code of its constant, and Concat runs in either layout.
#include "core/ops/quantize_math.h"
#include "core/ops/strided_copy.h"
#include "core/runtime/kernel.h"

#include "core/runtime/move_codes.h"

namespace octavo::runtime {

using ir::Role;
using ir::Tensor;

bool MovesCodes(const NodeView& view) {
  const ir::OpDef& op = *view.node.op;
  if (op.QuantOf(view.graph, view.node).kind != ir::QuantRule::Kind::kSameAsInput) return false;
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    if (!view.Has(i) || op.RoleOf(i) != Role::kData) continue;
    const ir::Type& from = view.in(i);
    const ir::Type& to = view.out();
    // Where channels have their own parameters the axis rule has said that moving is right.
    const bool same = from.quantized() && from.quant->axis
                          ? from.dtype == to.dtype && to.quantized()
                          : SameCodes(from, to);
    if (!from.quantized() || !same) return false;
  }
  return true;
}

ir::Tensor PadCode(const NodeView& view) {
  const ir::Type& type = view.out();
  float value = 0;
  if (const Tensor* constant = view.constant(2)) value = static_cast<float>(constant->FloatAt(0));
  return ops::QuantizeTensor(Tensor::Scalar<float>(value), {type.dtype, {}, type.quant, {}});
}

namespace {

constexpr std::string_view kMoveOps[] = {
    "Concat", "DepthToSpace",   "Dropout",      "Expand",    "Flatten",
    "Gather", "GatherElements", "GatherND",     "Identity",  "Reshape",
    "Resize", "Slice",          "SpaceToDepth", "Split",     "Squeeze",
    "Tile",   "TopK",           "Transpose",    "Unsqueeze", "Where"};
constexpr std::string_view kConcatOps[] = {"Concat"};
constexpr std::string_view kPadOps[] = {"Pad"};

Status Move(const ir::Node& node, std::span<const Tensor* const> inputs,
            const StepContext& context) {
  return node.op->reference(
      {.node = node, .inputs = inputs, .results = context.results, .pool = context.pool});
}

Result<Prepared> PrepareMove(const NodeView& view, ThreadPool&) {
  return Prepared{.run = [node = &view.node](const StepContext& context) {
    return Move(*node, context.inputs, context);
  }};
}

// A pad value is rounded as mode `onnx` says; zero is exact in every mode.
bool MatchPad(const NodeView& view) {
  const Tensor* value = view.constant(2);
  const bool exact = !view.Has(2) || (value != nullptr && value->FloatAt(0) == 0);
  return (exact || view.numerics == ir::Numerics::kOnnx) && MovesCodes(view) &&
         view.in(0).quant->per_tensor() && (!view.Has(2) || view.constant(2) != nullptr);
}

Result<Prepared> PreparePad(const NodeView& view, ThreadPool&) {
  return Prepared{.run = [node = &view.node, code = PadCode(view)](const StepContext& context) {
    std::vector<const Tensor*> inputs(context.inputs.begin(), context.inputs.end());
    inputs.resize(std::max<size_t>(inputs.size(), 3));
    inputs[2] = &code;
    return Move(*node, inputs, context);
  }};
}

bool MatchConcat(const NodeView& view) { return MovesCodes(view); }

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

extern constexpr Kernel kMove{.name = "move-codes",
                              .ops = kMoveOps,
                              .numerics = ir::kEveryNumerics,
                              .match = &MovesCodes,
                              .prepare = &PrepareMove};

extern constexpr Kernel kMovePad{.name = "pad-codes",
                                 .ops = kPadOps,
                                 .numerics = ir::kEveryNumerics,
                                 .match = &MatchPad,
                                 .prepare = &PreparePad};

extern constexpr Kernel kMoveConcat{.name = "concat-codes",
                                    .ops = kConcatOps,
                                    .layout = LayoutRule::kEither,
                                    .numerics = ir::kEveryNumerics,
                                    .match = &MatchConcat,
                                    .prepare = &PrepareConcat};

}  // namespace octavo::runtime
