// LSTM(x, w, r, b?, lengths?, initial_h?, initial_c?, peepholes?), gates i, o, f, c.
#include "core/ops/recurrent.h"

namespace octavo::ops {
namespace {

void Step(const RecurrentCell& cell, const ir::Node& node, const double* x, std::vector<double>& h,
          std::vector<double>& c) {
  const int64_t n = cell.hidden;
  const bool coupled = node.attributes.Int("input_forget", 0) != 0;
  const auto peep = [&](int64_t gate, int64_t j, double state) {
    return cell.peepholes.empty() ? 0.0 : cell.peepholes[gate * n + j] * state;
  };
  const auto gate = [&](int64_t which, int64_t j) {
    return cell.Input(which * n + j, x) + cell.Recurrent(which * n + j, h.data());
  };
  std::vector<double> next(n);
  for (int64_t j = 0; j < n; ++j) {
    const double input = cell.Activate(0, gate(0, j) + peep(0, j, c[j]));
    const double forget = coupled ? 1 - input : cell.Activate(0, gate(2, j) + peep(2, j, c[j]));
    const double state = forget * c[j] + input * cell.Activate(1, gate(3, j));
    const double output = cell.Activate(0, gate(1, j) + peep(1, j, state));
    c[j] = state;
    next[j] = output * cell.activations[2](state);
  }
  h = std::move(next);
}

RecurrentKind Kind() { return {.gates = 4, .activations = {"Sigmoid", "Tanh", "Tanh"}}; }

Status Infer(ir::InferContext& context) { return InferRecurrent(context, Kind()); }

Status Reference(const ir::EvalContext& context) { return RunRecurrent(context, Kind(), &Step); }

}  // namespace

extern constexpr ir::OpDef kLSTM{
    .name = "LSTM",
    .inputs = {3, 8},
    .results = {1, 3},
    .attributes = kRecurrentAttributes,
    .roles = kRecurrentRoles,
    .quant = {.why = "its state would be rounded at every step"},
    .weight_axis = &RecurrentWeightAxis,
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
