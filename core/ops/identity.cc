// SPDX-License-Identifier: Apache-2.0
// Identity(input): copies the input.
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

Status Definition(const ir::EvalContext& context) {
  CopyAll(context.in(0), context.out());
  return {};
}

std::optional<ir::Quant> MapQuant(const ir::Graph&, const ir::Node&, int, const ir::Quant& from) {
  return from;
}

}  // namespace

extern constexpr ir::OpDef kIdentity{
    .name = "Identity",
    .since = ir::Since(1),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &InferSameType,
    .definition = &Definition,
    .moves_data = ir::Movement::kView,
    .identity_of = &FirstInput,
};

}  // namespace octavo::ops
