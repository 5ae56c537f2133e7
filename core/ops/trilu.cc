// SPDX-License-Identifier: Apache-2.0
// Trilu(input, k?) {upper}: keeps the triangle on and above (or below) the k-th diagonal of each
// matrix and sets the rest to 0.
#include <cstring>

#include "core/ops/shared/data_op.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"upper", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  if (context.shape(0).size() < 2) return context.Invalid("input must have rank 2 or more");
  if (context.Has(1) && context.type(1).elements() != 1) {
    return context.Invalid("k must be one number");
  }
  return InferSameType(context);
}

Status Definition(const ir::EvalContext& context) {
  const ir::Tensor& input = context.in(0);
  const int64_t k = context.Has(1) ? context.in(1).IntAt(0) : 0;
  const bool upper = context.node.attributes.Int("upper", 1) != 0;
  const int64_t rows = input.shape()[input.rank() - 2], columns = input.shape().back();
  const int element = ir::SizeOf(input.dtype());
  std::byte* to = context.out().mutable_raw();
  if (input.size() == 0) return {};
  for (int64_t r = 0; r < input.size() / columns; ++r) {
    const int64_t diagonal = r % rows + k;
    const int64_t begin = std::clamp<int64_t>(upper ? diagonal : 0, 0, columns);
    const int64_t end = std::clamp<int64_t>(upper ? columns : diagonal + 1, begin, columns);
    const int64_t offset = (r * columns + begin) * element;
    std::memcpy(to + offset, input.raw() + offset, (end - begin) * element);
  }
  return {};
}

}  // namespace

extern constexpr ir::OpDef kTrilu{
    .name = "Trilu",
    .since = ir::Since(14),
    .inputs = {1, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "it builds masks, which stay float"},
    .infer = &Infer,
    .definition = &Definition,
};

}  // namespace octavo::ops
