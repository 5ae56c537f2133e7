// SPDX-License-Identifier: Apache-2.0
// Resize(x, roi?, scales?, sizes?): nearest neighbour, linear or cubic interpolation.  Nearest only
// moves elements; the others sum in double, one axis after another from the first, and round once.
#include <cstring>

#include "core/ops/shared/data_op.h"
#include "core/ops/shared/resize_axis.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {
    {"antialias", ir::AttrKind::kInt},
    {"axes", ir::AttrKind::kInts},
    {"coordinate_transformation_mode", ir::AttrKind::kString},
    {"cubic_coeff_a", ir::AttrKind::kFloat},
    {"exclude_outside", ir::AttrKind::kInt},
    {"extrapolation_value", ir::AttrKind::kFloat},
    {"keep_aspect_ratio_policy", ir::AttrKind::kString},
    {"mode", ir::AttrKind::kString},
    {"nearest_mode", ir::AttrKind::kString},
};

std::vector<float> Floats(const ir::Tensor* tensor) {
  std::vector<float> values;
  for (int64_t i = 0; tensor && i < tensor->size(); ++i) {
    values.push_back(static_cast<float>(tensor->FloatAt(i)));
  }
  return values;
}

// `inputs` are roi, scales and sizes; absent ones are null.
std::string Plan(const ir::Node& node, const ir::Shape& shape,
                 const std::array<const ir::Tensor*, 3>& inputs, std::vector<ResizeAxis>& plan) {
  const ResizeMode mode = ResizeModeOf(node.attributes);
  const int rank = static_cast<int>(shape.size());
  std::vector<int64_t> axes = node.attributes.Ints("axes");
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) return fmt::format("axis {} is outside of the rank", axis);
    axis = FrontAxis(axis, rank);
  }
  for (int i = 0; !node.attributes.Has("axes") && i < rank; ++i) axes.push_back(i);
  const bool by_sizes = inputs[2] && inputs[2]->size() > 0;
  const bool by_scales = inputs[1] && inputs[1]->size() > 0;
  if (by_sizes == by_scales) return "exactly one of scales and sizes must be given";
  const std::vector<float> scales = Floats(inputs[1]);
  const std::vector<int64_t> sizes = by_sizes ? inputs[2]->ToInts() : std::vector<int64_t>();
  return PlanResize(shape, mode, axes, Floats(inputs[0]), by_scales ? &scales : nullptr,
                    by_sizes ? &sizes : nullptr, plan);
}

Status Infer(ir::InferContext& context) {
  const ResizeMode mode = ResizeModeOf(context.node().attributes);
  if (const std::string word = UnknownWord(mode); !word.empty()) {
    return context.Invalid("unknown mode '{}'", word);
  }
  if (mode.mode != "nearest" && context.dtype(0) != ir::DType::kF32) {
    return context.Unsupported("{} interpolation of {} is not supported", mode.mode,
                               Name(context.dtype(0)));
  }
  if (mode.mode == "nearest" && mode.crops() && context.dtype(0) != ir::DType::kF32) {
    return context.Unsupported("extrapolation of {} is not supported", Name(context.dtype(0)));
  }
  for (size_t i = 1; i < 4; ++i) {
    // Only cropping uses the roi.
    if (context.Has(i) && context.known(i) == nullptr && (i != 1 || mode.crops())) {
      constexpr std::string_view kWhat[] = {"x", "roi", "scales", "sizes"};
      return DependsOnData(context, i, kWhat[i]);
    }
  }
  std::vector<ResizeAxis> plan;
  const std::string wrong = Plan(context.node(), context.shape(0),
                                 {context.known(1), context.known(2), context.known(3)}, plan);
  if (!wrong.empty()) return context.Invalid("{}", wrong);
  ir::Shape shape;
  for (const ResizeAxis& axis : plan) shape.push_back(axis.out);
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

// Resizes one axis: (outer, in, inner) becomes (outer, out, inner).
std::vector<double> Interpolate(const std::vector<double>& from, const ResizeAxis& axis,
                                const ResizeMode& mode, int64_t outer, int64_t inner,
                                ThreadPool* pool) {
  std::vector<std::vector<ResizeTap>> taps;
  for (int64_t x = 0; x < axis.out; ++x) taps.push_back(TapsOf(axis, mode, x));
  std::vector<double> to(outer * axis.out * inner);
  const auto rows = [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const double* source = from.data() + r / axis.out * axis.in * inner;
      double* target = to.data() + r * inner;
      for (const ResizeTap& tap : taps[r % axis.out]) {
        const double* row = source + tap.index * inner;
        for (int64_t i = 0; i < inner; ++i) target[i] += tap.weight * row[i];
      }
    }
  };
  if (pool) {
    pool->For(outer * axis.out, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, inner)), rows);
  } else {
    rows(0, outer * axis.out);
  }
  return to;
}

