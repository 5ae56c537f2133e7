// SPDX-License-Identifier: Apache-2.0
#include "tests/golden/check_numbers.h"

#include <algorithm>
#include <cmath>

#include "core/ops/quantize_math.h"
#include "core/passes/pass.h"
#include "core/runtime/plan.h"
#include "tests/support/random_inputs.h"
#include "tests/support/run_graph.h"

namespace octavo::golden {
namespace {

using passes::Effect;
using test::KeptValue;
using test::ValuesByName;

constexpr int kRuns = 5;
constexpr double kRealTolerance = 2e-5;

Effect WeakestOf(std::span<const passes::LedgerEntry> ledger) {
  Effect weakest = Effect::kExact;
  for (const passes::LedgerEntry& entry : ledger) weakest = std::max(weakest, entry.effect);
  return weakest;
}

bool SameType(const ir::Type& a, const ir::Type& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.quant == b.quant;
}

double LargestMagnitude(const ir::Tensor& tensor) {
  double largest = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    largest = std::max(largest, std::fabs(tensor.FloatAt(i)));
  }
  return largest;
}

// One quantization step of a float output is the coarsest scale in its graph.
double CoarsestScale(const ValuesByName& values) {
  double coarsest = 0;
  for (const auto& [name, value] : values) {
    if (!value.type.quant || value.type.dtype == ir::DType::kI32) continue;
    for (const float scale : value.type.quant->scales) {
      coarsest = std::max<double>(coarsest, scale);
    }
  }
  return coarsest;
}

Status CheckEqual(std::string_view name, const KeptValue& a, const KeptValue& b) {
  if (a.tensor == b.tensor) return {};
  for (int64_t i = 0; i < a.tensor.size(); ++i) {
    const double x = a.tensor.FloatAt(i), y = b.tensor.FloatAt(i);
    if (x == y) continue;
    return Fail(Code::kInternal, "'{}' element {} was {} and is {}, but the effect is exact", name,
                i, x, y);
  }
  return Fail(Code::kInternal, "'{}' changed its bits, but the effect is exact", name);
}

Status CheckNear(std::string_view name, const KeptValue& a, const KeptValue& b, double tolerance) {
  for (int64_t i = 0; i < a.tensor.size(); ++i) {
    const double x = a.tensor.FloatAt(i), y = b.tensor.FloatAt(i);
    if (std::fabs(x - y) <= tolerance || x == y || (std::isnan(x) && std::isnan(y))) continue;
    return Fail(Code::kInternal, "'{}' element {} was {} and is {}, more than {} apart", name, i, x,
                y, tolerance);
  }
  return {};
}

Status CheckAll(const ir::Graph& graph, const ValuesByName& before, const ValuesByName& after,
                Effect effect, std::optional<double> steps) {
  const double coarsest = std::max(CoarsestScale(before), CoarsestScale(after));
  for (const auto& [name, value] : before) {
    const auto at = after.find(name);
    if (at == after.end() || !SameType(value.type, at->second.type)) continue;
    const bool within = effect == Effect::kFewerRoundings || effect == Effect::kNewArithmetic;
    if (steps || within) {
      if (!graph.IsOutput(graph.Find(name))) continue;
      const double most = steps.value_or(1) * (1 + 1e-5);
      OCTAVO_CHECK(
          CheckNear(name, value, at->second, value.type.quantized() ? most : most * coarsest));
    } else if (effect == Effect::kExact) {
      OCTAVO_CHECK(CheckEqual(name, value, at->second));
    } else if (effect == Effect::kRealExact) {
      const double tolerance = kRealTolerance * std::max(1.0, LargestMagnitude(value.tensor));
      OCTAVO_CHECK(CheckNear(name, value, at->second, value.type.quantized() ? 1 : tolerance));
    }
  }
  return {};
}

Result<runtime::Plan> PlanIn(const numerics::Mode& mode, const ir::Graph& graph, ThreadPool& pool) {
  return runtime::Plan::Create(graph, {.numerics = &mode, .keep_all_values = true}, pool);
}

// Runs mode `onnx` by definition, and the other modes with the runtime, which defines them.
Result<ValuesByName> RunIn(const numerics::Mode& mode, const ir::Graph& graph,
                           const std::vector<ir::Tensor>& inputs) {
  if (mode.qlinear) return test::RunGraph(graph, inputs);
  ThreadPool pool(1);
  OCTAVO_TRY(const runtime::Plan plan, PlanIn(mode, graph, pool));
  ValuesByName values;
  const auto keep = [&](ir::ValueId id, const ir::Tensor& tensor) {
    values.insert_or_assign(graph.name(id), KeptValue{graph.type(id), tensor.Clone()});
  };
  OCTAVO_TRY(const std::vector<ir::Tensor> outputs, plan.Run(inputs, pool, {}, keep));
  for (size_t i = 0; i < outputs.size(); ++i) keep(graph.outputs()[i], outputs[i]);
  return values;
}

}  // namespace

bool IsDefined(const ir::Graph& graph, const numerics::Mode& mode) {
  ThreadPool pool(1);
  return PlanIn(mode, graph, pool).has_value();
}

Status CheckNumbers(const ir::Graph& before, const ir::Graph& after,
                    std::span<const passes::LedgerEntry> ledger, const numerics::Mode& mode,
                    std::optional<double> steps) {
  const Effect effect = WeakestOf(ledger);
  const bool defined = IsDefined(before, mode) && IsDefined(after, mode);
  const numerics::Mode& used = defined ? mode : numerics::kOnnx;
  for (int run = 1; run <= kRuns; ++run) {
    const std::vector<ir::Tensor> inputs = test::RandomInputs(before, run);
    OCTAVO_TRY(const ValuesByName was, RunIn(used, before, inputs));
    std::vector<ir::Tensor> quantized = inputs;
    for (size_t i = 0; i < inputs.size(); ++i) {
      // With --integer-io, an input has quantized values.
      const ir::Type& type = after.type(after.inputs()[i]);
      // The stored integers stay if a pass only attached a type to an integer input.
      if (before.type(before.inputs()[i]).dtype == type.dtype) continue;
      quantized[i] = ops::QuantizeTensor(mode.quantize, inputs[i], type);
    }
    OCTAVO_TRY(const ValuesByName is, RunIn(used, after, quantized));
    OCTAVO_CHECK(CheckAll(before, was, is, effect, steps));
  }
  return {};
}

}  // namespace octavo::golden
