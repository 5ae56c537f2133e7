// SPDX-License-Identifier: Apache-2.0
// What a value's only consumer tells apart.  `quantize` narrows the operand of a HardSigmoid to the
// part that is not saturated: what the type then clips changes no result, and is no error.
#pragma once

#include <optional>

#include "core/ir/graph.h"

namespace octavo::report {

class UsefulPart {
 public:
  // Of a value of the quantized graph; nullopt if the consumers may tell all values apart.
  static std::optional<UsefulPart> Of(const ir::Graph& quantized, ir::ValueId value);

  // The float values with what the consumer does not tell apart at the bounds of the type.
  ir::Tensor Clamped(const ir::Tensor& baseline) const;

 private:
  float low_, high_;
};

}  // namespace octavo::report
