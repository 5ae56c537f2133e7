// SPDX-License-Identifier: Apache-2.0
// RNN, GRU and LSTM: shapes, directions, sequence lengths, activations.  A step computes one time
// position of one sequence in one direction, in double; its results are rounded once.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {

inline constexpr ir::AttrSpec kRecurrentAttributes[] = {
    {"activations", ir::AttrKind::kStrings},     {"activation_alpha", ir::AttrKind::kFloats},
    {"activation_beta", ir::AttrKind::kFloats},  {"clip", ir::AttrKind::kFloat},
    {"direction", ir::AttrKind::kString},        {"hidden_size", ir::AttrKind::kInt},
    {"input_forget", ir::AttrKind::kInt},        {"layout", ir::AttrKind::kInt},
    {"linear_before_reset", ir::AttrKind::kInt},
};

// The inputs of all three ops, by position.
enum RecurrentInput { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };

// W and R may be stored as integers; the state is never quantized.
inline constexpr auto kRecurrentRoles =
    ir::Roles(ir::Role::kData, ir::Role::kWeight, ir::Role::kWeight, ir::Role::kParameter);

// The output-channel axis: the rows of W [directions, rows, inputs] and R [directions, rows,
// hidden].
inline int RecurrentWeightAxis(const ir::Graph&, const ir::Node&, int) { return 1; }

// Applies a function to each number in place.
using Activation = std::function<void(std::span<double>)>;

// The activations that the node specifies (by default `defaults`), for each direction in turn.  The
// error is the unknown name.
tl::expected<std::vector<Activation>, std::string> RecurrentActivations(
    const ir::Node& node, std::span<const std::string_view> defaults, int64_t directions);

// A matrix packed into tiles of kRowsOfTile rows, gate by gate; padding completes each gate's last
// tile.
class PackedRows {
 public:
  PackedRows() = default;
  // Packs `gates` * `rows` rows of `columns` elements, starting at element `first`.
  PackedRows(const ir::Tensor& tensor, int64_t first, int64_t gates, int64_t rows, int64_t columns);

  // sums[k] = bias[k] + (row k of the gate) * x, summed from column 0 on, in double.
  void Multiply(int64_t gate, const double* x, const double* bias, double* sums) const;

 private:
  int64_t rows_ = 0, columns_ = 0, tiles_ = 0;  // tiles per gate
  std::vector<float> narrow_ = {};
  std::vector<double> wide_ = {};  // used for double weights
};

// One direction's weights and its activations.
struct RecurrentCell {
  int64_t hidden = 0;
  PackedRows w = {}, r = {};
  std::vector<double> w_bias = {}, r_bias = {};
  std::vector<double> peepholes = {};  // LSTM: of i, o, f
  std::vector<Activation> activations = {};
  double clip = 0;  // 0: none

  // result = R[gate] h + Rb[gate]
  void Recurrent(int64_t gate, const std::vector<double>& h, std::vector<double>& result) const;
  void Activate(size_t which, std::vector<double>& values) const;
};

// Advances h (and c) by one time position; `inputs` is W x + Wb at this position, gate by gate.
using RecurrentStep = void (*)(const RecurrentCell& cell, const ir::Node& node,
                               const double* inputs, std::vector<double>& h,
                               std::vector<double>& c);

struct RecurrentKind {
  int64_t gates = 1;
  std::span<const std::string_view> activations = {};  // defaults for one direction
};

Status InferRecurrent(ir::InferContext& context, const RecurrentKind& kind);
Status RunRecurrent(const ir::EvalContext& context, const RecurrentKind& kind, RecurrentStep step);

}  // namespace octavo::ops
