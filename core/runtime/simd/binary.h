// SPDX-License-Identifier: Apache-2.0
// Elementwise arithmetic on two operands: dequantize, compute, quantize.  Vectors of 32-bit lanes
// process the four bytes of a lane one after another, so that no operation widens across lanes.
// All of it has internal linkage.
#pragma once

#include "core/runtime/simd/byte_vector.h"
#include "core/runtime/simd/quantize.h"

namespace octavo::runtime::simd {
namespace {

struct AddOp {
  static constexpr bool kMayBeNan = false;
  template <class T>
  static T Of(T a, T b) {
    return a + b;
  }
};
struct SubtractOp {
  static constexpr bool kMayBeNan = false;
  template <class T>
  static T Of(T a, T b) {
    return a - b;
  }
};
struct MultiplyOp {
  static constexpr bool kMayBeNan = false;
  template <class T>
  static T Of(T a, T b) {
    return a * b;
  }
};
struct DivideOp {
  static constexpr bool kMayBeNan = true;
  template <class T>
  static T Of(T a, T b) {
    return a / b;
  }
};

#if defined(__AVX512BW__)
struct Lanes32 : ByteVector {
  using Floats = __m512;
  using Words = Vector;
  static Words Flip(Words x, uint8_t flip) {
    return _mm512_xor_si512(x, _mm512_set1_epi8(static_cast<char>(flip)));
  }
  static Floats Broadcast(float x) { return _mm512_set1_ps(x); }
  // 2^23 + byte kByte of each lane, as a float.
  template <int kByte>
  static Floats Biased(Words x) {
    const Words byte = _mm512_and_si512(_mm512_srli_epi32(x, 8 * kByte), _mm512_set1_epi32(0xff));
    return _mm512_castsi512_ps(_mm512_or_si512(byte, _mm512_set1_epi32(0x4b000000)));
  }
  static Floats ZeroNan(Floats x) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
  }
  // A float below the range of int32 becomes INT32_MIN, which has the right sign.
  static Words Round(Floats x, Floats high) { return _mm512_cvtps_epi32(_mm512_min_ps(x, high)); }
  // Packs the values of four bytes of each lane: adds `zero` and saturates to u8.
  static Words Pack(const Words v[4], int32_t zero) {
    const Words offset = _mm512_set1_epi16(static_cast<int16_t>(zero));
    const Words even = _mm512_adds_epi16(_mm512_packs_epi32(v[0], v[2]), offset);
    const Words odd = _mm512_adds_epi16(_mm512_packs_epi32(v[1], v[3]), offset);
    const Words order =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15));
    return _mm512_shuffle_epi8(_mm512_packus_epi16(even, odd), order);
  }
};
#elif defined(__AVX2__)
struct Lanes32 : ByteVector {
  using Floats = __m256;
  using Words = Vector;
  static Words Flip(Words x, uint8_t flip) {
    return _mm256_xor_si256(x, _mm256_set1_epi8(static_cast<char>(flip)));
  }
  static Floats Broadcast(float x) { return _mm256_set1_ps(x); }
  template <int kByte>
  static Floats Biased(Words x) {
    const Words byte = _mm256_and_si256(_mm256_srli_epi32(x, 8 * kByte), _mm256_set1_epi32(0xff));
    return _mm256_castsi256_ps(_mm256_or_si256(byte, _mm256_set1_epi32(0x4b000000)));
  }
  static Floats ZeroNan(Floats x) { return _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q)); }
  static Words Round(Floats x, Floats high) { return _mm256_cvtps_epi32(_mm256_min_ps(x, high)); }
  static Words Pack(const Words v[4], int32_t zero) {
    const Words offset = _mm256_set1_epi16(static_cast<int16_t>(zero));
    const Words even = _mm256_adds_epi16(_mm256_packs_epi32(v[0], v[2]), offset);
    const Words odd = _mm256_adds_epi16(_mm256_packs_epi32(v[1], v[3]), offset);
    const Words order = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15));
    return _mm256_shuffle_epi8(_mm256_packus_epi16(even, odd), order);
  }
};
#endif

#if defined(__AVX2__)
// Dequantizes an operand to vectors of floats.
struct Operand {
  Lanes32::Floats zero, scale;
  uint8_t flip;

