// SPDX-License-Identifier: Apache-2.0
// ScatterElements(data, indices, updates) {axis, reduction}: data, with updates[i][j] written to
//   [indices[i][j]][j] for axis 0, in row-major order.
// ScatterND(data, indices, updates) {reduction}: data, with slices written to the positions in the
//   last axis of indices, in row-major order.
#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"axis", ir::AttrKind::kInt},
                                        {"reduction", ir::AttrKind::kString}};

// Calls f for none, add, mul, max or min with `join(held, update)` in the element type.  False for
// any other word.
template <class T, class F>
bool VisitReduction(const std::string& word, F&& f) {
  if (word == "none") return f([](T, T update) { return update; }), true;
  if constexpr (!std::is_same_v<T, bool>) {
    using U = Modular<T>;
    const auto add = [](T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); };
    const auto mul = [](T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); };
    if (word == "add") return f(add), true;
    if (word == "mul") return f(mul), true;
    if (word == "max") return f([](T a, T b) { return std::max(a, b); }), true;
    if (word == "min") return f([](T a, T b) { return std::min(a, b); }), true;
  }
  return false;
}

Status CheckReduction(const ir::InferContext& context) {
  const std::string word = context.node().attributes.String("reduction", "none");
  bool known = word == "none";
  VisitDType(context.dtype(0), [&]<class T>(T) { known |= VisitReduction<T>(word, [](auto) {}); });
  if (known || VisitReduction<float>(word, [](auto) {})) return {};
  return context.Invalid("reduction '{}' is unknown", word).Field("reduction");
}

// Moving quantized values is exact; adding quantized values does not add their real values.
ir::QuantRule ScatterQuant(const ir::Graph&, const ir::Node& node) {
  if (node.attributes.String("reduction", "none") != "none") {
    return {.why = "its reduction combines real values"};
  }
  return kSameScale;
}

// ---------------------------------------------------------------- ScatterElements

Status InferElements(ir::InferContext& context) {
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

// The flat index in data that element `flat` of the updates writes; -1 if its index is out of
// range.
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

Status ScatterElements(const ir::EvalContext& context) {
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

// ---------------------------------------------------------------- ScatterND

Status InferND(ir::InferContext& context) {
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

Status ScatterND(const ir::EvalContext& context) {
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

extern constexpr ir::OpDef kScatterElements{
    .name = "ScatterElements",
    .since = ir::Since(11),
    .inputs = {3, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter, ir::Role::kData),
    .quant_of = &ScatterQuant,
    .infer = &InferElements,
    .definition = &ScatterElements,
    .moves_data = ir::Movement::kCopy,
};
extern constexpr ir::OpDef kScatterND{
    .name = "ScatterND",
    .since = ir::Since(11),
    .inputs = {3, 3},
    .attributes = std::span(kAttributes).last(1),
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter, ir::Role::kData),
    .quant_of = &ScatterQuant,
    .infer = &InferND,
    .definition = &ScatterND,
    .moves_data = ir::Movement::kCopy,
};

}  // namespace octavo::ops
