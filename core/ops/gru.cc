// SPDX-License-Identifier: Apache-2.0
// GRU(x, w, r, b?, lengths?, initial_h?), gates in the order z, r, h: h = (1 - z) * g(..) + z * h.
#include "core/ops/shared/recurrent.h"

namespace octavo::ops {
namespace {

constexpr std::string_view kActivations[] = {"Sigmoid", "Tanh"};
constexpr RecurrentKind kKind = {.gates = 3, .activations = kActivations};

void Step(const RecurrentCell& cell, const ir::Node& node, const double* inputs,
          std::vector<double>& h, std::vector<double>&) {
  const int64_t n = cell.hidden;
  const bool linear_first = node.attributes.Int("linear_before_reset", 0) != 0;
  std::vector<double> update(n), reset(n), kept(n), sums(n), candidate(n);
  const auto gate = [&](int64_t which, std::vector<double>& values) {
    cell.Recurrent(which, h, sums);
    for (int64_t j = 0; j < n; ++j) values[j] = inputs[which * n + j] + sums[j];
    cell.Activate(0, values);
  };
  gate(0, update);
  gate(1, reset);
  for (int64_t j = 0; j < n; ++j) kept[j] = reset[j] * h[j];
  cell.Recurrent(2, linear_first ? h : kept, sums);
  for (int64_t j = 0; j < n; ++j) {
    candidate[j] = inputs[2 * n + j] + (linear_first ? reset[j] * sums[j] : sums[j]);
  }
  cell.Activate(1, candidate);
  for (int64_t j = 0; j < n; ++j) h[j] = (1 - update[j]) * candidate[j] + update[j] * h[j];
}

Status Infer(ir::InferContext& context) { return InferRecurrent(context, kKind); }

Status Definition(const ir::EvalContext& context) { return RunRecurrent(context, kKind, &Step); }

}  // namespace

extern constexpr ir::OpDef kGRU{
    .name = "GRU",
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
