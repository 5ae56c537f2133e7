// What RNN, GRU and LSTM share: shapes, directions, sequence lengths, activations.  A step works on
// one sequence of one direction, in double; what leaves it is rounded once.
#pragma once

#include <functional>

#include "core/ops/data_op.h"

namespace octavo::ops {

inline constexpr ir::AttrSpec kRecurrentAttributes[] = {
    {"activations", ir::AttrKind::kStrings},     {"activation_alpha", ir::AttrKind::kFloats},
    {"activation_beta", ir::AttrKind::kFloats},  {"clip", ir::AttrKind::kFloat},
    {"direction", ir::AttrKind::kString},        {"hidden_size", ir::AttrKind::kInt},
    {"input_forget", ir::AttrKind::kInt},        {"layout", ir::AttrKind::kInt},
    {"linear_before_reset", ir::AttrKind::kInt},
};

// The inputs that all three have, by place.
enum RecurrentInput { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };

// W and R may be stored as integers, though the state is never quantized.
inline constexpr auto kRecurrentRoles =
    ir::Roles(ir::Role::kData, ir::Role::kWeight, ir::Role::kWeight, ir::Role::kParameter);

// The rows of W [directions, rows, inputs] and R [directions, rows, hidden].
inline int RecurrentWeightAxis(const ir::Graph&, const ir::Node&, int) { return 1; }

using Activation = std::function<double(double)>;

// One direction's weights.  Rows are gate by gate, hidden_size of them each.
struct RecurrentCell {
  int64_t inputs = 0, hidden = 0;
  std::vector<double> w = {}, r = {}, w_bias = {}, r_bias = {};
  std::vector<double> peepholes = {};  // LSTM: of i, o, f
  std::vector<Activation> activations = {};
  double clip = 0;  // 0: none

  double Input(int64_t row, const double* x) const;      // W[row] x + Wb[row]
  double Recurrent(int64_t row, const double* h) const;  // R[row] h + Rb[row]
  double Activate(size_t which, double x) const;
};

// Advances h (and c) by one place of the sequence.
using RecurrentStep = void (*)(const RecurrentCell& cell, const ir::Node& node, const double* x,
                               std::vector<double>& h, std::vector<double>& c);

struct RecurrentKind {
  int64_t gates = 1;
  std::vector<std::string> activations = {};  // of one direction, where the node names none
};

Status InferRecurrent(ir::InferContext& context, const RecurrentKind& kind);
Status RunRecurrent(const ir::EvalContext& context, const RecurrentKind& kind, RecurrentStep step);

}  // namespace octavo::ops
