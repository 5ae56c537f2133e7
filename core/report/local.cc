// SPDX-License-Identifier: Apache-2.0
#include "core/report/local.h"

#include <algorithm>

#include "core/ir/output_channels.h"
#include "core/ops/quantize_math.h"
#include "core/report/counterparts.h"
#include "core/report/pairs.h"
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::report {

using ir::Graph;
using ir::Node;
using ir::Tensor;
using ir::Type;
using ir::ValueId;

LocalRuns::LocalRuns(const Graph& float_graph, const Graph& quantized, const numerics::Mode& mode)
    : quantized_(quantized), mode_(mode) {
  Find(float_graph);
  for (const ir::NodeId id : quantized.nodes()) {
    const Node& node = quantized.node(id);
    if (RunsAlone(node)) {
      Shared& shared = shared_.at(node.result());
      shared.compared = true;
      shared.useful = UsefulPart::Of(quantized, node.result());
    }
  }
}

// Collects the values whose counterpart is f32 with the same shape, and the graph inputs whose
// counterpart has the same shape.
void LocalRuns::Find(const Graph& float_graph) {
  const auto add = [&](ValueId id) {
    const ValueId baseline = BaselineOf(float_graph, quantized_, id);
    if (!baseline || float_graph.IsConstant(baseline)) return;
    const Type& type = float_graph.type(baseline);
    const bool comparable = type.dtype == ir::DType::kF32 || quantized_.IsInput(id);
    if (comparable && type.shape == quantized_.type(id).shape) {
      shared_.emplace(id, Shared{.baseline = baseline});
    }
  };
  for (const ValueId id : quantized_.inputs()) add(id);
  for (const ir::NodeId id : quantized_.nodes()) {
    for (const ValueId result : quantized_.node(id).results) add(result);
  }
}

bool LocalRuns::RunsAlone(const Node& node) const {
  if (node.op->domain == "octavo" || node.results.empty()) return false;
  const bool computes_integers =
      quantized_.type(node.result()).quantized() || ir::DequantizesSums(quantized_, node);
  if (!computes_integers || !shared_.count(node.result())) return false;
  return std::ranges::all_of(node.inputs, [&](ValueId id) {
    return !id || quantized_.IsConstant(id) || shared_.count(id) > 0;
  });
}

ValueId LocalRuns::BaselineFor(ValueId value) const {
  const auto at = shared_.find(value);
  return at == shared_.end() ? ValueId{} : at->second.baseline;
}

// Uses the vector loop of the runtime's Quantize kernel if the mode and the type permit it.
Tensor LocalRuns::Quantize(const Tensor& values, const Type& type, ThreadPool& pool) {
  if (mode_.quantize != numerics::kOnnx.quantize || !runtime::IsPlain8(type)) {
    return ops::QuantizeTensor(mode_.quantize, values, type, &pool);
  }
  Tensor quantized = buffers_.Make(type.dtype, type.shape, float_exec::Buffers::Start::kArbitrary);
  const float* from = values.values<float>().data();
  auto* to = reinterpret_cast<uint8_t*>(quantized.mutable_raw());
  const auto& loops = runtime::simd::CurrentKernels();
  pool.For(values.size(), runtime::kRowGrain, [&](int64_t begin, int64_t end) {
    loops.quantize(from + begin, end - begin, runtime::SimdQuant(type), to + begin);
  });
  return quantized;
}

Status LocalRuns::Step(runtime::Execution& run, const FloatTensorOf& float_tensor, ThreadPool& pool,
                       const StopToken& stop) {
  const std::vector<ValueId> values = run.next();
  OCTAVO_CHECK(run.Step(stop));
  for (const ValueId id : values) {
    const auto at = shared_.find(id);
    const Tensor* baseline = at == shared_.end() ? nullptr : float_tensor(at->second.baseline);
    if (baseline == nullptr) continue;
    const Type& type = quantized_.type(id);
    if (at->second.compared) {
      const std::optional<UsefulPart>& useful = at->second.useful;
      const PairSums sums =
          SumNoise(useful ? useful->Clamped(*baseline) : *baseline, run.Value(id), type, pool);
      at->second.signal += sums.signal;
      at->second.noise += sums.noise;
    }
    if (quantized_.value(id).uses.empty()) continue;
    run.Replace(id, type.quantized() ? Quantize(*baseline, type, pool) : *baseline);
  }
  return {};
}

std::optional<double> LocalRuns::SqnrOf(ValueId value) const {
  const auto at = shared_.find(value);
  if (at == shared_.end() || !at->second.compared) return std::nullopt;
  return SqnrDb(at->second.signal, at->second.noise);
}

}  // namespace octavo::report
