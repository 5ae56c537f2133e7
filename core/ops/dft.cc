// DFT(x, length?, axis?) {inverse, onesided}: the discrete Fourier transform along an axis.  The
// last axis of x holds reals or pairs of a real and an imaginary part.
#include "core/ops/elementwise.h"
#include "core/ops/fourier.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"inverse", ir::AttrKind::kInt},
                                        {"onesided", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  ir::Shape shape = context.shape(0);
  std::vector<int64_t> axis = {-2};
  if (context.Has(2)) {
    OCTAVO_TRY(axis, context.KnownInts(2, "axis"));
  }
  if (shape.size() < 2 || shape.back() < 1 || shape.back() > 2 || axis.size() != 1) {
    return context.Invalid("operand of shape {} holds no reals or pairs", ir::ToString(shape));
  }
  OCTAVO_TRY(const int along, CheckedAxis(context, axis[0], static_cast<int>(shape.size())));
  if (along + 1 == static_cast<int>(shape.size())) {
    return context.Invalid("axis {} is that of the parts", along);
  }
  if (context.Has(1)) {
    OCTAVO_TRY(const std::vector<int64_t> length, context.KnownInts(1, "length"));
    if (length.size() != 1 || length[0] < 1) return context.Invalid("length must be one number");
    shape[along] = length[0];
  }
  const bool onesided = context.node().attributes.Int("onesided", 0) != 0;
  const bool inverse = context.node().attributes.Int("inverse", 0) != 0;
  if (onesided && inverse) {
    return context.Unsupported("the inverse of a one-sided transform is not supported");
  }
  if (onesided) shape[along] = shape[along] / 2 + 1;
  shape.back() = 2;
  context.SetResult(0, context.dtype(0), std::move(shape));
  return {};
}

Status Reference(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  ir::Tensor& y = context.out();
  const int axis = FrontAxis(context.Has(2) ? context.in(2).IntAt(0) : -2, x.rank());
  const int64_t extent = x.shape()[axis], bins = y.shape()[axis];
  const int64_t length = context.Has(1) ? context.in(1).IntAt(0) : extent;
  const bool inverse = context.node.attributes.Int("inverse", 0) != 0;
  int64_t inner = 1;
  for (int d = axis + 1; d + 1 < x.rank(); ++d) inner *= x.shape()[d];
  const int64_t lines = bins == 0 ? 0 : y.size() / 2 / bins;
  context.pool->For(lines, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const auto place = [&](int64_t i, int64_t n) {
        return (r / inner * n + i) * inner + r % inner;
      };
      std::vector<Complex> line(length);  // cut or filled up with zeros
      for (int64_t t = 0; t < std::min(length, extent); ++t)
        line[t] = ComplexAt(x, place(t, extent));
      const std::vector<Complex> result = Transform(line, bins, inverse);
      for (int64_t k = 0; k < bins; ++k) StoreComplex(y, place(k, bins), result[k]);
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kDFT{
    .name = "DFT",
    .inputs = {1, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "a spectrum spans more than 8 bits tell apart"},
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
