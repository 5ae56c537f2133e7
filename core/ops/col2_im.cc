// SPDX-License-Identifier: Apache-2.0
// Col2Im(x, image_shape, block_shape) {dilations, pads, strides}: adds the columns [N, C * block,
// positions] at the positions of their blocks in the image [N, C, image..].  Sums in double, in the
// order of positions.
#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/window.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"dilations", ir::AttrKind::kInts},
                                        {"pads", ir::AttrKind::kInts},
                                        {"strides", ir::AttrKind::kInts}};

Result<Window> BlocksOf(const ir::Node& node, const std::vector<int64_t>& image,
                        std::vector<int64_t> block) {
  ir::Shape data = {1, 1};
  data.insert(data.end(), image.begin(), image.end());
  return WindowOf(node, data, std::move(block));
}

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const ir::Shape& x = context.shape(0);
  OCTAVO_TRY(const std::vector<int64_t> image, context.KnownInts(1, "image_shape"));
  OCTAVO_TRY(const std::vector<int64_t> block, context.KnownInts(2, "block_shape"));
  if (image.empty() || image.size() != block.size()) {
    return context.Invalid("image_shape has {} extents, block_shape {}", image.size(),
                           block.size());
  }
  OCTAVO_TRY(const Window window, BlocksOf(context.node(), image, block));
  if (x.size() != 3 || x[1] % window.taps() != 0 || x[2] != window.positions()) {
    return context.Invalid("columns of shape {} do not fit {} places of blocks of {}",
                           ir::ToString(x), window.positions(), window.taps());
  }
  ir::Shape shape = {x[0], x[1] / window.taps()};
  shape.insert(shape.end(), image.begin(), image.end());
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  OCTAVO_TRY(const Window window,
             BlocksOf(context.node, context.in(1).ToInts(), context.in(2).ToInts()));
  const int64_t image = ir::NumElements(window.in), places = window.positions();
  const int64_t planes = context.out().shape()[0] * context.out().shape()[1];
  VisitDType(context.in(0).dtype(), [&]<class T>(T) {
    const T* from = context.in(0).values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    context.pool->For(planes, 1, [&](int64_t begin, int64_t end) {
      for (int64_t plane = begin; plane < end; ++plane) {
        std::vector<double> sums(image, 0);
        const T* columns = from + plane * window.taps() * places;
        ForEachTap(window, 0, places, [&](int64_t place, int64_t tap, int64_t offset) {
          if (offset >= 0) sums[offset] += static_cast<double>(columns[tap * places + place]);
        });
        for (int64_t i = 0; i < image; ++i) to[plane * image + i] = static_cast<T>(sums[i]);
      }
    });
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kCol2Im{
    .name = "Col2Im",
    .since = ir::Since(18),
    .inputs = {3, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "it sums overlapping blocks as floats"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
