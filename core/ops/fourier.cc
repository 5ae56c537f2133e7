#include "core/ops/fourier.h"

#include <numbers>

#include "core/base/math.h"

namespace octavo::ops {

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

Complex ComplexAt(const ir::Tensor& tensor, int64_t place) {
  const int64_t parts = tensor.shape().back();
  return {tensor.FloatAt(place * parts), parts > 1 ? tensor.FloatAt(place * parts + 1) : 0.0};
}

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

}  // namespace octavo::ops
