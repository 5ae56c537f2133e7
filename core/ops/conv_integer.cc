// SPDX-License-Identifier: Apache-2.0
// ConvInteger(x, w, x_zero_point?, w_zero_point?): an int32 convolution of integers, for models
// that another tool quantized.  Padding contributes 0.
#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

using Ints = std::vector<int64_t>;

constexpr ir::AttrSpec kAttributes[] = {
    {"auto_pad", ir::AttrKind::kString}, {"dilations", ir::AttrKind::kInts},
    {"group", ir::AttrKind::kInt},       {"kernel_shape", ir::AttrKind::kInts},
    {"pads", ir::AttrKind::kInts},       {"strides", ir::AttrKind::kInts},
};

struct Geometry {
  Ints strides, dilations, before, out;
  int64_t group = 1;
};

std::string GeometryOf(const ir::Node& node, const ir::Shape& x, const ir::Shape& w,
                       Geometry& geometry) {
  if (x.size() < 3 || w.size() != x.size()) return "operands must have one rank of 3 or more";
  const size_t spatial = x.size() - 2;
  geometry.group = node.attributes.Int("group", 1);
  geometry.strides = node.attributes.Ints("strides", Ints(spatial, 1));
  geometry.dilations = node.attributes.Ints("dilations", Ints(spatial, 1));
  const Ints pads = node.attributes.Ints("pads", Ints(2 * spatial, 0));
  const std::string auto_pad = node.attributes.String("auto_pad", "NOTSET");
  if (geometry.strides.size() != spatial || geometry.dilations.size() != spatial ||
      pads.size() != 2 * spatial) {
    return "strides, dilations or pads do not fit the rank";
  }
  if (geometry.group < 1 || w[1] < 1 || x[1] != w[1] * geometry.group ||
      w[0] % geometry.group != 0) {
    return fmt::format("{} channels do not fit a weight of shape {} in {} groups", x[1],
                       ir::ToString(w), geometry.group);
  }
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t stride = geometry.strides[i], in = x[2 + i];
    if (stride < 1 || geometry.dilations[i] < 1) return "strides and dilations must be positive";
    const int64_t reach = (w[2 + i] - 1) * geometry.dilations[i] + 1;
    int64_t begin = pads[i], end = pads[spatial + i];
    if (auto_pad == "VALID") begin = end = 0;
    if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
      const int64_t all = std::max<int64_t>(0, ((in - 1) / stride) * stride + reach - in);
      begin = auto_pad == "SAME_UPPER" ? all / 2 : all - all / 2;
      end = all - begin;
    }
    if (in + begin + end < reach) return "the kernel is larger than the padded operand";
    geometry.before.push_back(begin);
    geometry.out.push_back((in + begin + end - reach) / stride + 1);
  }
  return {};
}

bool IsByte(ir::DType dtype) { return dtype == ir::DType::kU8 || dtype == ir::DType::kI8; }

Status Infer(ir::InferContext& context) {
  const ir::Shape& w = context.shape(1);
  if (!IsByte(context.dtype(0)) || !IsByte(context.dtype(1))) {
    return context.Invalid("operands are {} and {}, but must be u8 or i8", Name(context.dtype(0)),
                           Name(context.dtype(1)));
  }
  if (context.Has(2) && context.type(2).elements() != 1) {
    return context.Invalid("x_zero_point must be one number");
  }
  if (context.Has(3) && context.type(3).elements() != 1 && context.type(3).elements() != w[0]) {
    return context.Invalid("w_zero_point must be one number or one per output channel");
  }
  Geometry geometry;
  const std::string wrong = GeometryOf(context.node(), context.shape(0), w, geometry);
  if (!wrong.empty()) return context.Invalid("{}", wrong);
  ir::Shape shape = {context.shape(0)[0], w[0]};
  shape.insert(shape.end(), geometry.out.begin(), geometry.out.end());
  context.SetResult(0, ir::DType::kI32, std::move(shape));
  return {};
}

