// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/execution.h"

#include "core/base/current_node.h"
#include "core/runtime/execution_state.h"
#include "core/runtime/plan/unsigned_activations.h"

namespace octavo::runtime {

using ir::Tensor;
using ir::ValueId;

Execution::Execution(std::unique_ptr<State> state) : state_(std::move(state)) {}
Execution::Execution(Execution&&) noexcept = default;
Execution& Execution::operator=(Execution&&) noexcept = default;
Execution::~Execution() = default;

Execution::State::~State() {
  if (workspace == nullptr) return;
  for (size_t i = 0; i < workspace->slots.size(); ++i) {
    const Slot::Kind kind = program.slots[i].kind;
    if (kind == Slot::Kind::kInput || kind == Slot::Kind::kOutput) workspace->slots[i] = Tensor();
  }
  workspaces.Return(std::move(workspace));
}

Status Execution::State::Bind(const std::vector<Tensor>& inputs) {
  if (inputs.size() != program.inputs.size()) {
    return Fail(Code::kInvalidArgument, "the graph has {} inputs, but {} tensors are given",
                program.inputs.size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Slot& slot = program.slots[program.inputs[i]];
    if (inputs[i].dtype() != slot.dtype || inputs[i].shape() != slot.shape) {
      return Fail(Code::kInvalidArgument, "input '{}' is {} {}, but must be {}",
                  graph.name(slot.value), ir::ToString(inputs[i].shape()), Name(inputs[i].dtype()),
                  ir::ToString(graph.type(slot.value)))
          .Field(graph.name(slot.value));
    }
    workspace->slots[program.inputs[i]] = inputs[i];
  }
  for (const int index : program.outputs) {
    const Slot& slot = program.slots[index];
    if (slot.kind == Slot::Kind::kOutput) workspace->slots[index] = Tensor(slot.dtype, slot.shape);
  }
  return {};
}

Status Execution::State::Compute(const runtime::Step& step) {
  std::vector<const Tensor*> inputs;
  inputs.reserve(step.inputs.size());
  for (const int slot : step.inputs) {
    inputs.push_back(slot < 0 ? nullptr : &workspace->slots[slot]);
  }
  std::vector<Tensor> results;
  results.reserve(step.results.size());
  for (const int slot : step.results) results.push_back(workspace->slots[slot]);
  return step.prepared.run({.inputs = inputs,
                            .results = results,
                            .scratch = workspace->memory.get() + step.scratch_offset,
                            .pool = &pool});
}

Status Execution::State::ComputeTimed(const runtime::Step& step) {
  const auto seconds = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  const Clock::time_point start = Clock::now();
  if (!first) first = start;
  OCTAVO_CHECK(Compute(step));
  profile->push_back({.node = step.node,
                      .op = std::string(step.op),
                      .kernel = std::string(step.kernel),
                      .isa = std::string(step.isa),
                      .begin = seconds(start - *first),
                      .seconds = seconds(Clock::now() - start),
                      .operations = step.prepared.operations});
  return {};
}

int Execution::State::SlotOf(ValueId value) const {
  for (const int slot : program.steps[at - 1].watched) {
    if (program.slots[slot].value == value) return slot;
  }
  return -1;
}

bool Execution::done() const { return state_->at == state_->program.steps.size(); }

std::vector<ValueId> Execution::next() const {
  std::vector<ValueId> values;
  for (const int slot : state_->program.steps[state_->at].watched) {
    values.push_back(state_->program.slots[slot].value);
  }
  return values;
}

Status Execution::Step(const StopToken& stop) {
  OCTAVO_CHECK(stop.Check());
  const runtime::Step& step = state_->program.steps[state_->at++];
  if (!step.prepared.run) return {};
  const CurrentNode current(step.node);
  return state_->profile ? state_->ComputeTimed(step) : state_->Compute(step);
}

const Tensor& Execution::Value(ValueId value) {
  const int index = state_->SlotOf(value);
  const Slot& slot = state_->program.slots[index];
  const bool is_raised = slot.dtype != state_->graph.type(value).dtype;
  const Tensor& stored = state_->workspace->slots[index];
  state_->value = is_raised ? AsSigned(stored) : stored;
  if (slot.layout == Layout::kPlain) return state_->value;
  Tensor plain = state_->workspace->Plain(state_->value.dtype(), slot.shape);
  ConvertLayout(state_->value, slot.layout, plain, state_->pool);
  return state_->value = std::move(plain);
}

void Execution::Replace(ValueId value, const Tensor& elements) {
  const int index = state_->SlotOf(value);
  const Slot& slot = state_->program.slots[index];
  if (slot.kind != Slot::Kind::kBuffer && slot.kind != Slot::Kind::kOutput) return;
  Tensor& stored = state_->workspace->slots[index];
  if (slot.layout == Layout::kPlain) {
    std::ranges::copy(elements.raw_bytes(), stored.mutable_raw());
  } else {
    ConvertLayout(elements, Layout::kPlain, stored, state_->pool);
  }
}

std::vector<Tensor> Execution::outputs() const {
  std::vector<Tensor> outputs;
  for (const int index : state_->program.outputs) {
    outputs.push_back(state_->workspace->slots[index]);
  }
  return outputs;
}

}  // namespace octavo::runtime
