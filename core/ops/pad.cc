// SPDX-License-Identifier: Apache-2.0
// Pad(data, pads, constant_value?, axes?) {mode}: adds elements before and after along axes: a
// constant, the edge, or the element at the mirrored or wrapped position.  Negative pads crop.
#include <cstring>

#include "core/ops/quantize_math.h"
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"mode", ir::AttrKind::kString}};

// Numbers of elements added before and after along one axis.
struct Amount {
  int64_t before = 0;
  int64_t after = 0;
};

using Ints = std::vector<int64_t>;

std::string AmountsOf(const ir::Shape& shape, const Ints& pads, const Ints* axes,
                      std::vector<Amount>& amounts) {
  const int rank = static_cast<int>(shape.size());
  const size_t count = axes ? axes->size() : shape.size();
  if (pads.size() != 2 * count) {
    return fmt::format("{} pads for {} axes, but there must be two each", pads.size(), count);
  }
  amounts.assign(rank, {});
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = axes ? (*axes)[i] : static_cast<int64_t>(i);
    if (axis < -rank || axis >= rank) return fmt::format("axis {} is outside of the rank", axis);
    amounts[FrontAxis(axis, rank)] = {pads[i], pads[count + i]};
  }
  return {};
}

// For each position along an axis of the result, the position in data to copy; -1 for the constant.
Ints PlacesOf(std::string_view mode, int64_t extent, Amount amount) {
  Ints places(std::max<int64_t>(0, amount.before + extent + amount.after));
  for (size_t i = 0; i < places.size(); ++i) {
    int64_t at = static_cast<int64_t>(i) - amount.before;
    if (mode == "edge") {
      at = std::clamp<int64_t>(at, 0, extent - 1);
    } else if (mode == "wrap") {
      at = (at % extent + extent) % extent;
    } else if (mode == "reflect") {
      const int64_t period = std::max<int64_t>(1, 2 * (extent - 1));
      at = (at % period + period) % period;
      at = std::min(at, period - at);
      if (extent == 1) at = 0;
    } else if (at < 0 || at >= extent) {
      at = -1;
    }
    places[i] = at;
  }
  return places;
}

Status Infer(ir::InferContext& context) {
  ir::Shape shape = context.shape(0);
  const std::string mode = context.node().attributes.String("mode", "constant");
  if (mode != "constant" && mode != "edge" && mode != "reflect" && mode != "wrap") {
    return context.Invalid("unknown mode '{}'", mode).Field("mode");
  }
  OCTAVO_TRY(const Ints pads, context.KnownInts(1, "pads"));
  Ints axes;
  if (context.Has(3)) {
    OCTAVO_TRY(axes, context.KnownInts(3, "axes"));
  }
  if (context.Has(2) && (context.dtype(2) != context.dtype(0) || context.type(2).elements() != 1)) {
    return context.Invalid("constant_value must be one element of type {}", Name(context.dtype(0)));
  }
  std::vector<Amount> amounts;
  const std::string wrong = AmountsOf(shape, pads, context.Has(3) ? &axes : nullptr, amounts);
  if (!wrong.empty()) return context.Invalid("{}", wrong);
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t extent = shape[i];
    if (__builtin_add_overflow(shape[i], amounts[i].before, &shape[i]) ||
        __builtin_add_overflow(shape[i], amounts[i].after, &shape[i]) || shape[i] < 0) {
      return context.Invalid("pads {} and {} of extent {}", amounts[i].before, amounts[i].after,
                             extent);
    }
    if (mode != "constant" && extent == 0 && shape[i] > 0) {
      return context.Invalid("axis {} has no element to copy", i);
    }
  }
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

void Fill(ir::Tensor& tensor, const std::byte* element) {
  const int size = ir::SizeOf(tensor.dtype());
  std::byte* to = tensor.mutable_raw();
  for (int64_t i = 0; i < tensor.size(); ++i) std::memcpy(to + i * size, element, size);
}

void PadConstant(const ir::EvalContext& context, const std::vector<Amount>& amounts) {
  const ir::Tensor& data = context.in(0);
  ir::Tensor& result = context.out();
  if (context.Has(2)) Fill(result, context.in(2).raw());
  const ir::Shape from_strides = ir::StridesOf(data.shape());
  const ir::Shape to_strides = ir::StridesOf(result.shape());
  ir::Shape extents;
  int64_t from = 0, to = 0;
  for (int i = 0; i < data.rank(); ++i) {
    const auto [before, after] = amounts[i];
    const int64_t skip = std::max<int64_t>(0, -before);
    extents.push_back(std::max<int64_t>(0, data.shape()[i] - skip - std::max<int64_t>(0, -after)));
    from += skip * from_strides[i];
    to += std::max<int64_t>(0, before) * to_strides[i];
  }
  if (ir::NumElements(extents) == 0) return;
  const int element = ir::SizeOf(data.dtype());
  Copy({extents, from_strides, to_strides}, element, data.raw() + from * element,
       result.mutable_raw() + to * element, context.pool);
}

