// SPDX-License-Identifier: Apache-2.0
#include "tests/core/properties/run_values.h"

#include <cmath>
#include <limits>

#include "core/float_exec/run.h"
#include "core/ops/quantize_math.h"
#include "core/runtime/plan.h"
#include "core/runtime/plan/fold_constants.h"

namespace octavo::test {

RunValues RunValues::Given(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs) {
  RunValues values;
  values.graph_ = &graph;
  values.stored_.resize(graph.value_bound());
  values.real_values_.resize(graph.value_bound());
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ir::ValueId{static_cast<int32_t>(i)});
    if (!value.erased && value.constant) values.stored_[i] = value.constant->tensor;
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    values.stored_[graph.inputs()[i].index] = inputs[i];
  }
  return values;
}

Result<RunValues> RunValues::Of(const ir::Graph& graph, const std::vector<ir::Tensor>& inputs) {
  RunValues values = Given(graph, inputs);
  ThreadPool pool(1);
  OCTAVO_TRY(float_exec::Session session, float_exec::Session::Create(graph));
  const auto watch = [&](ir::ValueId id, const ir::Tensor& tensor) {
    values.stored_[id.index] = tensor;
  };
  OCTAVO_TRY(const std::vector<ir::Tensor> outputs, session.Run(inputs, pool, {}, watch));
  for (size_t i = 0; i < outputs.size(); ++i) {
    values.stored_[graph.outputs()[i].index] = outputs[i];
  }
  return values;
}

Result<RunValues> RunValues::InIntegers(const ir::Graph& graph,
                                        const std::vector<ir::Tensor>& inputs,
                                        const numerics::Mode& mode) {
  RunValues values = Given(graph, inputs);
  ThreadPool pool(1);
  // A plan computes what follows from constants before any run, so no run shows it.
  OCTAVO_TRY(const runtime::FixedValues fixed, runtime::FoldConstants(graph, mode, pool));
  for (const auto& [id, tensor] : fixed) values.stored_[id.index] = tensor;
  OCTAVO_TRY(const runtime::Plan plan,
             runtime::Plan::Create(graph, {.numerics = &mode, .keep_all_values = true}, pool));
  const auto watch = [&](ir::ValueId id, const ir::Tensor& tensor) {
    values.stored_[id.index] = tensor.Clone();
  };
  OCTAVO_TRY(const std::vector<ir::Tensor> outputs, plan.Run(inputs, pool, {}, watch));
  for (size_t i = 0; i < outputs.size(); ++i) {
    values.stored_[graph.outputs()[i].index] = outputs[i];
  }
  return values;
}

const std::vector<double>& RunValues::real_values(ir::ValueId id) const {
  std::vector<double>& real_values = real_values_[id.index];
  const ir::Tensor& tensor = stored_[id.index];
  if (!real_values.empty() || tensor.size() == 0) return real_values;
  const ir::Type& type = graph_->type(id);
  const ir::Tensor real = type.quantized() ? ops::DequantizeTensor(tensor, *type.quant) : tensor;
  for (int64_t i = 0; i < real.size(); ++i) real_values.push_back(real.FloatAt(i));
  return real_values;
}

double Distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double distance = std::fabs(a[i] - b[i]);
    if (!(distance <= largest)) largest = distance;  // keeps a NaN
    if (std::isnan(distance)) return std::numeric_limits<double>::infinity();
  }
  return largest;
}

}  // namespace octavo::test