  explicit Operand(const Quant& quant)
      : zero(Lanes32::Broadcast(0x1p23f + static_cast<float>(quant.zero_point))),
        scale(Lanes32::Broadcast(quant.scale)),
        flip(quant.flip) {}
  Lanes32::Words Load(const uint8_t* p) const { return Lanes32::Flip(Lanes32::Load(p), flip); }
  template <int kByte>
  Lanes32::Floats Dequantized(Lanes32::Words x) const {
    return (Lanes32::Biased<kByte>(x) - zero) * scale;
  }
};

template <class Op>
struct Vectors {
  Operand a, b;
  Lanes32::Floats scale, high;
  int32_t zero;
  uint8_t flip;

  explicit Vectors(const BinaryCall& call)
      : a(call.a_quant),
        b(call.b_quant),
        scale(Lanes32::Broadcast(call.y_quant.scale)),
        high(Lanes32::Broadcast(static_cast<float>(255 - call.y_quant.zero_point))),
        zero(call.y_quant.zero_point),
        flip(call.y_quant.flip) {}

  template <int kByte>
  Lanes32::Words Step(Lanes32::Words left, Lanes32::Words right) const {
    Lanes32::Floats steps = Op::Of(a.Dequantized<kByte>(left), b.Dequantized<kByte>(right)) / scale;
    if constexpr (Op::kMayBeNan) steps = Lanes32::ZeroNan(steps);
    return Lanes32::Round(steps, high);
  }
  Lanes32::Words Of(Lanes32::Words left, Lanes32::Words right) const {
    const Lanes32::Words values[4] = {Step<0>(left, right), Step<1>(left, right),
                                      Step<2>(left, right), Step<3>(left, right)};
    return Lanes32::Flip(Lanes32::Pack(values, zero), flip);
  }
};

template <class Op, bool kASteps, bool kBSteps>
void BinaryLoop(const BinaryCall& call) {
  constexpr int64_t kBytes = Lanes32::kCount;
  const Vectors<Op> vectors(call);
  const uint8_t* a = call.a;
  const uint8_t* b = call.b;
  uint8_t* y = call.y;
  uint8_t left[kBytes], right[kBytes];
  if (!kASteps) __builtin_memset(left, *a, kBytes);
  if (!kBSteps) __builtin_memset(right, *b, kBytes);
  int64_t rest = call.count;
  for (; rest >= kBytes; rest -= kBytes, y += kBytes) {
    Lanes32::Store(
        y, vectors.Of(vectors.a.Load(kASteps ? a : left), vectors.b.Load(kBSteps ? b : right)));
    if (kASteps) a += kBytes;
    if (kBSteps) b += kBytes;
  }
  if (rest == 0) return;
  if (kASteps) {
    __builtin_memset(left, 0, kBytes);
    __builtin_memcpy(left, a, static_cast<size_t>(rest));
  }
  if (kBSteps) {
    __builtin_memset(right, 0, kBytes);
    __builtin_memcpy(right, b, static_cast<size_t>(rest));
  }
  uint8_t result[kBytes];
  Lanes32::Store(result, vectors.Of(vectors.a.Load(left), vectors.b.Load(right)));
  __builtin_memcpy(y, result, static_cast<size_t>(rest));
}
#else
template <class Op, bool kASteps, bool kBSteps>
void BinaryLoop(const BinaryCall& call) {
  const Quant a_quant = call.a_quant, b_quant = call.b_quant, y_quant = call.y_quant;
  const uint8_t* __restrict a = call.a;
  const uint8_t* __restrict b = call.b;
  uint8_t* __restrict y = call.y;
  // Byte stores may alias anything; reading the count through `call` would prevent vectorization.
  const int64_t count = call.count;
  for (int64_t i = 0; i < count; ++i) {
    const float y_real =
        Op::Of(Dequantized(a[kASteps ? i : 0], a_quant), Dequantized(b[kBSteps ? i : 0], b_quant));
    y[i] = Quantized(y_real / y_quant.scale, y_quant);
  }
}
#endif

template <class Op>
void Binary(const BinaryCall& call) {
  if (call.a_steps && call.b_steps) return BinaryLoop<Op, true, true>(call);
  if (call.a_steps) return BinaryLoop<Op, true, false>(call);
  if (call.b_steps) return BinaryLoop<Op, false, true>(call);
  BinaryLoop<Op, false, false>(call);
}

}  // namespace
}  // namespace octavo::runtime::simd
