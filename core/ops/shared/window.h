// SPDX-License-Identifier: Apache-2.0
// Sliding windows of convolutions and pools: sizes, strides, dilations and padding for any number
// of spatial axes.  Data are [N, C, spatial..].
#pragma once

#include "core/ops/shared/data_op.h"

namespace octavo::ops {

struct Window {
  std::vector<int64_t> in, kernel, strides, dilations, pads_begin, pads_end, out;

  size_t axes() const { return in.size(); }
  int64_t taps() const { return ir::NumElements(kernel); }
  int64_t positions() const { return ir::NumElements(out); }
  // Input coordinate along axis d of tap k at output position o; may be in the padding.
  int64_t Coordinate(size_t d, int64_t o, int64_t k) const {
    return o * strides[d] + k * dilations[d] - pads_begin[d];
  }
};

// Computes the window from the attributes kernel_shape (or from `kernel` if the weight determines
// it), strides, dilations, pads, auto_pad and ceil_mode.  The error describes what is wrong with
// them.
Result<Window> WindowOf(const ir::Node& node, const ir::Shape& data,
                        std::vector<int64_t> kernel = {});

// For identity_of: input 0, if each window is one element of it.
int FirstIfWindowOfOne(const ir::Graph& graph, const ir::Node& node);

// Calls body(position, tap, input_offset) for every output position of one channel and every tap
// in row-major order; input_offset is -1 in the padding.
template <class Body>
void ForEachTap(const Window& window, int64_t begin, int64_t end, Body&& body) {
  const size_t axes = window.axes();
  const ir::Shape strides = ir::StridesOf(window.in);
  std::vector<int64_t> position(axes), tap(axes);
  for (int64_t p = begin; p < end; ++p) {
    for (size_t d = axes, rest = static_cast<size_t>(p); d-- > 0;) {
      position[d] = static_cast<int64_t>(rest) % window.out[d];
      rest /= static_cast<size_t>(window.out[d]);
    }
    const int64_t taps = window.taps();
    std::fill(tap.begin(), tap.end(), 0);
    for (int64_t t = 0; t < taps; ++t) {
      int64_t offset = 0;
      for (size_t d = 0; d < axes; ++d) {
        const int64_t at = window.Coordinate(d, position[d], tap[d]);
        if (at < 0 || at >= window.in[d]) {
          offset = -1;
          break;
        }
        offset += at * strides[d];
      }
      body(p, t, offset);
      for (size_t d = axes; d-- > 0 && ++tap[d] == window.kernel[d];) tap[d] = 0;
    }
  }
}

// The positions of one output row for which one tap is inside the input: `count` positions starting
// at `position`; their elements start at `offset`, `step` apart.
struct TapRow {
  int64_t position = 0, count = 0;
  int64_t offset = 0, step = 1;
};

// Calls body(row) for the taps of each output row in row-major order and skips the padding; every
// position therefore gets its elements in the order of ForEachTap.
template <class Body>
void ForEachTapRow(const Window& window, Body&& body) {
  const size_t last = window.axes() - 1;
  const ir::Shape strides = ir::StridesOf(window.in);
  const int64_t width = window.out[last], rows = width == 0 ? 0 : window.positions() / width;
  const int64_t step = window.strides[last];
  std::vector<int64_t> row(last), tap(last);
  for (int64_t r = 0; r < rows; ++r) {
    for (size_t d = last, rest = static_cast<size_t>(r); d-- > 0;) {
      row[d] = static_cast<int64_t>(rest) % window.out[d];
      rest /= static_cast<size_t>(window.out[d]);
    }
    const int64_t outer_taps = window.taps() / window.kernel[last];
    std::fill(tap.begin(), tap.end(), 0);
    for (int64_t t = 0; t < outer_taps; ++t) {
      int64_t base = 0;
      for (size_t d = 0; d < last && base >= 0; ++d) {
        const int64_t at = window.Coordinate(d, row[d], tap[d]);
        base = at < 0 || at >= window.in[d] ? -1 : base + at * strides[d];
      }
      for (int64_t k = 0; k < window.kernel[last] && base >= 0; ++k) {
        const int64_t first = window.Coordinate(last, 0, k);
        const int64_t begin = first >= 0 ? 0 : (-first + step - 1) / step;
        const int64_t room = window.in[last] - first;
        const int64_t end = room <= 0 ? 0 : std::min(width, (room + step - 1) / step);
        if (begin >= end) continue;
        body(TapRow{.position = r * width + begin,
                    .count = end - begin,
                    .offset = base + first + begin * step,
                    .step = step});
      }
      for (size_t d = last; d-- > 0 && ++tap[d] == window.kernel[d];) tap[d] = 0;
    }
  }
}

inline constexpr ir::AttrSpec kWindowAttributes[] = {
    {"kernel_shape", ir::AttrKind::kInts},     {"strides", ir::AttrKind::kInts},
    {"dilations", ir::AttrKind::kInts},        {"pads", ir::AttrKind::kInts},
    {"auto_pad", ir::AttrKind::kString},       {"ceil_mode", ir::AttrKind::kInt},
    {"count_include_pad", ir::AttrKind::kInt}, {"storage_order", ir::AttrKind::kInt},
};

}  // namespace octavo::ops
