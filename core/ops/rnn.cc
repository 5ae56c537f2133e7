// SPDX-License-Identifier: Apache-2.0
// RNN(x, w, r, b?, lengths?, initial_h?): h = f(W x + Wb + R h + Rb).
#include "core/ops/shared/recurrent.h"

namespace octavo::ops {
namespace {

constexpr std::string_view kActivations[] = {"Tanh"};
constexpr RecurrentKind kKind = {.gates = 1, .activations = kActivations};

void Step(const RecurrentCell& cell, const ir::Node&, const double* inputs, std::vector<double>& h,
          std::vector<double>&) {
  std::vector<double> next;
  cell.Recurrent(0, h, next);
  for (int64_t j = 0; j < cell.hidden; ++j) next[j] = inputs[j] + next[j];
  cell.Activate(0, next);
  h = std::move(next);
}

Status Infer(ir::InferContext& context) { return InferRecurrent(context, kKind); }

Status Definition(const ir::EvalContext& context) { return RunRecurrent(context, kKind, &Step); }

}  // namespace

extern constexpr ir::OpDef kRNN{
    .name = "RNN",
    .since = ir::Since(1),
    .inputs = {3, 6},
    .results = {1, 2},
    .attributes = kRecurrentAttributes,
    .roles = kRecurrentRoles,
    .quant = {.why = "the rounding errors of its state would add up over the steps"},
    .weight_axis = &RecurrentWeightAxis,
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
