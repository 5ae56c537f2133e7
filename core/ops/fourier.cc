// SPDX-License-Identifier: Apache-2.0
// DFT(x, length?, axis?) {inverse, onesided}: the discrete Fourier transform along an axis.  The
//   last axis of x holds real numbers or pairs of a real and an imaginary part.
// STFT(x, step, window?, length?) {onesided}: the transform of windowed frames of x
//   [batch, time, 1 or 2]; a frame starts every `step` positions.
// Both compute in double.
#include <complex>
#include <numbers>
#include <vector>

#include "core/base/math.h"
#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

using Complex = std::complex<double>;

// X[k] = sum x[t] e^(-+2 pi i k t / n) for k < `bins`, with n the length of the line, computed term
// by term.  The inverse has the opposite sign and divides by n.
std::vector<Complex> Transform(const std::vector<Complex>& line, int64_t bins, bool inverse) {
  const auto n = static_cast<int64_t>(line.size());
  std::vector<Complex> roots(line.size());
  for (int64_t i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n);
    roots[i] = {math::Cos(angle), inverse ? math::Sin(angle) : -math::Sin(angle)};
  }
  std::vector<Complex> result(bins);
  for (int64_t k = 0; k < bins; ++k) {
    double real = 0, imaginary = 0;
    for (int64_t t = 0; t < n; ++t) {
      const Complex &x = line[t], &root = roots[k * t % n];
      real += x.real() * root.real() - x.imag() * root.imag();
      imaginary += x.real() * root.imag() + x.imag() * root.real();
    }
    const double scale = inverse ? 1 / static_cast<double>(n) : 1;
    result[k] = {real * scale, imaginary * scale};
  }
  return result;
}

// Element `place` of a tensor; its last axis holds a real part or a real and an imaginary part.
Complex ComplexAt(const ir::Tensor& tensor, int64_t place) {
  const int64_t parts = tensor.shape().back();
  return {tensor.FloatAt(place * parts), parts > 1 ? tensor.FloatAt(place * parts + 1) : 0.0};
}

// Writes as many parts as the last axis has.
void StoreComplex(ir::Tensor& tensor, int64_t place, Complex value) {
  const int64_t parts = tensor.shape().back();
  const auto store = [&](int64_t part, double number) {
    if (tensor.dtype() == ir::DType::kF64) {
      tensor.mutable_values<double>()[place * parts + part] = number;
    } else {
      tensor.mutable_values<float>()[place * parts + part] = static_cast<float>(number);
    }
  };
  store(0, value.real());
  if (parts > 1) store(1, value.imag());
}

// ---------------------------------------------------------------- DFT

constexpr ir::AttrSpec kDFTAttributes[] = {{"inverse", ir::AttrKind::kInt},
                                           {"onesided", ir::AttrKind::kInt}};

Status InferDFT(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  ir::Shape shape = context.shape(0);
  std::vector<int64_t> axis = {-2};
  if (context.Has(2)) {
    OCTAVO_TRY(axis, context.KnownInts(2, "axis"));
  }
  if (shape.size() < 2 || shape.back() < 1 || shape.back() > 2 || axis.size() != 1) {
    return context.Invalid("operand of shape {} must have 1 or 2 parts in its last axis",
                           ir::ToString(shape));
  }
  OCTAVO_TRY(const int along, CheckedAxis(context, axis[0], static_cast<int>(shape.size())));
  if (along + 1 == static_cast<int>(shape.size())) {
    return context.Invalid("axis {} holds the real and imaginary parts", along);
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

Status DFT(const ir::EvalContext& context) {
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
      std::vector<Complex> line(length);  // truncated or padded with zeros
      for (int64_t t = 0; t < std::min(length, extent); ++t)
        line[t] = ComplexAt(x, place(t, extent));
      const std::vector<Complex> result = Transform(line, bins, inverse);
      for (int64_t k = 0; k < bins; ++k) StoreComplex(y, place(k, bins), result[k]);
    }
  });
  return {};
}

// ---------------------------------------------------------------- STFT

constexpr ir::AttrSpec kSTFTAttributes[] = {{"onesided", ir::AttrKind::kInt}};

Status InferSTFT(ir::InferContext& context) {
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
      return context.Invalid("frame_length is not the length of the window");
    }
  }
  if (x.size() != 3 || x[2] < 1 || x[2] > 2 || step.size() != 1 || step[0] < 1 || length < 1 ||
      length > x[1]) {
    return context.Invalid("frames of length {} do not fit x of shape {}", length, ir::ToString(x));
  }
  const bool onesided = context.node().attributes.Int("onesided", 1) != 0;
  context.SetResult(0, context.dtype(0),
                    {x[0], (x[1] - length) / step[0] + 1, onesided ? length / 2 + 1 : length, 2});
  return {};
}

Status STFT(const ir::EvalContext& context) {
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

extern constexpr ir::OpDef kDFT{
    .name = "DFT",
    .since = ir::Since(17),
    .inputs = {1, 3},
    .attributes = kDFTAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "a spectrum spans more magnitudes than 8 bits distinguish"},
    .infer = &InferDFT,
    .definition = &DFT,
};
extern constexpr ir::OpDef kSTFT{
    .name = "STFT",
    .since = ir::Since(17),
    .inputs = {2, 4},
    .attributes = kSTFTAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "a spectrum spans more magnitudes than 8 bits distinguish"},
    .infer = &InferSTFT,
    .definition = &STFT,
};

}  // namespace octavo::ops
