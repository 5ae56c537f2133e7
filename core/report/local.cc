#include "core/report/local.h"

#include <map>

#include "core/ops/mode_quantize.h"
#include "core/report/carriers.h"
#include "core/report/pairs.h"
#include "core/runtime/kernel.h"
#include "core/runtime/row_codes.h"

namespace octavo::report {

using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Tensor;
using ir::Type;
using ir::ValueId;

struct LocalRuns::One {
  Graph graph;                     // one node; its inputs are the node's computed operands
  std::vector<ValueId> originals;  // the float-graph value of each input
  std::optional<runtime::Plan> plan;
  ValueId result;     // in the quantized graph
  ValueId reference;  // in the float graph
  double signal = 0, noise = 0;
};

namespace {

struct Extracted {
  Graph graph;
  std::vector<ValueId> originals;
};

// The node alone; nothing if an operand has no counterpart in the float graph.
std::optional<Extracted> Extract(const Graph& float_graph, const Graph& quantized, NodeId id) {
  const Node& node = quantized.node(id);
  Extracted one;
  std::map<ValueId, ValueId> copies;
  std::vector<ValueId> inputs;
  for (const ValueId input : node.inputs) {
    if (!input) {
      inputs.emplace_back();
      continue;
    }
    const auto [at, added] = copies.emplace(input, ValueId{});
    if (added) {
      const ir::Value& value = quantized.value(input);
      if (value.constant) {
        at->second = one.graph.AddConstant(value.name, value.constant, value.type);
      } else {
        const ValueId original = OriginalOf(float_graph, quantized, input);
        if (!original || float_graph.type(original).shape != value.type.shape) return std::nullopt;
        at->second = one.graph.AddInput(value.name, value.type);
        one.originals.push_back(original);
      }
    }
    inputs.push_back(at->second);
  }
  Graph::Definition definition{
      .name = node.name, .op = node.op, .inputs = inputs, .attributes = node.attributes};
  for (const ValueId result : node.results) {
    definition.results.emplace_back(quantized.name(result), quantized.type(result));
  }
  const NodeId copy = one.graph.AddNode(std::move(definition));
  one.graph.AddOutput(one.graph.node(copy).result());
  return one;
}

bool Computes(const Graph& graph, const Node& node) {
  return node.op->domain != "octavo" && !node.results.empty() &&
         graph.type(node.results[0]).quantized();
}

// As the runtime's own Quantize does where it has one.
Tensor QuantizeIn(ir::Numerics mode, const Tensor& real, const Type& type, ThreadPool& pool) {
  if (mode != ir::Numerics::kOnnx || !runtime::IsPlain8(type)) {
    return ops::QuantizeTensorIn(mode, real, type, &pool);
  }
  Tensor codes(type.dtype, type.shape);
  const float* from = real.values<float>().data();
  auto* to = reinterpret_cast<uint8_t*>(codes.mutable_raw());
  const auto& loops = runtime::rows::CurrentRows();
  pool.For(real.size(), runtime::kRowGrain, [&](int64_t begin, int64_t end) {
    loops.quantize(from + begin, end - begin, runtime::RowCodes(type), to + begin);
  });
  return codes;
}

}  // namespace

Result<LocalRuns> LocalRuns::Create(const Graph& float_graph, const Graph& quantized,
                                    const std::string& numerics, ThreadPool& pool) {
  LocalRuns local;
  local.mode_ = ir::ParseNumerics(numerics).value_or(ir::Numerics::kOnnx);
  for (const NodeId id : quantized.nodes()) {
    const Node& node = quantized.node(id);
    if (!Computes(quantized, node)) continue;
    const ValueId reference = OriginalOf(float_graph, quantized, node.result());
    if (!reference || float_graph.type(reference).shape != quantized.type(node.result()).shape) {
      continue;
    }
    std::optional<Extracted> extracted = Extract(float_graph, quantized, id);
    if (!extracted) continue;
    auto one = std::make_shared<One>();
    one->graph = std::move(extracted->graph);
    one->originals = std::move(extracted->originals);
    one->result = node.result();
    one->reference = reference;
    auto plan = runtime::Plan::Create(one->graph, {.numerics = numerics}, pool);
    if (!plan) return Forward(std::move(plan).error());
    one->plan.emplace(std::move(*plan));
    local.runs_.push_back(std::move(one));
  }
  return local;
}

Status LocalRuns::Add(const RealOf& real, ThreadPool& pool, const StopToken& stop) {
  for (const auto& one : runs_) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < one->originals.size(); ++i) {
      const Tensor* tensor = real(one->originals[i]);
      if (tensor == nullptr) break;
      const Type& type = one->graph.type(one->graph.inputs()[i]);
      inputs.push_back(type.quantized() ? QuantizeIn(mode_, *tensor, type, pool) : *tensor);
    }
    const Tensor* reference = real(one->reference);
    if (inputs.size() != one->originals.size() || reference == nullptr) continue;
    OCTAVO_TRY(const std::vector<Tensor> results, one->plan->Run(inputs, pool, stop));
    const Type& type = one->graph.type(one->graph.outputs()[0]);
    const PairSums sums = SumNoise(*reference, results[0], type, pool);
    one->signal += sums.signal;
    one->noise += sums.noise;
  }
  return {};
}

std::optional<double> LocalRuns::SqnrOf(ValueId value) const {
  for (const auto& one : runs_) {
    if (one->result == value) return SqnrDb(one->signal, one->noise);
  }
  return std::nullopt;
}

}  // namespace octavo::report
