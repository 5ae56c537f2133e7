// ScatterND(data, indices, updates) {reduction}: data with slices written to the places that the
// last axis of indices names, in row-major order.
#include "core/ops/scatter_reduction.h"
#include "core/ops/strided_copy.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  const ir::Shape& indices = context.shape(1);
  if (!ir::IsInteger(context.dtype(1)) || context.dtype(2) != context.dtype(0)) {
    return context.Invalid("indices are {} and updates {} for data of {}", Name(context.dtype(1)),
                           Name(context.dtype(2)), Name(context.dtype(0)));
  }
  const auto depth = static_cast<ptrdiff_t>(indices.empty() ? 0 : indices.back());
  if (depth < 1 || depth > static_cast<ptrdiff_t>(data.size())) {
    return context.Invalid("indices of shape {} do not fit data of shape {}", ir::ToString(indices),
                           ir::ToString(data));
  }
  ir::Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.begin() + depth, data.end());
  if (context.shape(2) != updates) {
    return context.Invalid("updates have shape {}, but must have {}",
                           ir::ToString(context.shape(2)), ir::ToString(updates));
  }
  OCTAVO_CHECK(CheckReduction(context));
  return InferSameType(context);
}

Status Reference(const ir::EvalContext& context) {
  const ir::Tensor& data = context.in(0);
  const ir::Tensor& indices = context.in(1);
  const int64_t depth = indices.shape().back();
  const ir::Shape strides = ir::StridesOf(data.shape());
  const int64_t block = strides[depth - 1];
  std::vector<int64_t> places(indices.size() / depth, 0);
  for (int64_t i = 0; i < indices.size(); ++i) {
    const int64_t extent = data.shape()[i % depth], index = indices.IntAt(i);
    if (index < -extent || index >= extent) {
      return BadData(context, "index {} is outside of extent {}", index, extent);
    }
    places[i / depth] += (index < 0 ? index + extent : index) * strides[i % depth];
  }
  CopyAll(data, context.out());
  VisitDType(data.dtype(), [&]<class T>(T) {
    const T* updates = context.in(2).values<T>().data();
    const auto to = context.out().mutable_values<T>();
    VisitReduction<T>(context.node.attributes.String("reduction", "none"), [&](auto join) {
      for (const int64_t place : places) {
        for (int64_t i = place; i < place + block; ++i) to[i] = join(to[i], *updates++);
      }
    });
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kScatterND{
    .name = "ScatterND",
    .inputs = {3, 3},
    .attributes = std::span(kScatterAttributes).last(1),
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter, ir::Role::kData),
    .quant_of = &ScatterQuant,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