// Recurses over the axes; the innermost axis is last, so a single list of positions copies a row.
void Show(const std::vector<Ints>& places, const ir::Shape& strides, size_t axis, int element,
          const std::byte* from, std::byte*& to) {
  for (const int64_t place : places[axis]) {
    const std::byte* at = from + place * strides[axis] * element;
    if (axis + 1 < places.size()) {
      Show(places, strides, axis + 1, element, at, to);
    } else {
      std::memcpy(to, at, element);
      to += element;
    }
  }
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& data = context.in(0);
  const std::string mode = context.node.attributes.String("mode", "constant");
  Ints axes;
  if (context.Has(3)) axes = context.in(3).ToInts();
  std::vector<Amount> amounts;
  const std::string wrong =
      AmountsOf(data.shape(), context.in(1).ToInts(), context.Has(3) ? &axes : nullptr, amounts);
  if (!wrong.empty()) return BadData(context, "{}", wrong);
  if (mode == "constant" || data.rank() == 0) {
    if (data.rank() == 0) CopyAll(data, context.out());
    if (data.rank() != 0) PadConstant(context, amounts);
    return {};
  }
  std::vector<Ints> places;
  for (int i = 0; i < data.rank(); ++i) {
    places.push_back(PlacesOf(mode, data.shape()[i], amounts[i]));
  }
  if (context.out().size() == 0) return {};
  std::byte* to = context.out().mutable_raw();
  Show(places, ir::StridesOf(data.shape()), 0, ir::SizeOf(data.dtype()), data.raw(), to);
  return {};
}

// The constant's real value; nullopt if only a run can determine it.
std::optional<float> ConstantOf(const ir::Graph& graph, const ir::Node& node) {
  if (!node.input(2)) return 0.0f;
  if (!graph.IsConstant(node.input(2))) return std::nullopt;
  return static_cast<float>(graph.value(node.input(2)).constant->tensor.FloatAt(0));
}

// Along the channel axis, padded positions have the parameters of the channel that they copy, or of
// the nearest one; along other axes, the constant must have the same stored integer in all
// channels.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  const ir::Shape& shape = graph.type(node.input(0)).shape;
  const auto pads = ConstantInts(graph, node.input(1)), axes = ConstantInts(graph, node.input(3));
  if (!pads || (node.input(3) && !axes)) return std::nullopt;
  std::vector<Amount> amounts;
  if (!AmountsOf(shape, *pads, axes ? &*axes : nullptr, amounts).empty()) return std::nullopt;
  const std::string mode = node.attributes.String("mode", "constant");
  const bool constant = mode == "constant";
  const auto same = [&](int32_t zp) { return zp == from.zero_point(); };
  if (constant &&
      (ConstantOf(graph, node) != 0.0f || !std::ranges::all_of(from.zero_points, same))) {
    return std::nullopt;
  }
  const int axis = *from.axis;
  return PickChannels(from, PlacesOf(constant ? "edge" : mode, shape[axis], amounts[axis]), axis);
}

std::string WhyNot(const ir::Graph& graph, const ir::Node& node, const ir::Type& from,
                   const ir::Type& to) {
  if (node.attributes.String("mode", "constant") != "constant") return {};
  const std::optional<float> value = ConstantOf(graph, node);
  if (!value) return "the value that it pads with is not constant";
  if (*value == 0.0f) return {};
  if (!from.quant->per_tensor() || !to.quant->per_tensor()) {
    return "it pads channels of different quantization parameters with a value other than 0";
  }
  const auto exact = [&](const ir::Type& type) {
    const float scale = type.quant->scale();
    const int32_t zp = type.quant->zero_point();
    return DequantizeOne(QuantizeOne(*value, scale, zp, ir::IntegerRangeOf(type.dtype)), scale,
                         zp) == *value;
  };
  if (exact(from) && exact(to)) return {};
  return fmt::format("its pad value {} is not exact in both types", *value);
}

int FirstIfNothingPadded(const ir::Graph& graph, const ir::Node& node) {
  const auto pads = ConstantInts(graph, node.input(1));
  return pads && std::ranges::all_of(*pads, [](int64_t pad) { return pad == 0; }) ? 0 : -1;
}

}  // namespace

extern constexpr ir::OpDef kPad{
    .name = "Pad",
    .since = ir::Since(1),
    .inputs = {2, 4},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSink,
                .at_output = ir::RescaleRule::AtOutput::kHoist,
                .why_not = &WhyNot},
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kFill,
    .identity_of = &FirstIfNothingPadded,
};

}  // namespace octavo::ops
