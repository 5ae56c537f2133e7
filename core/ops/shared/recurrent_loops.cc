// SPDX-License-Identifier: Apache-2.0
// The loops of recurrent_loops.h in plain C++.  octavo_vector_loops compiles this file once per
// instruction set, so it must not call functions that other files define.

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "core/ops/shared/recurrent_loops.h"

namespace octavo::ops {
namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 8;
#elif defined(__AVX2__)
constexpr int kLanes = 4;
#else
constexpr int kLanes = 2;
#endif
constexpr int kVectors = kRowsOfTile / kLanes;

using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));

Doubles Load(const double* from) {
  Doubles values;
  __builtin_memcpy(&values, from, sizeof values);
  return values;
}

// GCC 12 compiles __builtin_convertvector to several instructions although one exists.
Doubles Load(const float* from) {
#if defined(__AVX512F__)
  return _mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif defined(__AVX2__)
  return _mm256_cvtps_pd(_mm_loadu_ps(from));
#else
  return Doubles{from[0], from[1]};
#endif
}

template <class T>
void AddRows(const T* tile, const double* x, int64_t count, double* sums) {
  Doubles sum[kVectors];
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) sum[v] = Load(sums + v * kLanes);
  for (int64_t i = 0; i < count; ++i) {
    const T* row = tile + i * kRowsOfTile;
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) sum[v] += Load(row + v * kLanes) * x[i];
  }
#pragma GCC unroll 16
  for (int v = 0; v < kVectors; ++v) __builtin_memcpy(sums + v * kLanes, &sum[v], sizeof sum[v]);
}

}  // namespace

constinit const RecurrentLoops OCTAVO_ISA::kRecurrentLoops = {.narrow = &AddRows<float>,
                                                              .wide = &AddRows<double>};

}  // namespace octavo::ops
