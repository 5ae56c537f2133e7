// GRU(x, w, r, b?, lengths?, initial_h?), gates z, r, h: h = (1 - z) * g(..) + z * h.
#include "core/ops/recurrent.h"

namespace octavo::ops {
namespace {

void Step(const RecurrentCell& cell, const ir::Node& node, const double* x, std::vector<double>& h,
          std::vector<double>&) {
  const int64_t n = cell.hidden;
  const bool linear_first = node.attributes.Int("linear_before_reset", 0) != 0;
  std::vector<double> update(n), reset(n), kept(n), next(n);
  for (int64_t j = 0; j < n; ++j) {
    update[j] = cell.Activate(0, cell.Input(j, x) + cell.Recurrent(j, h.data()));
    reset[j] = cell.Activate(0, cell.Input(n + j, x) + cell.Recurrent(n + j, h.data()));
    kept[j] = reset[j] * h[j];
  }
  for (int64_t j = 0; j < n; ++j) {
    const double recurrent = linear_first ? reset[j] * cell.Recurrent(2 * n + j, h.data())
                                          : cell.Recurrent(2 * n + j, kept.data());
    const double candidate = cell.Activate(1, cell.Input(2 * n + j, x) + recurrent);
    next[j] = (1 - update[j]) * candidate + update[j] * h[j];
  }
  h = std::move(next);
}

RecurrentKind Kind() { return {.gates = 3, .activations = {"Sigmoid", "Tanh"}}; }

Status Infer(ir::InferContext& context) { return InferRecurrent(context, Kind()); }

Status Reference(const ir::EvalContext& context) { return RunRecurrent(context, Kind(), &Step); }

}  // namespace

extern constexpr ir::OpDef kGRU{
    .name = "GRU",
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
