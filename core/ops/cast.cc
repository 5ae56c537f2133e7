// SPDX-License-Identifier: Apache-2.0
// Cast(input) {to, saturate}: converts to another element type.  Floats convert to integers by
// truncation and saturate, and NaN becomes 0; integers convert to other integer types by wrapping
// around; every value except 0 converts to true.
#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

// `to` is a TensorProto.DataType number; `saturate` applies only to 8-bit floats.
constexpr ir::AttrSpec kAttributes[] = {{"to", ir::AttrKind::kInt, true},
                                        {"saturate", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  const auto dtype = DTypeOfNumber(context.node().attributes.Int("to", 0));
  if (!dtype) {
    return context.Unsupported("to = {} is not a supported type",
                               context.node().attributes.Int("to", 0));
  }
  context.SetResult(0, *dtype, context.shape(0));
  return {};
}

template <class To, class From>
To Converted(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    return FromReal<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class To, class From>
void Convert(const ir::Tensor& from, ir::Tensor& to) {
  const auto source = from.values<From>();
  const auto target = to.mutable_values<To>();
  for (size_t i = 0; i < target.size(); ++i) target[i] = Converted<To>(source[i]);
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& input = context.in(0);
  ir::Tensor& result = context.out();
  VisitDType(result.dtype(), [&]<class To>(To) {
    const bool done =
        VisitDType(input.dtype(), [&]<class From>(From) { Convert<To, From>(input, result); });
    if (done) return;
    const auto target = result.mutable_values<To>();  // a 16-bit float operand
    for (size_t i = 0; i < target.size(); ++i) target[i] = Converted<To>(input.FloatAt(i));
  });
  return {};
}

ir::QuantRule QuantOf(const ir::Graph&, const ir::Node& node) {
  const auto dtype = DTypeOfNumber(node.attributes.Int("to", 0));
  if (dtype && ir::IsFloat(*dtype)) return {.why = "the model asks for a float type"};
  return kNotReal;
}

}  // namespace

extern constexpr ir::OpDef kCast{
    .name = "Cast",
    .since = ir::Since(1),
    .attributes = kAttributes,
    .quant_of = &QuantOf,
    .infer = &Infer,
    .definition = &Definition,
    .identity_of = &FirstInput,
};

}  // namespace octavo::ops