void InterpolateAll(const std::vector<ResizeAxis>& plan, const ResizeMode& mode,
                    const ir::Tensor& x, ir::Tensor& result, ThreadPool* pool) {
  const auto source = x.values<float>();
  std::vector<double> values(source.begin(), source.end());
  int64_t outer = 1, inner = x.size();
  for (const ResizeAxis& axis : plan) {
    inner /= axis.in;
    if (!axis.unchanged() || mode.crops()) {
      values = Interpolate(values, axis, mode, outer, inner, pool);
    }
    outer *= axis.out;
  }
  const auto to = result.mutable_values<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<float>(values[i]);
}

void ShowNearest(const std::vector<std::vector<int64_t>>& places, const ir::Shape& strides,
                 size_t axis, int element, const std::byte* from, std::byte*& to) {
  for (const int64_t place : places[axis]) {
    const std::byte* at = from + place * strides[axis] * element;
    if (axis + 1 < places.size()) {
      ShowNearest(places, strides, axis + 1, element, at, to);
    } else {
      std::memcpy(to, at, element);
      to += element;
    }
  }
}

// For tf_crop_and_resize: positions outside of the operand get the extrapolation value.
void Extrapolate(const std::vector<ResizeAxis>& plan, const ResizeMode& mode, ir::Tensor& result) {
  const ir::Shape strides = ir::StridesOf(result.shape());
  const auto to = result.mutable_values<float>();
  for (size_t a = 0; a < plan.size(); ++a) {
    for (int64_t x = 0; x < plan[a].out; ++x) {
      const float source = SourceOf(plan[a], mode, x);
      if (source >= 0 && source <= static_cast<float>(plan[a].in - 1)) continue;
      for (size_t i = 0; i < to.size(); ++i) {
        if (static_cast<int64_t>(i) / strides[a] % plan[a].out == x) to[i] = mode.extrapolation;
      }
    }
  }
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const ResizeMode mode = ResizeModeOf(context.node.attributes);
  std::array<const ir::Tensor*, 3> inputs{};
  for (size_t i = 1; i < context.inputs.size(); ++i) inputs[i - 1] = context.inputs[i];
  std::vector<ResizeAxis> plan;
  const std::string wrong = Plan(context.node, x.shape(), inputs, plan);
  if (!wrong.empty()) return BadData(context, "{}", wrong);
  ir::Tensor& result = context.out();
  if (result.size() == 0) return {};
  if (mode.mode != "nearest") {
    InterpolateAll(plan, mode, x, result, context.pool);
  } else {
    std::vector<std::vector<int64_t>> places(plan.size());
    for (size_t a = 0; a < plan.size(); ++a) {
      for (int64_t at = 0; at < plan[a].out; ++at) {
        places[a].push_back(NearestOf(plan[a], mode, at));
      }
    }
    std::byte* to = result.mutable_raw();
    ShowNearest(places, ir::StridesOf(x.shape()), 0, ir::SizeOf(x.dtype()), x.raw(), to);
  }
  if (mode.crops()) Extrapolate(plan, mode, result);
  return {};
}

bool MovesElements(const ir::Node& node) {
  const ResizeMode mode = ResizeModeOf(node.attributes);
  return mode.mode == "nearest" && !mode.crops();
}

ir::QuantRule QuantOf(const ir::Graph&, const ir::Node& node) {
  return {.kind =
              MovesElements(node) ? ir::QuantRule::Kind::kSameScale : ir::QuantRule::Kind::kFree};
}

std::string WhyNot(const ir::Graph&, const ir::Node& node, const ir::Type&, const ir::Type&) {
  if (MovesElements(node)) return {};
  return "interpolation rounds, so it does not commute with a Rescale";
}

// Only possible if the channel axis is not resized.
std::optional<ir::Quant> MapQuant(const ir::Graph& graph, const ir::Node& node, int,
                                  const ir::Quant& from) {
  if (from.per_tensor()) return from;
  std::array<const ir::Tensor*, 3> inputs{};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (!node.input(i)) continue;
    if (!graph.IsConstant(node.input(i))) return std::nullopt;
    inputs[i - 1] = &graph.value(node.input(i)).constant->tensor;
  }
  std::vector<ResizeAxis> plan;
  if (!Plan(node, graph.type(node.input(0)).shape, inputs, plan).empty()) return std::nullopt;
  return plan[*from.axis].unchanged() ? std::optional(from) : std::nullopt;
}

}  // namespace

extern constexpr ir::OpDef kResize{
    .name = "Resize",
    .since = ir::Since(10),
    .inputs = {1, 4},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant_of = &QuantOf,
    .rescale = {.at_input = ir::RescaleRule::AtInput::kSink,
                .at_output = ir::RescaleRule::AtOutput::kHoist,
                .why_not = &WhyNot},
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kCopy,
};

}  // namespace octavo::ops
