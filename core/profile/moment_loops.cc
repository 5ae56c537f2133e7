// SPDX-License-Identifier: Apache-2.0
// octavo_vector_loops compiles this file once per instruction set; it must not call functions that
// other files share.
#include "core/profile/moment_loops.h"

namespace octavo::profile {
namespace {

constexpr int kRows = 4;
constexpr int kLanes = 32;

// Four rows of products with 32 terms: the accumulators fit into the registers.  A row that is not
// there repeats another, and its sums are dropped.
void Tile(const SecondCall& call, const int64_t (&rows)[kRows], int64_t at, int64_t lanes,
          float (&sums)[kRows][kLanes]) {
  float sum[kRows][kLanes] = {};
  const float* block = call.columns + call.begin;
  if (lanes == kLanes) {
    for (int64_t c = 0; c < call.count; ++c) {
      const float* x = block + c * call.stride;
      for (int r = 0; r < kRows; ++r) {
        const float left = x[rows[r]];
        for (int lane = 0; lane < kLanes; ++lane) sum[r][lane] += left * x[at + lane];
      }
    }
  } else {
    for (int64_t c = 0; c < call.count; ++c) {
      const float* x = block + c * call.stride;
      for (int r = 0; r < kRows; ++r) {
        const float left = x[rows[r]];
        for (int64_t lane = 0; lane < lanes; ++lane) sum[r][lane] += left * x[at + lane];
      }
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int lane = 0; lane < kLanes; ++lane) sums[r][lane] = sum[r][lane];
  }
}

void AddSecond(const SecondCall& call, int64_t first, int64_t last) {
  float sums[kRows][kLanes];
  for (int64_t k = first; k < last; k += kRows) {
    int64_t rows[kRows];
    for (int r = 0; r < kRows; ++r) rows[r] = k + r < last ? k + r : last - 1;
    for (int64_t at = 0; at <= rows[kRows - 1]; at += kLanes) {
      const int64_t lanes = call.terms - at < kLanes ? call.terms - at : kLanes;
      Tile(call, rows, at, lanes, sums);
      for (int r = 0; r < kRows && k + r < last; ++r) {
        const int64_t row = k + r;
        double* out = call.sums + row * (row + 1) / 2;
        const int64_t end = at + lanes <= row ? at + lanes : row + 1;
        for (int64_t l = at; l < end; ++l) out[l] += static_cast<double>(sums[r][l - at]);
      }
    }
  }
}

void AddFirst(const float* columns, int64_t count, int64_t stride, double* sums) {
  constexpr int64_t kPart = 64;
  for (int64_t begin = 0; begin < stride; begin += kPart) {
    const int64_t terms = stride - begin < kPart ? stride - begin : kPart;
    float sum[kPart] = {};
    for (int64_t c = 0; c < count; ++c) {
      const float* x = columns + c * stride + begin;
      for (int64_t k = 0; k < terms; ++k) sum[k] += x[k];
    }
    for (int64_t k = 0; k < terms; ++k) sums[begin + k] += static_cast<double>(sum[k]);
  }
}

}  // namespace

constinit const MomentLoops OCTAVO_ISA::kMomentLoops = {.second = &AddSecond, .first = &AddFirst};

}  // namespace octavo::profile
