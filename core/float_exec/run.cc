// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/run.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/current_node.h"
#include "core/base/mapped_pages.h"
#include "core/float_exec/buffers.h"
#include "core/float_exec/computation.h"
#include "core/ops/quantize_math.h"

namespace octavo::float_exec {
namespace {

using ir::DType;
using ir::Graph;
using ir::Node;
using ir::NodeId;
using ir::Tensor;
using ir::Type;
using ir::ValueId;

struct Step {
  NodeId node = {};
  Computation computation = {};
  bool is_given = false;
  bool reinterprets = false;            // attaches quantization parameters to plain integers
  std::vector<ValueId> last_uses = {};  // values that later steps do not read
};

// Limit in bytes for prepacked weights.  Weights beyond it are packed in each run or read in place,
// so that memory does not hold a large model twice.
constexpr int64_t kMaxPacked = int64_t{128} << 20;

// Releases the mapped pages of large constants after a node has run.
void ReleaseConstants(std::span<const Tensor* const> inputs) {
  for (const Tensor* input : inputs) {
    if (input != nullptr && static_cast<size_t>(input->bytes()) >= kWorthReleasing) {
      ReleasePages(input->raw_bytes());
    }
  }
}

// Whether the node only attaches quantization parameters to plain integers.
bool Reinterprets(const Graph& graph, const Node& node) {
  if (node.op->domain != "octavo" || node.inputs.size() != 1 || node.results.size() != 1) {
    return false;
  }
  const Type& from = graph.type(node.inputs[0]);
  const Type& to = graph.type(node.results[0]);
  return !from.quantized() && to.quantized() && from.dtype == to.dtype;
}

}  // namespace

struct Session::State {
  const Graph& graph;
  std::vector<ValueId> given = {};
  std::vector<Step> steps = {};
  // Constants and values that depend only on constants, as the graph stores them.
  std::unordered_map<ValueId, Tensor> fixed = {};
  // The quantized values among them, dequantized.
  std::unordered_map<ValueId, Tensor> fixed_floats = {};
  Buffers buffers = {};
  int64_t packed_bytes = 0;
  // State of the current run.
  std::unordered_map<ValueId, Tensor> values = {};
  size_t next = 0;

  Status Plan();
  Status PlanNode(NodeId id, ThreadPool& pool);
  void FindLastUses();
  Tensor Expressed(ValueId id, const Tensor& stored, ThreadPool& pool);
  Result<std::vector<Tensor>> RunStep(const Step& step, ThreadPool& pool);
};

Tensor Session::State::Expressed(ValueId id, const Tensor& stored, ThreadPool& pool) {
  const Type& type = graph.type(id);
  if (!type.quantized()) return stored;
  if (const auto at = fixed_floats.find(id); at != fixed_floats.end()) return at->second;
  Tensor real = buffers.Make(DType::kF32, type.shape, Buffers::Start::kArbitrary);
  ops::DequantizeInto(stored, *type.quant, real, &pool);
  if (fixed.count(id)) fixed_floats.emplace(id, real);
  return real;
}

Result<std::vector<Tensor>> Session::State::RunStep(const Step& step, ThreadPool& pool) {
  const Node& node = graph.node(step.node);
  const auto stored = [&](ValueId id) -> const Tensor& {
    const auto at = fixed.find(id);
    return at != fixed.end() ? at->second : values.at(id);
  };
  if (step.reinterprets) return std::vector<Tensor>{stored(node.inputs[0])};
  std::vector<Tensor> operands;
  std::vector<const Tensor*> inputs;
  operands.reserve(node.inputs.size());
  for (const ValueId id : node.inputs) {
    if (id) operands.push_back(Expressed(id, stored(id), pool));
    inputs.push_back(id ? &operands.back() : nullptr);
  }
  const auto start =
      step.computation.overwrites ? Buffers::Start::kArbitrary : Buffers::Start::kZeroed;
  std::vector<Tensor> results;
  for (const ValueId id : node.results) {
    const Type type = graph.type(id).Expressed();
    results.push_back(buffers.Make(type.dtype, type.shape, start));
  }
  OCTAVO_CHECK(
      step.computation.run({.node = node, .inputs = inputs, .results = results, .pool = &pool}));
  ReleaseConstants(inputs);
  for (size_t i = 0; i < results.size(); ++i) {
    const Type& type = graph.type(node.results[i]);
    if (!type.quantized()) continue;
    Tensor stored_result = buffers.Make(type.dtype, type.shape, Buffers::Start::kArbitrary);
    ops::QuantizeInto(results[i], type, stored_result, &pool);
    results[i] = std::move(stored_result);
  }
  return results;
}

Status Session::State::PlanNode(NodeId id, ThreadPool& pool) {
  const Node& node = graph.node(id);
  Step step{.node = id, .reinterprets = Reinterprets(graph, node)};
  if (std::ranges::find(given, node.results[0]) != given.end()) {
    step.is_given = true;
    steps.push_back(std::move(step));
    return {};
  }
  std::vector<ir::Shape> shapes;
  std::vector<Tensor> floats;
  std::vector<const Tensor*> constants;
  floats.reserve(node.inputs.size());
  bool all_fixed = true;
  for (const ValueId input : node.inputs) {
    shapes.push_back(input ? graph.type(input).shape : ir::Shape{});
    const auto at = input ? fixed.find(input) : fixed.end();
    if (input && at == fixed.end()) all_fixed = false;
    if (at != fixed.end()) floats.push_back(Expressed(input, at->second, pool));
    constants.push_back(at != fixed.end() ? &floats.back() : nullptr);
    if (constants.back() == nullptr) continue;
    if (packed_bytes + constants.back()->bytes() > kMaxPacked) {
      constants.back() = nullptr;
    } else {
      packed_bytes += constants.back()->bytes();
    }
  }
  OCTAVO_TRY(step.computation, Prepare(node, shapes, constants));
  ReleaseConstants(constants);
  if (all_fixed) {
    OCTAVO_TRY(std::vector<Tensor> results, RunStep(step, pool));
    for (size_t i = 0; i < results.size(); ++i) fixed.emplace(node.results[i], results[i]);
  }
  steps.push_back(std::move(step));
  return {};
}

void Session::State::FindLastUses() {
  std::vector<bool> seen(graph.value_bound(), false);
  for (const ValueId output : graph.outputs()) seen[output.index] = true;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Node& node = graph.node(step->node);
    const auto visit = [&](ValueId id) {
      if (!id || seen[id.index]) return;
      seen[id.index] = true;
      step->last_uses.push_back(id);
    };
    for (const ValueId id : node.inputs) visit(id);
    for (const ValueId id : node.results) visit(id);  // a result may be unused
  }
}

