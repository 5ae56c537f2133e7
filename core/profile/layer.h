// SPDX-License-Identifier: Apache-2.0
// A layer: a node that multiplies its data by constant weights and sums.  Each output element is
// the product of one channel's weights with a column of the data (im2col), in the order in which
// that channel's weights have the terms; what lies in the padding is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/ir/graph.h"

namespace octavo::profile {

struct Layer {
  ir::NodeId node = {};
  ir::ValueId data = {}, weight = {};
  // The weights of a group multiply its own columns.
  int64_t groups = 1;
  int64_t terms = 0;      // of a column: K
  int64_t channels = 0;   // output channels of a group
  int64_t unit = 1;       // terms of one input channel
  int64_t positions = 0;  // columns of each group in one run

  int64_t outputs() const { return groups * channels; }
  bool operator==(const Layer&) const = default;
};

// nullopt for other nodes, and for layers without this form: weights that are not constant, not the
// right operand or of more than two axes (MatMul).  The weight is a constant, a Quantize of one, or
// a Dequantize of that.
// The factors of a Gemm do not matter to its columns.
std::optional<Layer> LayerOf(const ir::Graph& graph, ir::NodeId id);

// Writes the columns of `data` (a value of the layer's operand, as floats) at the positions, which
// ascend: [group][position][term].
void GatherColumns(const ir::Graph& graph, const Layer& layer, const ir::Tensor& data,
                   std::span<const int64_t> positions, float* columns);

// Where the weight's tensor has the terms of an output channel: those of one input channel are
// adjacent.
struct WeightOrder {
  int64_t first = 0;
  int64_t unit_stride = 0;  // from one input channel to the next

  int64_t At(const Layer& layer, int64_t term) const {
    return first + term / layer.unit * unit_stride + term % layer.unit;
  }
};
WeightOrder OrderOf(const ir::Graph& graph, const Layer& layer, int64_t output);

}  // namespace octavo::profile
