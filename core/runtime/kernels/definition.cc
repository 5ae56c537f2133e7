// SPDX-License-Identifier: Apache-2.0
// The last kernel of the table: dequantizes the operands, computes by the op's definition,
// quantizes the results.  It runs every op that has a float definition.
#include "core/float_exec/computation.h"
#include "core/ops/quantize_math.h"
#include "core/runtime/kernel.h"

#include <algorithm>
#include <cstring>

namespace octavo::runtime {
namespace {

using ir::Tensor;
using ir::Type;

constexpr int64_t kAlignment = 64;

int64_t Padded(int64_t bytes) { return (bytes + kAlignment) / kAlignment * kAlignment; }

// Whether results are operand elements selected by order: every mode dequantizes and quantizes them
// to the same integer.
bool SelectsElements(const NodeView& view) {
  if (view.node.op->QuantOf(view.graph, view.node).kind != ir::QuantRule::Kind::kSameScale) {
    return false;
  }
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    if (!view.Has(i)) continue;
    const Type& type = view.in(i);
    if (type.quantized() ? !SameQuantizedType(type, view.out()) : type.dtype == ir::DType::kF32) {
      return false;
    }
  }
  return view.out().quantized() && view.out().quant->per_tensor() &&
         ir::SizeOf(view.out().dtype) <= 2;
}

// Dequantization gives the same bits in every mode; other rounding follows mode `onnx`.
bool MatchDefined(const NodeView& view) {
  if (view.numerics->qlinear || SelectsElements(view)) return true;
  return std::ranges::none_of(view.node.results,
                              [&](ir::ValueId id) { return view.graph.type(id).quantized(); });
}

// The prepared node.
struct State {
  const ir::Node* node = nullptr;
  std::vector<std::optional<Type>> inputs = {};  // stored types; nullopt: absent
  std::vector<Type> results = {};
  std::vector<Tensor> constants = {};  // dequantized if quantized; empty: not constant
  std::vector<bool> is_constant = {};
  float_exec::Computation computation = {};
};

// Allocates tensors in the scratch memory.
class Pieces {
 public:
  explicit Pieces(std::byte* memory) : next_(memory) {}
  Tensor Real(const ir::Shape& shape) {
    Tensor tensor(ir::DType::kF32, shape, nullptr, next_);
    next_ += Padded(tensor.bytes());
    return tensor;
  }

 private:
  std::byte* next_;
};

Status RunDefinition(const State& state, const StepContext& context) {
  Pieces pieces(context.scratch);
  std::vector<Tensor> dequantized;
  std::vector<const Tensor*> inputs;
  dequantized.reserve(state.inputs.size());
  for (size_t i = 0; i < state.inputs.size(); ++i) {
    if (!context.Has(i)) {
      inputs.push_back(nullptr);
    } else if (!state.inputs[i]->quantized()) {
      inputs.push_back(&context.in(i));
    } else if (state.is_constant[i]) {
      inputs.push_back(&state.constants[i]);
    } else {
      dequantized.push_back(pieces.Real(state.inputs[i]->shape));
      ops::DequantizeInto(context.in(i), *state.inputs[i]->quant, dequantized.back(), context.pool);
      inputs.push_back(&dequantized.back());
    }
  }
  std::vector<Tensor> results;
  for (size_t i = 0; i < state.results.size(); ++i) {
    const Type& type = state.results[i];
    results.push_back(type.quantized() ? pieces.Real(type.shape) : context.out(i));
    if (!state.computation.overwrites && results.back().bytes() > 0) {
      std::memset(results.back().mutable_raw(), 0, results.back().bytes());
    }
  }
  OCTAVO_CHECK(state.computation.run(
      {.node = *state.node, .inputs = inputs, .results = results, .pool = context.pool}));
  for (size_t i = 0; i < state.results.size(); ++i) {
    if (state.results[i].quantized()) {
      ops::QuantizeInto(results[i], state.results[i], context.out(i), context.pool);
    }
  }
  return {};
}

Result<Prepared> PrepareDefinition(const NodeView& view, ThreadPool&) {
  auto state = std::make_shared<State>(State{.node = &view.node});
  std::vector<ir::Shape> shapes;
  int64_t scratch = 0;
  const auto add_scratch = [&](const Type& type) {
    if (type.quantized()) scratch += Padded(type.elements() * ir::SizeOf(ir::DType::kF32));
  };
  for (size_t i = 0; i < view.node.inputs.size(); ++i) {
    state->is_constant.push_back(view.constant(i) != nullptr);
    state->constants.emplace_back();
    if (!view.Has(i)) {
      state->inputs.push_back(std::nullopt);
      shapes.emplace_back();
      continue;
    }
    const Type& type = view.in(i);
    state->inputs.push_back(type);
    shapes.push_back(type.shape);
    if (const Tensor* constant = view.constant(i)) {
      state->constants[i] =
          type.quantized() ? ops::DequantizeTensor(*constant, *type.quant) : *constant;
    } else {
      add_scratch(type);
    }
  }
  for (const ir::ValueId id : view.node.results) {
    state->results.push_back(view.graph.type(id));
    add_scratch(state->results.back());
  }
  std::vector<const Tensor*> constants;
  for (size_t i = 0; i < state->constants.size(); ++i) {
    constants.push_back(state->is_constant[i] ? &state->constants[i] : nullptr);
  }
  OCTAVO_TRY(state->computation, float_exec::Prepare(view.node, shapes, constants));
  return Prepared{
      .run = [state](const StepContext& context) { return RunDefinition(*state, context); },
      .scratch_bytes = scratch};
}

}  // namespace

extern constexpr Kernel kDefinition{.name = "definition",
                                    .modes = Modes::kAll,
                                    .match = &MatchDefined,
                                    .prepare = &PrepareDefinition};

}  // namespace octavo::runtime
