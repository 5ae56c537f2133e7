// SPDX-License-Identifier: Apache-2.0
// Dropout(data, ratio?, training_mode?) {seed}: the identity at inference; the mask is all true.
#include "core/ops/shared/data_op.h"
#include "core/ops/shared/strided_copy.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"seed", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  if (context.Has(2)) {
    const ir::Tensor* training = context.known(2);
    if (training == nullptr || training->size() != 1 || training->FloatAt(0) != 0) {
      return context.Unsupported("training_mode must be a constant false");
    }
  }
  context.SetResult(0, context.dtype(0), context.shape(0));
  if (context.result_count() > 1) context.SetResult(1, ir::DType::kBool, context.shape(0));
  return {};
}

Status Definition(const ir::EvalContext& context) {
  CopyAll(context.in(0), context.out());
  if (context.results.size() > 1) std::ranges::fill(context.out(1).mutable_values<bool>(), true);
  return {};
}

std::optional<ir::Quant> MapQuant(const ir::Graph&, const ir::Node&, int, const ir::Quant& from) {
  return from;
}

}  // namespace

extern constexpr ir::OpDef kDropout{
    .name = "Dropout",
    .since = ir::Since(1),
    .inputs = {1, 3},
    .results = {1, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .map_quant = &MapQuant,
    .infer = &Infer,
    .definition = &Definition,
    .moves_data = ir::Movement::kCopy,
    .identity_of = &FirstInput,
};

}  // namespace octavo::ops
