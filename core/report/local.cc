#include "core/report/local.h"

#include <algorithm>

#include "core/ops/mode_quantize.h"
#include "core/report/carriers.h"
#include "core/report/pairs.h"
#include "core/runtime/kernel.h"
#include "core/runtime/row_codes.h"

namespace octavo::report {

using ir::Graph;
using ir::Node;
using ir::Tensor;
using ir::Type;
using ir::ValueId;

LocalRuns::LocalRuns(const Graph& float_graph, const Graph& quantized, ir::Numerics mode)
    : quantized_(quantized), mode_(mode) {
  Find(float_graph);
  for (const ir::NodeId id : quantized.nodes()) {
    const Node& node = quantized.node(id);
    if (RunsAlone(node)) shared_.at(node.result()).compared = true;
  }
}

// The values that have reals of their shape in the float graph, and its own inputs of any type.
void LocalRuns::Find(const Graph& float_graph) {
  const auto add = [&](ValueId id) {
    const ValueId reference = OriginalOf(float_graph, quantized_, id);
    if (!reference || float_graph.IsConstant(reference)) return;
    const Type& type = float_graph.type(reference);
    const bool real = type.dtype == ir::DType::kF32 || quantized_.IsInput(id);
    if (real && type.shape == quantized_.type(id).shape) {
      shared_.emplace(id, Shared{.reference = reference});
    }
  };
  for (const ValueId id : quantized_.inputs()) add(id);
  for (const ir::NodeId id : quantized_.nodes()) {
    for (const ValueId result : quantized_.node(id).results) add(result);
  }
}

bool LocalRuns::RunsAlone(const Node& node) const {
  if (node.op->domain == "octavo" || node.results.empty()) return false;
  if (!quantized_.type(node.result()).quantized() || !shared_.count(node.result())) return false;
  return std::ranges::all_of(node.inputs, [&](ValueId id) {
    return !id || quantized_.IsConstant(id) || shared_.count(id) > 0;
  });
}

ValueId LocalRuns::ReferenceOf(ValueId value) const {
  const auto at = shared_.find(value);
  return at == shared_.end() ? ValueId{} : at->second.reference;
}

// As the runtime's own Quantize does where it has one.
Tensor LocalRuns::Codes(const Tensor& real, const Type& type, ThreadPool& pool) {
  if (mode_ != ir::Numerics::kOnnx || !runtime::IsPlain8(type)) {
    return ops::QuantizeTensorIn(mode_, real, type, &pool);
  }
  Tensor codes = buffers_.Make(type.dtype, type.shape, reference::Buffers::Start::kArbitrary);
  const float* from = real.values<float>().data();
  auto* to = reinterpret_cast<uint8_t*>(codes.mutable_raw());
  const auto& loops = runtime::rows::CurrentRows();
  pool.For(real.size(), runtime::kRowGrain, [&](int64_t begin, int64_t end) {
    loops.quantize(from + begin, end - begin, runtime::RowCodes(type), to + begin);
  });
  return codes;
}

Status LocalRuns::Step(runtime::Execution& run, const RealOf& real, ThreadPool& pool,
                       const StopToken& stop) {
  const std::vector<ValueId> values = run.next();
  OCTAVO_CHECK(run.Step(stop));
  for (const ValueId id : values) {
    const auto at = shared_.find(id);
    const Tensor* reference = at == shared_.end() ? nullptr : real(at->second.reference);
    if (reference == nullptr) continue;
    const Type& type = quantized_.type(id);
    if (at->second.compared) {
      const PairSums sums = SumNoise(*reference, run.Value(id), type, pool);
      at->second.signal += sums.signal;
      at->second.noise += sums.noise;
    }
    if (quantized_.value(id).uses.empty()) continue;
    run.Replace(id, type.quantized() ? Codes(*reference, type, pool) : *reference);
  }
  return {};
}

std::optional<double> LocalRuns::SqnrOf(ValueId value) const {
  const auto at = shared_.find(value);
  if (at == shared_.end() || !at->second.compared) return std::nullopt;
  return SqnrDb(at->second.signal, at->second.noise);
}

}  // namespace octavo::report
