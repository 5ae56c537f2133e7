// ScatterElements(data, indices, updates) {axis, reduction}: data with updates[i][j] written to
// [indices[i][j]][j] for axis 0, in row-major order.
#include "core/ops/scatter_reduction.h"
#include "core/ops/strided_copy.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  const ir::Shape& data = context.shape(0);
  const ir::Shape& indices = context.shape(1);
  OCTAVO_TRY(const int axis, CheckedAxis(context, context.node().attributes.Int("axis", 0),
                                         static_cast<int>(data.size())));
  if (!ir::IsInteger(context.dtype(1)) || context.dtype(2) != context.dtype(0)) {
    return context.Invalid("indices are {} and updates {} for data of {}", Name(context.dtype(1)),
                           Name(context.dtype(2)), Name(context.dtype(0)));
  }
  bool fits = indices.size() == data.size() && context.shape(2) == indices;
  for (size_t i = 0; fits && i < data.size(); ++i) {
    fits = static_cast<int>(i) == axis || indices[i] <= data[i];
  }
  if (!fits) {
    return context.Invalid("indices of shape {} and updates of shape {} do not fit data of {}",
                           ir::ToString(indices), ir::ToString(context.shape(2)),
                           ir::ToString(data));
  }
  OCTAVO_CHECK(CheckReduction(context));
  return InferSameType(context);
}

// Where element `flat` of the updates goes; -1 where its index is outside.
int64_t Place(const ir::Tensor& indices, int64_t flat, int axis, const ir::Shape& data,
              const ir::Shape& strides) {
  int64_t index = indices.IntAt(flat);
  if (index < -data[axis] || index >= data[axis]) return -1;
  if (index < 0) index += data[axis];
  int64_t offset = 0, rest = flat;
  for (int i = indices.rank(); i-- > 0;) {
    const int64_t at = rest % indices.shape()[i];
    rest /= indices.shape()[i];
    offset += (i == axis ? index : at) * strides[i];
  }
  return offset;
}

Status Reference(const ir::EvalContext& context) {
  const ir::Tensor& data = context.in(0);
  const ir::Tensor& indices = context.in(1);
  const int axis = FrontAxis(context.node.attributes.Int("axis", 0), data.rank());
  const ir::Shape strides = ir::StridesOf(data.shape());
  std::vector<int64_t> places;
  for (int64_t flat = 0; flat < indices.size(); ++flat) {
    places.push_back(Place(indices, flat, axis, data.shape(), strides));
    if (places.back() < 0) {
      return BadData(context, "index {} is outside of extent {}", indices.IntAt(flat),
                     data.shape()[axis]);
    }
  }
  CopyAll(data, context.out());
  VisitDType(data.dtype(), [&]<class T>(T) {
    const auto updates = context.in(2).values<T>();
    const auto to = context.out().mutable_values<T>();
    VisitReduction<T>(context.node.attributes.String("reduction", "none"), [&](auto join) {
      for (size_t i = 0; i < places.size(); ++i) to[places[i]] = join(to[places[i]], updates[i]);
    });
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kScatterElements{
    .name = "ScatterElements",
    .inputs = {3, 3},
    .attributes = kScatterAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter, ir::Role::kData),
    .quant_of = &ScatterQuant,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
