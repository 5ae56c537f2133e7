// What DFT and STFT share: the discrete Fourier transform of one line, in double, term by term.
#pragma once

#include <complex>
#include <vector>

#include "core/ir/tensor.h"

namespace octavo::ops {

using Complex = std::complex<double>;

// X[k] = sum x[t] e^(-+2 pi i k t / n) for k below `bins`, n being the line's length; the inverse
// has the other sign and is divided by n.
std::vector<Complex> Transform(const std::vector<Complex>& line, int64_t bins, bool inverse);

// Element `place` of a tensor whose last axis holds one real or a real and an imaginary part.
Complex ComplexAt(const ir::Tensor& tensor, int64_t place);
// Writes as much of it as the last axis holds.
void StoreComplex(ir::Tensor& tensor, int64_t place, Complex value);

}  // namespace octavo::ops
