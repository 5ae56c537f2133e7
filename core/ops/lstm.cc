// SPDX-License-Identifier: Apache-2.0
// LSTM(x, w, r, b?, lengths?, initial_h?, initial_c?, peepholes?), gates in the order i, o, f, c.
#include "core/ops/shared/recurrent.h"

namespace octavo::ops {
namespace {

constexpr std::string_view kActivations[] = {"Sigmoid", "Tanh", "Tanh"};
constexpr RecurrentKind kKind = {.gates = 4, .activations = kActivations};

void Step(const RecurrentCell& cell, const ir::Node& node, const double* inputs,
          std::vector<double>& h, std::vector<double>& c) {
  const int64_t n = cell.hidden;
  std::vector<double> sums(n), input(n), forget(n), candidate(n), state(n), output(n);
  // The sum of a gate, and its peephole term.
  const auto gate = [&](int64_t which, std::vector<double>& values) {
    cell.Recurrent(which, h, sums);
    for (int64_t j = 0; j < n; ++j) values[j] = inputs[which * n + j] + sums[j];
  };
  const auto peep = [&](int64_t which, const std::vector<double>& from, std::vector<double>& to) {
    if (cell.peepholes.empty()) return;
    for (int64_t j = 0; j < n; ++j) to[j] += cell.peepholes[which * n + j] * from[j];
  };
  gate(0, input);
  peep(0, c, input);
  cell.Activate(0, input);
  if (node.attributes.Int("input_forget", 0) != 0) {
    for (int64_t j = 0; j < n; ++j) forget[j] = 1 - input[j];
  } else {
    gate(2, forget);
    peep(2, c, forget);
    cell.Activate(0, forget);
  }
  gate(3, candidate);
  cell.Activate(1, candidate);
  for (int64_t j = 0; j < n; ++j) state[j] = forget[j] * c[j] + input[j] * candidate[j];
  gate(1, output);
  peep(1, state, output);
  cell.Activate(0, output);
  c = state;
  cell.activations[2](state);
  for (int64_t j = 0; j < n; ++j) h[j] = output[j] * state[j];
}

Status Infer(ir::InferContext& context) { return InferRecurrent(context, kKind); }

Status Definition(const ir::EvalContext& context) { return RunRecurrent(context, kKind, &Step); }

}  // namespace

extern constexpr ir::OpDef kLSTM{
    .name = "LSTM",
    .since = ir::Since(1),
    .inputs = {3, 8},
    .results = {1, 3},
    .attributes = kRecurrentAttributes,
    .roles = kRecurrentRoles,
    .quant = {.why = "the rounding errors of its state would add up over the steps"},
    .weight_axis = &RecurrentWeightAxis,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
