// The loops of rows.h in plain C++, compiled once per instruction set by the rows_*.cc files.  All
// of it has internal linkage.  Contraction of a multiply and an add is off in the whole project.
#pragma once

#include "core/runtime/rows/rows_binary.h"
#include "core/runtime/rows/rows_code.h"
#include "core/runtime/rows/rows_lookup.h"
#include "core/runtime/rows/rows_normalize.h"
#include "core/runtime/rows/rows_window.h"

namespace octavo::runtime::rows {
namespace {

template <bool kGreatest, bool kASteps, bool kBSteps>
void ExtremeLoop(const BinaryCall& call) {
  const uint8_t flip = call.a_codes.flip;
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

void Dequantize(const uint8_t* __restrict x, int64_t count, Codes codes, float* __restrict y) {
  for (int64_t i = 0; i < count; ++i) y[i] = Real(x[i], codes);
}

void Raise(const uint8_t* __restrict x, int64_t count, uint8_t flip, uint8_t* __restrict acc) {
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t code = x[i] ^ flip;
    acc[i] = acc[i] > code ? acc[i] : code;
  }
}

void Sum(const uint8_t* __restrict x, int64_t count, uint8_t flip, int32_t* __restrict sums) {
  for (int64_t i = 0; i < count; ++i) sums[i] += static_cast<uint8_t>(x[i] ^ flip);
}

void Finish(const int32_t* __restrict sums, int64_t count, int32_t offset, float multiplier,
            Codes codes, uint8_t* __restrict y) {
  for (int64_t i = 0; i < count; ++i) {
    y[i] = Code(static_cast<float>(sums[i] - offset) * multiplier, codes);
  }
}

void MeanOfWindow(const MeanCall& call) {
  constexpr int64_t kBlock = 64;
  for (int64_t begin = 0; begin < call.channels; begin += kBlock) {
    const int64_t rest = call.channels - begin, count = rest < kBlock ? rest : kBlock;
    int32_t sums[kBlock] = {};
    for (int64_t t = 0; t < call.taps; ++t) {
      const int32_t* x = call.columns + t * call.tap_step + begin;
      for (int64_t i = 0; i < count; ++i) sums[i] += x[i];
    }
    Finish(sums, count, call.offset, call.multiplier, call.codes, call.y + begin);
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

constexpr Rows MakeRows() {
  return {.add = &Binary<AddOp>,
          .subtract = &Binary<SubtractOp>,
          .multiply = &Binary<MultiplyOp>,
          .divide = &Binary<DivideOp>,
          .greatest = &Extreme<true>,
          .least = &Extreme<false>,
          .quantize = &Quantize,
          .dequantize = &Dequantize,
          .raise = &Raise,
          .sum = &Sum,
          .greatest_of_windows = &GreatestOfWindows,
          .finish = &Finish,
          .mean_of_window = &MeanOfWindow,
          .look_up = &LookUp,
          .greatest_of = &GreatestOf,
          .row_sums = &RowSums,
          .quotients = &Quotients,
          .squares = &SquaresOf,
          .moments = &MomentsOf,
          .normalize = &Normalize,
          .narrow_product = &Product<int32_t>,
          .wide_product = &Product<int64_t>};
}

}  // namespace
}  // namespace octavo::runtime::rows
