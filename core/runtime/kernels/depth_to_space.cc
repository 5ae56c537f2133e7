// SPDX-License-Identifier: Apache-2.0
// DepthToSpace and SpaceToDepth: one strided copy of stored integers, in either layout.
#include "core/ops/shared/strided_copy.h"
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/data_movement.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kToSpaceOps[] = {"DepthToSpace"};
constexpr std::string_view kToDepthOps[] = {"SpaceToDepth"};

// Strides of an image along each axis, in elements.
struct ImageSteps {
  ImageSteps(Layout layout, const ir::Shape& shape) {
    const ir::Shape stored = ir::StridesOf(StoredShape(CanonicalLayout(layout, shape), shape));
    const auto at = [&](int axis) {
      return stored[StoredAxis(CanonicalLayout(layout, shape), shape, axis)];
    };
    image = at(0), channel = at(1), row = at(2), column = at(3);
  }
  int64_t image, channel, row, column;
};

bool Match(const NodeView& view) {
  return view.in(0).shape.size() == 4 && view.out().shape.size() == 4 && KeepsQuantization(view) &&
         view.in(0).quant->per_tensor();
}

template <bool kToSpace>
Result<Prepared> Prepare(const NodeView& view, ThreadPool&) {
  const int64_t side = view.node.attributes.Int("blocksize", 1);
  const bool by_depth = !kToSpace || view.node.attributes.String("mode", "DCR") == "DCR";
  const ir::Type &deep = kToSpace ? view.in(0) : view.out(),
                 &wide = kToSpace ? view.out() : view.in(0);
  const ImageSteps d(view.layout, deep.shape), w(view.layout, wide.shape);
  const int64_t channels = wide.shape[1];
  // Channel (i, j, c) of the deep image is channel c of pixel (i, j) of a block.
  const int64_t c_step = d.channel * (by_depth ? 1 : side * side);
  const int64_t j_step = d.channel * (by_depth ? channels : 1), i_step = j_step * side;
  const ir::Shape extents = {deep.shape[0], deep.shape[2], side, deep.shape[3], side, channels};
  const ir::Shape of_deep = {d.image, d.row, i_step, d.column, j_step, c_step};
  const ir::Shape of_wide = {w.image, side * w.row, w.row, side * w.column, w.column, w.channel};
  const ops::StridedCopy copy = kToSpace ? ops::StridedCopy{extents, of_deep, of_wide}
                                         : ops::StridedCopy{extents, of_wide, of_deep};
  return Prepared{.run = [copy](const StepContext& context) -> Status {
    ops::Copy(copy, ir::SizeOf(context.out().dtype()), context.in(0).raw(),
              context.out().mutable_raw(), context.pool);
    return {};
  }};
}

}  // namespace

extern constexpr Kernel kMoveToSpace{.name = "depth-to-space",
                                     .ops = kToSpaceOps,
                                     .layout = LayoutRule::kEither,
                                     .modes = Modes::kAll,
                                     .match = &Match,
                                     .prepare = &Prepare<true>};

extern constexpr Kernel kMoveToDepth{.name = "space-to-depth",
                                     .ops = kToDepthOps,
                                     .layout = LayoutRule::kEither,
                                     .modes = Modes::kAll,
                                     .match = &Match,
                                     .prepare = &Prepare<false>};

}  // namespace octavo::runtime
