// SPDX-License-Identifier: Apache-2.0
// Looks up bytes in a table of 256 entries by byte shuffles: sixteen shuffles by the low four bits,
// then a tree of selections by the high four bits.  All of it has internal linkage.
#pragma once

#include "core/runtime/simd/byte_vector.h"

namespace octavo::runtime::simd {
namespace {

#if defined(__AVX512BW__)
struct Bytes : ByteVector {
  using Choice = __mmask64;
  static Vector Broadcast(const uint8_t* p) {
    return _mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static Vector LowHalf(Vector x) { return _mm512_and_si512(x, _mm512_set1_epi8(15)); }
  static Vector Shuffle(Vector table, Vector index) { return _mm512_shuffle_epi8(table, index); }
  template <int kBit>
  static Choice Bit(Vector x) {
    return _mm512_movepi8_mask(_mm512_slli_epi16(x, 7 - kBit));
  }
  static Vector Select(Choice bit, Vector zero, Vector one) {
    return _mm512_mask_blend_epi8(bit, zero, one);
  }
};
#elif defined(__AVX2__)
struct Bytes : ByteVector {
  using Choice = __m256i;
  static Vector Broadcast(const uint8_t* p) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static Vector LowHalf(Vector x) { return _mm256_and_si256(x, _mm256_set1_epi8(15)); }
  static Vector Shuffle(Vector table, Vector index) { return _mm256_shuffle_epi8(table, index); }
  template <int kBit>
  static Choice Bit(Vector x) {
    return _mm256_slli_epi16(x, 7 - kBit);
  }
  // Selects by the top bit of each byte of `bit`.
  static Vector Select(Choice bit, Vector zero, Vector one) {
    return _mm256_blendv_epi8(zero, one, bit);
  }
};
#endif

#if defined(__AVX2__)
struct HighBits {
  Bytes::Choice b4, b5, b6, b7;
};

inline Bytes::Vector Quarter(const Bytes::Vector* tables, Bytes::Vector low, const HighBits& bits) {
  const auto first =
      Bytes::Select(bits.b4, Bytes::Shuffle(tables[0], low), Bytes::Shuffle(tables[1], low));
  const auto second =
      Bytes::Select(bits.b4, Bytes::Shuffle(tables[2], low), Bytes::Shuffle(tables[3], low));
  return Bytes::Select(bits.b5, first, second);
}

// Looks up whole vectors only.  Returns the number of bytes done.
inline int64_t LookUpVectors(const uint8_t* x, int64_t count, const uint8_t* table, uint8_t* y) {
  Bytes::Vector tables[16];
  for (int i = 0; i < 16; ++i) tables[i] = Bytes::Broadcast(table + 16 * i);
  int64_t at = 0;
  for (; at + Bytes::kCount <= count; at += Bytes::kCount) {
    const Bytes::Vector values = Bytes::Load(x + at), low = Bytes::LowHalf(values);
    const HighBits bits{Bytes::Bit<4>(values), Bytes::Bit<5>(values), Bytes::Bit<6>(values),
                        Bytes::Bit<7>(values)};
    const auto below =
        Bytes::Select(bits.b6, Quarter(tables, low, bits), Quarter(tables + 4, low, bits));
    const auto above =
        Bytes::Select(bits.b6, Quarter(tables + 8, low, bits), Quarter(tables + 12, low, bits));
    Bytes::Store(y + at, Bytes::Select(bits.b7, below, above));
  }
  return at;
}
#else
inline int64_t LookUpVectors(const uint8_t*, int64_t, const uint8_t*, uint8_t*) { return 0; }
#endif

// y may equal x.
void LookUp(const uint8_t* x, int64_t count, const uint8_t* table, uint8_t* y) {
  for (int64_t i = LookUpVectors(x, count, table, y); i < count; ++i) y[i] = table[x[i]];
}

}  // namespace
}  // namespace octavo::runtime::simd
