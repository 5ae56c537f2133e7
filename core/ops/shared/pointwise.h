// SPDX-License-Identifier: Apache-2.0
// Rows of pointwise ops on one operand: each result element depends only on the element at the same
// index and on attributes.
#pragma once

#include <concepts>

#include "core/ops/shared/unary_blocks.h"

namespace octavo::ops {

// Optional properties of a row.
struct PointwiseTraits {
  std::span<const ir::AttrSpec> attributes = {};
  ir::QuantRule quant = kFreeResult;
  Status (*infer)(ir::InferContext& context) = &InferFloatUnary;
  bool clamps = false;
};

constexpr ir::OpDef PointwiseRow(std::string_view name, ir::Since since,
                                 Status (*definition)(const ir::EvalContext&),
                                 const PointwiseTraits& traits) {
  return {.name = name,
          .since = since,
          .attributes = traits.attributes,
          .quant = traits.quant,
          .rescale = kFoldsRescale,
          .infer = traits.infer,
          .definition = definition,
          .pointwise = true,
          .clamps = traits.clamps};
}

// Pointwise<&math::Sin>("Sin", ir::Since(7)).  The function has one of these signatures:
//   double (double)               computed in double and rounded once
//   void (std::span<double>)      the same, in place, at most kUnaryBlock numbers per call
//   Status (const EvalContext&)   a whole definition, which reads attributes
template <auto function>
constexpr ir::OpDef Pointwise(std::string_view name, ir::Since since,
                              const PointwiseTraits& traits = {}) {
  using Function = decltype(function);
  constexpr auto kDefinition = [](const ir::EvalContext& context) -> Status {
    if constexpr (std::invocable<Function, const ir::EvalContext&>) {
      return function(context);
    } else if constexpr (std::invocable<Function, std::span<double>>) {
      return FloatUnaryBlocks(context, function);
    } else {
      return FloatUnary(context, function);
    }
  };
  return PointwiseRow(name, since, kDefinition, traits);
}

// The same for a generic lambda that computes in the element's own type.
template <class Function>
constexpr ir::OpDef PointwiseInType(std::string_view name, ir::Since since, Function,
                                    const PointwiseTraits& traits = {}) {
  constexpr auto kDefinition = [](const ir::EvalContext& context) {
    return NumericUnary(context, Function());
  };
  return PointwiseRow(name, since, kDefinition, traits);
}

}  // namespace octavo::ops
