// RNN(x, w, r, b?, lengths?, initial_h?): h = f(W x + Wb + R h + Rb).
#include "core/ops/recurrent.h"

namespace octavo::ops {
namespace {

void Step(const RecurrentCell& cell, const ir::Node&, const double* x, std::vector<double>& h,
          std::vector<double>&) {
  std::vector<double> next(h.size());
  for (int64_t j = 0; j < cell.hidden; ++j) {
    next[j] = cell.Activate(0, cell.Input(j, x) + cell.Recurrent(j, h.data()));
  }
  h = std::move(next);
}

RecurrentKind Kind() { return {.gates = 1, .activations = {"Tanh"}}; }

Status Infer(ir::InferContext& context) { return InferRecurrent(context, Kind()); }

Status Reference(const ir::EvalContext& context) { return RunRecurrent(context, Kind(), &Step); }

}  // namespace

extern constexpr ir::OpDef kRNN{
    .name = "RNN",
    .inputs = {3, 6},
    .results = {1, 2},
    .attributes = kRecurrentAttributes,
    .roles = kRecurrentRoles,
    .quant = {.why = "its state would be rounded at every step"},
    .weight_axis = &RecurrentWeightAxis,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
