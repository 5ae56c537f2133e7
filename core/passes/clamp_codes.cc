#include "core/passes/clamp_codes.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/parallel.h"
#include "core/ops/mode_quantize.h"
#include "core/ops/quantize_math.h"
#include "core/passes/rewrite.h"
#include "core/passes/type_range.h"
#include "core/reference/run.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Type;

// Per code that occurs: the code, its real, and what the clamp makes of that.
struct Clamped {
  std::vector<int32_t> codes = {};
  std::vector<float> reals = {}, clamped = {};
};

std::optional<std::vector<float>> ClampedReals(const Graph& graph, const Node& node,
                                               const std::vector<float>& reals) {
  const auto count = static_cast<int64_t>(reals.size());
  ir::Tensor operand(ir::DType::kF32, {count});
  std::ranges::copy(reals, operand.mutable_values<float>().begin());
  std::vector<const ir::Tensor*> inputs = {&operand};
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    if (node.inputs[i] && !graph.IsConstant(node.inputs[i])) return std::nullopt;
    inputs.push_back(node.inputs[i] ? &graph.value(node.inputs[i]).constant->tensor : nullptr);
  }
  ThreadPool pool(1);
  const auto results =
      reference::Evaluate(node, inputs, {Type{ir::DType::kF32, {count}, {}, {}}}, pool);
  if (!results) return std::nullopt;
  const auto clamped = (*results)[0].values<float>();
  return std::vector<float>(clamped.begin(), clamped.end());
}

bool CanBeEnumerated(const Node& node, const Type& type) {
  return node.op->clamps && type.quant->per_tensor() && ir::SizeOf(type.dtype) <= 2;
}

std::optional<Clamped> ClampedOf(const Graph& graph, const Node& node, const Type& type,
                                 ir::Numerics mode) {
  if (!CanBeEnumerated(node, type)) return std::nullopt;
  const ir::CodeRange range = OccurringCodes(type, 0, mode);
  Clamped all;
  for (int64_t code = range.min; code <= range.max; ++code) {
    all.codes.push_back(static_cast<int32_t>(code));
    all.reals.push_back(
        ops::DequantizeOne(all.codes.back(), type.quant->scale(), type.quant->zero_point()));
  }
  auto clamped = ClampedReals(graph, node, all.reals);
  if (!clamped) return std::nullopt;
  all.clamped = *std::move(clamped);
  return all;
}

int32_t CodeOf(float real, const Type& type, ir::Numerics mode) {
  return ops::QuantizeOneIn(mode, real, type.quant->scale(), type.quant->zero_point(),
                            ir::CodesOf(type.dtype));
}

}  // namespace

bool Chooses(const Node& node) {
  static constexpr std::array<std::string_view, 2> kOfOperands = {"Max", "Min"};
  return node.op->clamps ||
         std::ranges::any_of(kOfOperands, [&](std::string_view op) { return Is(node, op); });
}

std::optional<Ends> ClampEnds(const Graph& graph, const Node& node) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto ends = ClampedReals(graph, node, {-infinity, infinity});
  if (!node.op->clamps || !ends) return std::nullopt;
  return Ends{(*ends)[0], (*ends)[1]};
}

bool ClampKeepsCodes(const Graph& graph, const Node& node, const Type& type, ir::Numerics mode) {
  // The clamp itself may be what proves the type's range.
  Type whole = type;
  whole.range.reset();
  const auto all = ClampedOf(graph, node, whole, mode);
  if (!all) return false;
  for (size_t i = 0; i < all->codes.size(); ++i) {
    if (CodeOf(all->clamped[i], type, mode) != all->codes[i]) return false;
  }
  return true;
}

bool ClampKeepsReals(const Graph& graph, const Node& node, const Type& type, ir::Numerics mode) {
  if (!CanBeEnumerated(node, type)) return false;
  // What lies between two reals that a clamp leaves as they are is left as well.
  const ir::CodeRange range = OccurringCodes(type, 0, mode);
  std::vector<float> ends;
  for (const int64_t code : {range.min, range.max}) {
    ends.push_back(ops::DequantizeOne(static_cast<int32_t>(code), type.quant->scale(),
                                      type.quant->zero_point()));
  }
  return ClampedReals(graph, node, ends) == ends;
}

bool ClampGivesCodes(const Graph& graph, const Node& node, const Type& type, ir::Numerics mode) {
  const auto all = ClampedOf(graph, node, type, mode);
  if (!all) return false;
  return std::ranges::all_of(all->clamped, [&](float real) {
    return ops::DequantizeOne(CodeOf(real, type, mode), type.quant->scale(),
                              type.quant->zero_point()) == real;
  });
}

}  // namespace octavo::passes
