// SPDX-License-Identifier: Apache-2.0
// octavo_vector_loops compiles this file once per instruction set; it must not call functions that
// other files share.
#include "core/passes/finish/descent_loops.h"

namespace octavo::passes {
namespace {

constexpr int64_t kLanes = 8;
using Doubles = double __attribute__((vector_size(kLanes * sizeof(double))));

#ifdef __AVX512F__
constexpr int kVectors = 8;  // enough sums at a time to hide the latency of an addition
#else
constexpr int kVectors = 4;
#endif
constexpr int kChannels = 4;
constexpr int kColumns = 2;  // vectors

// From and to any address.
void Load(const double* from, Doubles& to) { __builtin_memcpy(&to, from, sizeof to); }
void Store(const Doubles& from, double* to) { __builtin_memcpy(to, &from, sizeof from); }

void AddProduct(double factor, const double* from, Doubles& sum) {
  Doubles values;
  Load(from, values);
  sum += factor * values;
}

void AddScaled(double factor, const double* __restrict from, double* __restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] += factor * from[i];
}

void AddRows(const double* const* rows, const double* factors, int64_t count, int64_t begin,
             int64_t end, double* to) {
  int64_t at = begin;
  for (; at + kVectors * kLanes <= end; at += kVectors * kLanes) {
    Doubles sums[kVectors];
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) Load(to + at + i * kLanes, sums[i]);
    for (int64_t j = 0; j < count; ++j) {
      const double* row = rows[j] + at;
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) AddProduct(factors[j], row + i * kLanes, sums[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) Store(sums[i], to + at + i * kLanes);
  }
  for (int64_t j = 0; j < count && at < end; ++j) {
    AddScaled(factors[j], rows[j] + at, to + at, end - at);
  }
}

// The columns of one tile, of all rows; adjacent, since rows are far apart in a cache.
constexpr int64_t kWidth = kColumns * kLanes;
static_assert(kWidth == kPackedColumns);
void Pack(const double* const* rows, int64_t terms, int64_t at, double* packed) {
  for (int64_t j = 0; j < terms; ++j) {
    for (int i = 0; i < kColumns; ++i) {
      Doubles values;
      Load(rows[j] + at + i * kLanes, values);
      Store(values, packed + j * kWidth + i * kLanes);
    }
  }
}

// Four channels, for which the sums fit into the registers.
void MultiplyTile(const double* const (&factors)[kChannels], const double* packed, int64_t terms,
                  int64_t at, double* const (&to)[kChannels]) {
  Doubles sums[kChannels][kColumns] = {};
  for (int64_t j = 0; j < terms; ++j) {
    const double* row = packed + j * kWidth;
#pragma GCC unroll 4
    for (int c = 0; c < kChannels; ++c) {
#pragma GCC unroll 2
      for (int i = 0; i < kColumns; ++i) AddProduct(factors[c][j], row + i * kLanes, sums[c][i]);
    }
  }
  for (int c = 0; c < kChannels; ++c) {
    for (int i = 0; i < kColumns; ++i) Store(sums[c][i], to[c] + at + i * kLanes);
  }
}

void MultiplyRest(const double* factors, const double* const* rows, int64_t terms, int64_t at,
                  double* to) {
  for (int64_t i = at; i < terms; ++i) to[i] = 0;
  for (int64_t j = 0; j < terms; ++j) AddScaled(factors[j], rows[j] + at, to + at, terms - at);
}

void Multiply(const double* const* factors, const double* const* rows, double* const* to,
              int64_t channels, int64_t terms, double* packed) {
  const int64_t tiled = terms / kWidth * kWidth;
  for (int64_t at = 0; at < tiled; at += kWidth) {
    Pack(rows, terms, at, packed);
    for (int64_t first = 0; first < channels; first += kChannels) {
      // A channel that is not there repeats another.
      const double* some_factors[kChannels];
      double* some_to[kChannels];
      for (int64_t c = 0; c < kChannels; ++c) {
        const int64_t channel = first + c < channels ? first + c : channels - 1;
        some_factors[c] = factors[channel];
        some_to[c] = to[channel];
      }
      MultiplyTile(some_factors, packed, terms, at, some_to);
    }
  }
  for (int64_t c = 0; c < channels; ++c) MultiplyRest(factors[c], rows, terms, tiled, to[c]);
}

}  // namespace

constinit const DescentLoops OCTAVO_ISA::kDescentLoops = {
    .add_scaled = &AddScaled, .add_rows = &AddRows, .multiply = &Multiply};

}  // namespace octavo::passes