// The sum over all taps of one window; `x` and `w` point at the first channel of the group.
int64_t WindowSum(const Geometry& geometry, const ir::Shape& x_shape, const ir::Shape& w_shape,
                  const int32_t* x, const int32_t* w, const Ints& at) {
  const size_t spatial = at.size();
  const int64_t taps = ir::NumElements(Ints(w_shape.begin() + 2, w_shape.end()));
  const int64_t plane = ir::NumElements(Ints(x_shape.begin() + 2, x_shape.end()));
  int64_t sum = 0;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t rest = tap, offset = 0, step = 1;
    bool inside = true;
    for (size_t i = spatial; i-- > 0;) {
      const int64_t k = rest % w_shape[2 + i];
      rest /= w_shape[2 + i];
      const int64_t place =
          at[i] * geometry.strides[i] - geometry.before[i] + k * geometry.dilations[i];
      inside = inside && place >= 0 && place < x_shape[2 + i];
      offset += place * step;
      step *= x_shape[2 + i];
    }
    if (!inside) continue;
    for (int64_t c = 0; c < w_shape[1]; ++c) {
      sum += static_cast<int64_t>(x[c * plane + offset]) * w[c * taps + tap];
    }
  }
  return sum;
}

// Elements minus zero points; if there are several, channel c of the first axis uses zero point c.
std::vector<int32_t> Centered(const ir::Tensor& values, const ir::Tensor* zero_point) {
  std::vector<int32_t> centered(values.size());
  const int64_t channel = values.shape()[0] == 0 ? 1 : values.size() / values.shape()[0];
  for (int64_t i = 0; i < values.size(); ++i) {
    int64_t zp = 0;
    if (zero_point) zp = zero_point->IntAt(zero_point->size() == 1 ? 0 : i / channel);
    centered[i] = static_cast<int32_t>(values.IntAt(i) - zp);
  }
  return centered;
}

Status Definition(const ir::EvalContext& context) {
  const ir::Shape& x_shape = context.in(0).shape();
  const ir::Shape& w_shape = context.in(1).shape();
  Geometry geometry;
  GeometryOf(context.node, x_shape, w_shape, geometry);
  const std::vector<int32_t> x = Centered(context.in(0), context.Has(2) ? &context.in(2) : nullptr);
  const std::vector<int32_t> w = Centered(context.in(1), context.Has(3) ? &context.in(3) : nullptr);
  const int64_t plane = ir::NumElements(Ints(x_shape.begin() + 2, x_shape.end()));
  const int64_t filter = ir::NumElements(w_shape) / std::max<int64_t>(1, w_shape[0]);
  const int64_t windows = ir::NumElements(geometry.out);
  const int64_t per_group = w_shape[0] / geometry.group;
  const auto to = context.out().mutable_values<int32_t>();
  for (size_t flat = 0; flat < to.size(); ++flat) {
    const int64_t window = static_cast<int64_t>(flat) % windows;
    const int64_t channel = static_cast<int64_t>(flat) / windows % w_shape[0];
    const int64_t batch = static_cast<int64_t>(flat) / windows / w_shape[0];
    Ints at(geometry.out.size());
    int64_t rest = window;
    for (size_t i = at.size(); i-- > 0; rest /= geometry.out[i]) at[i] = rest % geometry.out[i];
    const int64_t first = batch * x_shape[1] + channel / per_group * w_shape[1];
    to[flat] = static_cast<int32_t>(WindowSum(geometry, x_shape, w_shape, x.data() + first * plane,
                                              w.data() + channel * filter, at));
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kConvInteger{
    .name = "ConvInteger",
    .since = ir::Since(10),
    .inputs = {2, 4},
    .attributes = kAttributes,
    .roles = ir::AllRoles(ir::Role::kParameter),
    .quant = kNotReal,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
