// SPDX-License-Identifier: Apache-2.0
// The loops of kernels.h, mostly in plain C++.  octavo_vector_loops compiles this file once per
// instruction set, so all code that it includes has internal linkage.  The whole project is
// compiled without contraction of a multiply and an add.
#include "core/runtime/simd/kernels.h"

#include "core/runtime/simd/binary.h"
#include "core/runtime/simd/lookup.h"
#include "core/runtime/simd/normalize.h"
#include "core/runtime/simd/pairs.h"
#include "core/runtime/simd/quantize.h"
#include "core/runtime/simd/window.h"

namespace octavo::runtime::simd {
namespace {

template <bool kGreatest, bool kASteps, bool kBSteps>
void ExtremeLoop(const BinaryCall& call) {
  const uint8_t flip = call.a_quant.flip;
  const uint8_t* __restrict from_a = call.a;
  const uint8_t* __restrict from_b = call.b;
  uint8_t* __restrict y = call.y;
  const int64_t count = call.count;
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t a = from_a[kASteps ? i : 0] ^ flip, b = from_b[kBSteps ? i : 0] ^ flip;
    y[i] = (kGreatest ? (a > b ? a : b) : (a < b ? a : b)) ^ flip;
  }
}

template <bool kGreatest>
void Extreme(const BinaryCall& call) {
  if (call.a_steps && call.b_steps) return ExtremeLoop<kGreatest, true, true>(call);
  if (call.a_steps) return ExtremeLoop<kGreatest, true, false>(call);
  if (call.b_steps) return ExtremeLoop<kGreatest, false, true>(call);
  ExtremeLoop<kGreatest, false, false>(call);
}

void Dequantize(const uint8_t* __restrict x, int64_t count, Quant quant, float* __restrict y) {
  for (int64_t i = 0; i < count; ++i) y[i] = Dequantized(x[i], quant);
}

void MaxInPlace(const uint8_t* __restrict x, int64_t count, uint8_t flip, uint8_t* __restrict acc) {
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t value = x[i] ^ flip;
    acc[i] = acc[i] > value ? acc[i] : value;
  }
}

void Accumulate(const uint8_t* __restrict x, int64_t count, uint8_t flip,
                int32_t* __restrict sums) {
  for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<uint8_t>(x[i] ^ flip);
}

void Requantize(const int32_t* __restrict sums, int64_t count, int32_t offset, float multiplier,
                Quant quant, uint8_t* __restrict y) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = Quantized(static_cast<float>(sums[i] - offset) * multiplier, quant);
  }
}

void MeanOfTaps(const MeanCall& call) {
  constexpr int64_t kBlock = 64;
  for (int64_t begin = 0; begin < call.channels; begin += kBlock) {
    const int64_t rest = call.channels - begin, count = rest < kBlock ? rest : kBlock;
    int32_t sums[kBlock] = {};
    for (int64_t t = 0; t < call.taps; ++t) {
      const int32_t* x = call.columns + t * call.tap_step + begin;
      for (int64_t i = 0; i < count; ++i) sums[i] += x[i];
    }
    Requantize(sums, count, call.offset, call.multiplier, call.quant, call.y + begin);
  }
}

template <class Sum>
void Product(const ProductCall& call) {
  constexpr int64_t kBlock = kRowSlack;
  for (int64_t begin = 0; begin < call.count; begin += kBlock) {
    Sum sums[kBlock] = {};
    for (int64_t t = 0; t < call.taps; ++t) {
      const Sum weight = call.weights[t];
      const int32_t* __restrict x = call.x + call.offsets[t] + begin;
      for (int64_t i = 0; i < kBlock; ++i) sums[i] += weight * x[i];
    }
    const int64_t rest = call.count - begin < kBlock ? call.count - begin : kBlock;
    for (int64_t i = 0; i < rest; ++i) call.sums[begin + i] = sums[i];
  }
}

}  // namespace

constinit const Kernels OCTAVO_ISA::kKernels = {.add = &Binary<AddOp>,
                                                .subtract = &Binary<SubtractOp>,
                                                .multiply = &Binary<MultiplyOp>,
                                                .divide = &Binary<DivideOp>,
                                                .max = &Extreme<true>,
                                                .min = &Extreme<false>,
                                                .quantize = &Quantize,
                                                .dequantize = &Dequantize,
                                                .max_in_place = &MaxInPlace,
                                                .accumulate = &Accumulate,
                                                .max_of_windows = &MaxOfWindows,
                                                .requantize = &Requantize,
                                                .mean_of_taps = &MeanOfTaps,
                                                .look_up = &LookUp,
                                                .max_of = &MaxOf,
                                                .sum_rows = &SumRows,
                                                .quantize_quotients = &QuantizeQuotients,
                                                .sum_of_squares = &SumOfSquares,
                                                .moments = &MomentsOf,
                                                .normalize = &Normalize,
                                                .narrow_product = &Product<int32_t>,
                                                .wide_product = &Product<int64_t>,
                                                .add_pairs = &AddPairs};

}  // namespace octavo::runtime::simd
