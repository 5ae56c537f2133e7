#include "core/runtime/plan.h"

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <new>

#include "core/runtime/program.h"
#include "core/runtime/unsigned_codes.h"

namespace octavo::runtime {
namespace {

using ir::Tensor;

// The memory of one run that goes on, and the tensors over it.
struct Workspace {
  std::shared_ptr<std::byte> memory = {};
  std::vector<Tensor> slots = {};
};

std::shared_ptr<std::byte> Allocate(int64_t bytes) {
  constexpr int64_t kAlignment = 64;
  const int64_t size = (bytes + kAlignment) / kAlignment * kAlignment;
  void* memory = std::aligned_alloc(kAlignment, static_cast<size_t>(size));
  if (memory == nullptr) throw std::bad_alloc();
  return {static_cast<std::byte*>(memory), [](std::byte* data) { std::free(data); }};
}

std::unique_ptr<Workspace> MakeWorkspace(const Program& program) {
  auto workspace = std::make_unique<Workspace>();
  workspace->memory = Allocate(program.workspace_bytes);
  for (const Slot& slot : program.slots) {
    switch (slot.kind) {
      case Slot::Kind::kFixed:
        workspace->slots.push_back(slot.fixed);
        break;
      case Slot::Kind::kBuffer:
        workspace->slots.emplace_back(slot.dtype, slot.shape, workspace->memory,
                                      workspace->memory.get() + slot.offset);
        break;
      case Slot::Kind::kInput:
      case Slot::Kind::kOutput:
        workspace->slots.emplace_back();
        break;
    }
  }
  return workspace;
}

}  // namespace

struct Plan::State {
  const ir::Graph& graph;
  Program program = {};
  std::mutex mutex = {};
  std::vector<std::unique_ptr<Workspace>> idle = {};

  std::unique_ptr<Workspace> Take() {
    {
      const std::lock_guard lock(mutex);
      if (!idle.empty()) {
        auto workspace = std::move(idle.back());
        idle.pop_back();
        return workspace;
      }
    }
    return MakeWorkspace(program);
  }
  void GiveBack(std::unique_ptr<Workspace> workspace) {
    const std::lock_guard lock(mutex);
    idle.push_back(std::move(workspace));
  }

  Status Bind(const std::vector<Tensor>& inputs, Workspace& workspace) const;
  Status RunSteps(Workspace& workspace, ThreadPool& pool, const StopToken& stop,
                  const Watcher& watch, std::vector<StepProfile>* profile) const;
  Status RunStep(const Step& step, Workspace& workspace, ThreadPool& pool) const;
  void Watch(const Step& step, const Workspace& workspace, ThreadPool& pool,
             const Watcher& watch) const;
};

Plan::Plan(std::unique_ptr<State> state) : state_(std::move(state)) {}
Plan::Plan(Plan&&) noexcept = default;
Plan& Plan::operator=(Plan&&) noexcept = default;
Plan::~Plan() = default;

int64_t Plan::workspace_bytes() const { return state_->program.workspace_bytes; }

Result<Plan> Plan::Create(const ir::Graph& graph, const PlanOptions& options, ThreadPool& pool) {
  const auto numerics = ir::ParseNumerics(options.numerics);
  if (!numerics) {
    return Fail(Code::kUsage, "unknown numerics mode '{}'", options.numerics).Field("numerics");
  }
  auto state = std::unique_ptr<State>(new State{graph});
  OCTAVO_TRY(state->program,
             BuildProgram(graph, {.numerics = *numerics, .fuses = !options.keep_all_values}, pool));
  return Plan(std::move(state));
}

// Gives the slots of graph inputs and outputs their tensors.
Status Plan::State::Bind(const std::vector<Tensor>& inputs, Workspace& workspace) const {
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
    workspace.slots[program.inputs[i]] = inputs[i];
  }
  for (const int index : program.outputs) {
    const Slot& slot = program.slots[index];
    if (slot.kind == Slot::Kind::kOutput) workspace.slots[index] = Tensor(slot.dtype, slot.shape);
  }
  return {};
}

Status Plan::State::RunStep(const Step& step, Workspace& workspace, ThreadPool& pool) const {
  std::vector<const Tensor*> inputs;
  inputs.reserve(step.inputs.size());
  for (const int slot : step.inputs) {
    inputs.push_back(slot < 0 ? nullptr : &workspace.slots[slot]);
  }
  std::vector<Tensor> results;
  results.reserve(step.results.size());
  for (const int slot : step.results) results.push_back(workspace.slots[slot]);
  return step.prepared.run({.inputs = inputs,
                            .results = results,
                            .scratch = workspace.memory.get() + step.scratch_offset,
                            .pool = &pool});
}

void Plan::State::Watch(const Step& step, const Workspace& workspace, ThreadPool& pool,
                        const Watcher& watch) const {
  for (const int index : step.watched) {
    const Slot& slot = program.slots[index];
    const bool is_raised = slot.dtype != graph.type(slot.value).dtype;
    const Tensor tensor = is_raised ? SignedCodes(workspace.slots[index]) : workspace.slots[index];
    if (slot.layout == Layout::kPlain) {
      watch(slot.value, tensor);
      continue;
    }
    Tensor plain(tensor.dtype(), slot.shape);
    ConvertLayout(tensor, slot.layout, plain, pool);
    watch(slot.value, plain);
  }
}

Status Plan::State::RunSteps(Workspace& workspace, ThreadPool& pool, const StopToken& stop,
                             const Watcher& watch, std::vector<StepProfile>* profile) const {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::duration time) {
    return std::chrono::duration<double>(time).count();
  };
  const Clock::time_point first = profile ? Clock::now() : Clock::time_point();
  for (const Step& step : program.steps) {
    OCTAVO_CHECK(stop.Check());
    if (step.prepared.run) {
      const Clock::time_point start = profile ? Clock::now() : Clock::time_point();
      OCTAVO_CHECK(RunStep(step, workspace, pool));
      if (profile) {
        profile->push_back({.node = step.node,
                            .op = std::string(step.op),
                            .kernel = std::string(step.kernel),
                            .isa = std::string(step.isa),
                            .begin = seconds(start - first),
                            .seconds = seconds(Clock::now() - start),
                            .operations = step.prepared.operations});
      }
    }
    if (watch) Watch(step, workspace, pool, watch);
  }
  return {};
}

Result<std::vector<Tensor>> Plan::Run(const std::vector<Tensor>& inputs, ThreadPool& pool,
                                      const StopToken& stop, const Watcher& watch,
                                      std::vector<StepProfile>* profile) const {
  auto workspace = state_->Take();
  const Status bound = state_->Bind(inputs, *workspace);
  const Status done = bound ? state_->RunSteps(*workspace, pool, stop, watch, profile) : bound;
  std::vector<Tensor> outputs;
  for (const int index : state_->program.outputs) {
    if (done) outputs.push_back(workspace->slots[index]);
  }
  for (size_t i = 0; i < workspace->slots.size(); ++i) {
    const Slot::Kind kind = state_->program.slots[i].kind;
    if (kind == Slot::Kind::kInput || kind == Slot::Kind::kOutput) workspace->slots[i] = Tensor();
  }
  state_->GiveBack(std::move(workspace));
  if (!done) return Forward(done.error());
  return outputs;
}

}  // namespace octavo::runtime
