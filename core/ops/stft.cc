// STFT(x, step, window?, length?) {onesided}: the discrete Fourier transform of windowed frames of
// x [batch, time, 1 or 2], a frame beginning every `step` places.
#include "core/ops/elementwise.h"
#include "core/ops/fourier.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"onesided", ir::AttrKind::kInt}};

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const ir::Shape& x = context.shape(0);
  OCTAVO_TRY(const std::vector<int64_t> step, context.KnownInts(1, "frame_step"));
  int64_t length = 0;
  if (context.Has(2) && context.shape(2).size() == 1) length = context.shape(2)[0];
  if (context.Has(3)) {
    OCTAVO_TRY(const std::vector<int64_t> given, context.KnownInts(3, "frame_length"));
    if (given.size() == 1 && (length == 0 || length == given[0])) {
      length = given[0];
    } else {
      return context.Invalid("frame_length and the window differ");
    }
  }
  if (x.size() != 3 || x[2] < 1 || x[2] > 2 || step.size() != 1 || step[0] < 1 || length < 1 ||
      length > x[1]) {
    return context.Invalid("frames of {} places do not fit x of shape {}", length, ir::ToString(x));
  }
  const bool onesided = context.node().attributes.Int("onesided", 1) != 0;
  context.SetResult(0, context.dtype(0),
                    {x[0], (x[1] - length) / step[0] + 1, onesided ? length / 2 + 1 : length, 2});
  return {};
}

Status Reference(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  ir::Tensor& y = context.out();
  const int64_t step = context.in(1).IntAt(0), frames = y.shape()[1], bins = y.shape()[2];
  const int64_t length = context.Has(2) ? context.in(2).size() : context.in(3).IntAt(0);
  context.pool->For(x.shape()[0] * frames, 1, [&](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f) {
      const int64_t first = f / frames * x.shape()[1] + f % frames * step;
      std::vector<Complex> line(length);
      for (int64_t t = 0; t < length; ++t) {
        line[t] = ComplexAt(x, first + t) * (context.Has(2) ? context.in(2).FloatAt(t) : 1.0);
      }
      const std::vector<Complex> result = Transform(line, bins, /*inverse=*/false);
      for (int64_t k = 0; k < bins; ++k) StoreComplex(y, f * bins + k, result[k]);
    }
  });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kSTFT{
    .name = "STFT",
    .inputs = {2, 4},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "a spectrum spans more than 8 bits tell apart"},
    .infer = &Infer,
    .reference = &Reference,
};

}  // namespace octavo::ops
