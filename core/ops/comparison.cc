// SPDX-License-Identifier: Apache-2.0
// Comparisons and logic, element by element: bool results of two operands with broadcast, or of
// one.
#include <cmath>

#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

using ir::OpDef;
using ir::Since;

// Requires operands of one type; the result is bool with their broadcast shape.
Status InferComparison(ir::InferContext& context) {
  if (context.dtype(0) != context.dtype(1)) {
    return context.Invalid("operands are {} and {}, but must have one type", Name(context.dtype(0)),
                           Name(context.dtype(1)));
  }
  const auto shape = Broadcast(context.shape(0), context.shape(1));
  if (!shape) {
    return context.Invalid("shapes {} and {} do not broadcast", ir::ToString(context.shape(0)),
                           ir::ToString(context.shape(1)));
  }
  context.SetResult(0, ir::DType::kBool, *shape);
  return {};
}

Status CheckBool(const ir::InferContext& context) {
  if (context.dtype(0) == ir::DType::kBool) return {};
  return context.Invalid("operand is {}, but must be bool", Name(context.dtype(0)));
}

Status InferLogic(ir::InferContext& context) {
  OCTAVO_CHECK(CheckBool(context));
  return InferComparison(context);
}

Status InferNot(ir::InferContext& context) {
  OCTAVO_CHECK(CheckBool(context));
  return InferSameType(context);
}

Status InferFloatTest(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  context.SetResult(0, ir::DType::kBool, context.shape(0));
  return {};
}

template <class T, class F>
void Compare(const ir::Tensor& a, const ir::Tensor& b, ir::Tensor& result, F&& compare) {
  const auto from_a = a.values<T>(), from_b = b.values<T>();
  const auto to = result.mutable_values<bool>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = compare(from_a[i], from_b[i]);
}

// result = compare(a, b), element by element.
template <class F>
Status CompareAll(const ir::EvalContext& context, F&& compare) {
  ir::Tensor& result = context.out();
  const ir::Tensor a = BroadcastTo(context.in(0), result.shape(), context.pool);
  const ir::Tensor b = BroadcastTo(context.in(1), result.shape(), context.pool);
  VisitDType(a.dtype(), [&]<class T>(T) { Compare<T>(a, b, result, compare); });
  return {};
}

Status Not(const ir::EvalContext& context) {
  std::ranges::transform(context.in(0).values<bool>(), context.out().mutable_values<bool>().begin(),
                         [](bool x) { return !x; });
  return {};
}

// result = test(x), with x converted to double.
template <class F>
Status TestAll(const ir::EvalContext& context, F&& test) {
  const auto to = context.out().mutable_values<bool>();
  for (size_t i = 0; i < to.size(); ++i) {
    to[i] = test(context.in(0).FloatAt(static_cast<int64_t>(i)));
  }
  return {};
}

Status IsNaN(const ir::EvalContext& context) {
  return TestAll(context, [](double x) { return std::isnan(x); });
}

Status IsInf(const ir::EvalContext& context) {
  const bool negative = context.node.attributes.Int("detect_negative", 1) != 0;
  const bool positive = context.node.attributes.Int("detect_positive", 1) != 0;
  return TestAll(context, [=](double x) { return std::isinf(x) && (x < 0 ? negative : positive); });
}

constexpr ir::AttrSpec kIsInfAttributes[] = {{"detect_negative", ir::AttrKind::kInt},
                                             {"detect_positive", ir::AttrKind::kInt}};

// Builds a row from a generic lambda of two operands.
template <class Function>
constexpr OpDef Comparison(std::string_view name, Since since, Function) {
  return {
      .name = name,
      .since = since,
      .inputs = {2, 2},
      .quant = kNotReal,
      .infer = &InferComparison,
      .definition = [](const ir::EvalContext& context) { return CompareAll(context, Function()); },
      .depends_on_order = true};
}

constexpr OpDef Commutative(OpDef row) {
  row.commutative = true;
  return row;
}

template <class Function>
constexpr OpDef Logic(std::string_view name, Function function) {
  OpDef row = Commutative(Comparison(name, Since(1), function));
  row.infer = &InferLogic;
  row.depends_on_order = false;
  return row;
}

}  // namespace

extern constexpr OpDef kEqual =
    Commutative(Comparison("Equal", Since(1), [](auto a, auto b) { return a == b; }));
extern constexpr OpDef kGreater =
    Comparison("Greater", Since(1), [](auto a, auto b) { return a > b; });
extern constexpr OpDef kGreaterOrEqual =
    Comparison("GreaterOrEqual", Since(12), [](auto a, auto b) { return a >= b; });
extern constexpr OpDef kLess = Comparison("Less", Since(1), [](auto a, auto b) { return a < b; });
extern constexpr OpDef kLessOrEqual =
    Comparison("LessOrEqual", Since(12), [](auto a, auto b) { return a <= b; });

extern constexpr OpDef kAnd = Logic("And", [](auto a, auto b) { return a && b; });
extern constexpr OpDef kOr = Logic("Or", [](auto a, auto b) { return a || b; });
extern constexpr OpDef kXor = Logic("Xor", [](auto a, auto b) { return a != b; });
extern constexpr OpDef kNot{
    .name = "Not", .since = Since(1), .quant = kNotReal, .infer = &InferNot, .definition = &Not};

extern constexpr OpDef kIsNaN{.name = "IsNaN",
                              .since = Since(9),
                              .quant = kNotReal,
                              .infer = &InferFloatTest,
                              .definition = &IsNaN};
extern constexpr OpDef kIsInf{.name = "IsInf",
                              .since = Since(10),
                              .attributes = kIsInfAttributes,
                              .quant = kNotReal,
                              .infer = &InferFloatTest,
                              .definition = &IsInf};

}  // namespace octavo::ops
