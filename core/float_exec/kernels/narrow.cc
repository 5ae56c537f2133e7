// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/kernels/narrow.h"

#include <algorithm>
#include <vector>

#include "core/float_exec/kernels/gemm.h"

namespace octavo::float_exec::internal {
namespace {

// Accessing a vector that crosses a cache line takes twice as long.
constexpr int64_t kLine = 64 / sizeof(float);
float* AlignedToLine(float* p) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return p + (0 - address) % 64 / sizeof(float);
}

// Shared by all planes of a convolution.  The rows that the taps reach are sorted by their
// remainder modulo the stride, so that the rows of adjacent output rows are adjacent: [column of
// the kernel][remainder][row].
struct Plan {
  const Tiles* tiles = nullptr;
  ConvShape shape = {};
  int64_t out_height = 0, out_width = 0;
  bool pairs = false;  // process two planes at a time
  int64_t phases = 1;  // number of remainders
  int64_t rows = 0;    // per remainder
  std::vector<int32_t> columns = {};
  std::vector<int64_t> offsets = {};

  int64_t phase_size() const { return rows * tiles->lanes; }
  int64_t expanded_size() const { return shape.kernel_width * phases * phase_size(); }
};

bool FitsPairs(const Tiles& tiles, const ConvShape& s) {
  return s.in_width <= tiles.lanes && ConvOutWidth(s) <= tiles.lanes / 2;
}

Plan MakePlan(const Tiles& tiles, const ConvShape& s) {
  Plan plan{.tiles = &tiles,
            .shape = s,
            .out_height = ConvOutHeight(s),
            .out_width = ConvOutWidth(s),
            .pairs = FitsPairs(tiles, s),
            .phases = s.kernel_height == 1 ? 1 : s.stride_height};
  plan.rows = plan.out_height + (s.kernel_height - 1) * s.dilation_height / plan.phases;
  const int64_t lanes = tiles.lanes, half = plan.pairs ? lanes / 2 : lanes;
  for (int64_t j = 0; j < s.kernel_width; ++j) {
    for (int64_t i = 0; i < lanes; ++i) {
      const int64_t column = i % half * s.stride_width + j * s.dilation_width - s.pad_left;
      const bool exists = i % half < plan.out_width && column >= 0 && column < s.in_width;
      const int64_t plane = i / half * lanes;
      plan.columns.push_back(exists ? static_cast<int32_t>(plane + column) : -1);
    }
  }
  for (int64_t i = 0; i < s.kernel_height; ++i) {
    const int64_t row = i * s.dilation_height;
    for (int64_t j = 0; j < s.kernel_width; ++j) {
      plan.offsets.push_back((j * plan.phases + row % plan.phases) * plan.phase_size() +
                             row / plan.phases * lanes);
    }
  }
  return plan;
}

// The rows of each phase that lie in the input.
std::vector<NarrowCall::Phase> PhasesOf(const Plan& plan) {
  const ConvShape& s = plan.shape;
  std::vector<NarrowCall::Phase> phases;
  for (int64_t phase = 0; phase < plan.phases; ++phase) {
    // Row q of the phase is input row q * step + first.
    const int64_t step = s.stride_height, first = phase - s.pad_top;
    const int64_t before = first >= 0 ? 0 : (step - 1 - first) / step;
    const int64_t upto = first >= s.in_height ? 0 : (s.in_height - first + step - 1) / step;
    const int64_t begin = std::min(before, plan.rows);
    const int64_t end = std::clamp(upto, begin, plan.rows);
    phases.push_back({.x = (first + begin * step) * s.in_width,
                      .expanded = phase * plan.phase_size() + begin * plan.tiles->lanes,
                      .rows = end - begin});
  }
  return phases;
}

}  // namespace

bool IsNarrow(const Tiles& tiles, const ConvShape& s) {
  if (tiles.narrow == nullptr || s.out_channels != s.in_channels) return false;
  return FitsPairs(tiles, s) || (s.in_width <= 2 * tiles.lanes && ConvOutWidth(s) <= tiles.lanes);
}

void RunNarrow(const Tiles& tiles, const ConvShape& shape, const float* weights, const float* x,
               const float* bias, float* y, ThreadPool& pool) {
  const Plan plan = MakePlan(tiles, shape);
  const std::vector<NarrowCall::Phase> phases = PhasesOf(plan);
  const NarrowCall shared{.x = x,
                          .x_plane = shape.in_height * shape.in_width,
                          .x_stride = shape.stride_height * shape.in_width,
                          .x_width = shape.in_width,
                          .columns = plan.columns.data(),
                          .kernel_width = shape.kernel_width,
                          .column_stride = plan.phases * plan.phase_size(),
                          .phases = phases.data(),
                          .phase_count = plan.phases,
                          .offsets = plan.offsets.data(),
                          .weights = weights,
                          .taps = shape.kernel_height * shape.kernel_width,
                          .channels = shape.out_channels,
                          .bias = bias,
                          .y = y,
                          .y_height = plan.out_height,
                          .y_width = plan.out_width,
                          .pairs = plan.pairs};
  const int64_t planes = shape.batch * shape.in_channels, together = plan.pairs ? 2 : 1;
  pool.For((planes + together - 1) / together, 1, [&](int64_t begin, int64_t end) {
    // Rows outside the input stay zero.
    const Scratch memory(plan.expanded_size() + kLine);
    NarrowCall call = shared;
    call.expanded = AlignedToLine(memory.get());
    std::fill_n(call.expanded, plan.expanded_size(), 0.0f);
    call.begin = begin * together;
    call.end = std::min(end * together, planes);
    tiles.narrow(call);
  });
}

}  // namespace octavo::float_exec::internal
