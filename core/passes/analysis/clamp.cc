// SPDX-License-Identifier: Apache-2.0
#include "core/passes/analysis/clamp.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/parallel.h"
#include "core/float_exec/run.h"
#include "core/ops/quantize_math.h"
#include "core/passes/analysis/type_range.h"
#include "core/passes/rewrite.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Type;

// For each possible value: the stored integer, the dequantized value, and that value clamped.
struct Clamped {
  std::vector<int32_t> stored = {};
  std::vector<float> values = {}, clamped = {};
};

std::optional<std::vector<float>> ClampedValues(const Graph& graph, const Node& node,
                                                const std::vector<float>& values) {
  const auto count = static_cast<int64_t>(values.size());
  ir::Tensor operand(ir::DType::kF32, {count});
  std::ranges::copy(values, operand.mutable_values<float>().begin());
  std::vector<const ir::Tensor*> inputs = {&operand};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && !graph.IsConstant(node.inputs[i])) return std::nullopt;
    inputs.push_back(node.inputs[i] ? &graph.value(node.inputs[i]).constant->tensor : nullptr);
  }
  ThreadPool pool(1);
  const auto results =
      float_exec::Evaluate(node, inputs, {Type{ir::DType::kF32, {count}, {}, {}}}, pool);
  if (!results) return std::nullopt;
  const auto clamped = (*results)[0].values<float>();
  return std::vector<float>(clamped.begin(), clamped.end());
}

bool CanBeEnumerated(const Node& node, const Type& type) {
  return node.op->clamps && type.quant->per_tensor() && ir::SizeOf(type.dtype) <= 2;
}

std::optional<Clamped> ClampedOf(const Graph& graph, const Node& node, const Type& type,
                                 const numerics::Mode& mode) {
  if (!CanBeEnumerated(node, type)) return std::nullopt;
  const ir::IntegerRange range = PossibleValues(type, 0, mode);
  Clamped all;
  for (int64_t code = range.min; code <= range.max; ++code) {
    all.stored.push_back(static_cast<int32_t>(code));
    all.values.push_back(
        ops::DequantizeOne(all.stored.back(), type.quant->scale(), type.quant->zero_point()));
  }
  auto clamped = ClampedValues(graph, node, all.values);
  if (!clamped) return std::nullopt;
  all.clamped = *std::move(clamped);
  return all;
}

int32_t CodeOf(float real, const Type& type, const numerics::Mode& mode) {
  return numerics::QuantizeOne(mode.quantize, real, numerics::ChannelQuant::Of(type),
                               ir::IntegerRangeOf(type.dtype));
}

}  // namespace

bool SelectsOperand(const Node& node) {
  return node.op->clamps || node.op->moves_data == ir::Movement::kSelect;
}

std::optional<Ends> ClampEnds(const Graph& graph, const Node& node) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto ends = ClampedValues(graph, node, {-infinity, infinity});
  if (!node.op->clamps || !ends) return std::nullopt;
  return Ends{(*ends)[0], (*ends)[1]};
}

bool ClampIsIdentity(const Graph& graph, const Node& node, const Type& type,
                     const numerics::Mode& mode) {
  // The proven range may result from this very clamp, so it must not be used here.
  Type whole = type;
  whole.range.reset();
  const auto all = ClampedOf(graph, node, whole, mode);
  if (!all) return false;
  for (size_t i = 0; i < all->stored.size(); ++i) {
    if (CodeOf(all->clamped[i], type, mode) != all->stored[i]) return false;
  }
  return true;
}

bool ClampKeepsRealValues(const Graph& graph, const Node& node, const Type& type,
                          const numerics::Mode& mode) {
  if (!CanBeEnumerated(node, type)) return false;
  // A monotone clamp that keeps the two end values also keeps all values between them.
  const ir::IntegerRange range = PossibleValues(type, 0, mode);
  std::vector<float> ends;
  for (const int64_t code : {range.min, range.max}) {
    ends.push_back(ops::DequantizeOne(static_cast<int32_t>(code), type.quant->scale(),
                                      type.quant->zero_point()));
  }
  return ClampedValues(graph, node, ends) == ends;
}

bool ClampIsRepresentable(const Graph& graph, const Node& node, const Type& type,
                          const numerics::Mode& mode) {
  const auto all = ClampedOf(graph, node, type, mode);
  if (!all) return false;
  return std::ranges::all_of(all->clamped, [&](float real) {
    return ops::DequantizeOne(CodeOf(real, type, mode), type.quant->scale(),
                              type.quant->zero_point()) == real;
  });
}

}  // namespace octavo::passes