Status Session::State::Plan() {
  ThreadPool alone(1);
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ValueId id{static_cast<int32_t>(i)};
    if (!graph.value(id).erased && graph.IsConstant(id)) {
      fixed.emplace(id, graph.value(id).constant->tensor);
    }
  }
  for (const NodeId id : graph.nodes()) OCTAVO_CHECK(PlanNode(id, alone));
  FindLastUses();
  return {};
}

Session::Session(std::unique_ptr<State> state) : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::Create(const Graph& graph, std::span<const ValueId> given) {
  auto state = std::make_unique<State>(State{graph, {given.begin(), given.end()}});
  OCTAVO_CHECK(state->Plan());
  return Session(std::move(state));
}

namespace {

Status CheckInputs(const Graph& graph, const std::vector<Tensor>& inputs) {
  if (inputs.size() != graph.inputs().size()) {
    return Fail(Code::kInvalidArgument, "the graph has {} inputs, but {} tensors are given",
                graph.inputs().size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const ValueId id = graph.inputs()[i];
    const Type& type = graph.type(id);
    if (inputs[i].dtype() != type.dtype || inputs[i].shape() != type.shape) {
      return Fail(Code::kInvalidArgument, "input '{}' is {} {}, but must be {}", graph.name(id),
                  ir::ToString(inputs[i].shape()), Name(inputs[i].dtype()), ir::ToString(type))
          .Field(graph.name(id));
    }
  }
  return {};
}

}  // namespace

Status Session::Start(const std::vector<Tensor>& inputs, std::span<const Tensor> given) {
  const Graph& graph = state_->graph;
  OCTAVO_CHECK(CheckInputs(graph, inputs));
  state_->values.clear();
  state_->next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) state_->values[graph.inputs()[i]] = inputs[i];
  for (size_t i = 0; i < given.size(); ++i) state_->values[state_->given[i]] = given[i];
  return {};
}

bool Session::done() const { return state_->next == state_->steps.size(); }

Status Session::Advance(ThreadPool& pool, const StopToken& stop, const Watcher& watch) {
  OCTAVO_CHECK(stop.Check());
  const auto& fixed = state_->fixed;
  auto& values = state_->values;
  const Step& step = state_->steps[state_->next++];
  const Node& node = state_->graph.node(step.node);
  if (!step.is_given && !fixed.count(node.results[0])) {
    const CurrentNode current(node.name);
    OCTAVO_TRY(std::vector<Tensor> results, state_->RunStep(step, pool));
    for (size_t i = 0; i < results.size(); ++i) values[node.results[i]] = std::move(results[i]);
  }
  for (const ValueId id : node.results) {
    if (!watch) break;
    const auto at = fixed.find(id);
    watch(id, at != fixed.end() ? at->second : values.at(id));
  }
  for (const ValueId id : step.last_uses) values.erase(id);
  return {};
}

Result<std::vector<Tensor>> Session::Run(const std::vector<Tensor>& inputs, ThreadPool& pool,
                                         const StopToken& stop, const Watcher& watch) {
  OCTAVO_CHECK(Start(inputs));
  while (!done()) OCTAVO_CHECK(Advance(pool, stop, watch));
  std::vector<Tensor> outputs;
  for (const ValueId id : state_->graph.outputs()) {
    const auto at = state_->fixed.find(id);
    // Copy, because the next run reuses the session's memory.
    outputs.push_back(at != state_->fixed.end() ? at->second : state_->values.at(id).Clone());
  }
  state_->values.clear();
  return outputs;
}

Result<std::vector<Tensor>> Evaluate(const Node& node, const std::vector<const Tensor*>& inputs,
                                     const std::vector<Type>& result_types, ThreadPool& pool) {
  std::vector<ir::Shape> shapes;
  for (const Tensor* input : inputs) shapes.push_back(input ? input->shape() : ir::Shape{});
  OCTAVO_TRY(const Computation computation, Prepare(node, shapes, inputs));
  std::vector<Tensor> results;
  for (const Type& type : result_types) {
    const Type expressed = type.Expressed();
    results.emplace_back(expressed.dtype, expressed.shape);
  }
  OCTAVO_CHECK(
      computation.run({.node = node, .inputs = inputs, .results = results, .pool = &pool}));
  ReleaseConstants(inputs);
  return results;
}

}  // namespace octavo::float_exec
