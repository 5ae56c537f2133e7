// SPDX-License-Identifier: Apache-2.0
// The input of a convolution in a layout in which the pixels of one output row under one tap are
// adjacent: padded with zeros, and with columns sorted by their remainder modulo the stride.
#pragma once

#include <cstdint>
#include <vector>

#include "core/float_exec/kernels/conv.h"
#include "core/float_exec/kernels/gemm.h"

namespace octavo::float_exec::internal {

struct Field {
  int64_t rows = 0;
  int64_t phases = 1;  // the horizontal stride, or 1 if the kernel has one column
  int64_t width = 0;   // columns of one phase
  int64_t step_height = 1;
  int64_t out_height = 0, out_width = 0;

  int64_t plane() const { return rows * phases * width; }
  // Offset of the window of output pixel (row, column), and offset of a tap within the window.
  int64_t Pixel(int64_t row, int64_t column) const {
    return row * step_height * phases * width + column;
  }
  int64_t Tap(int64_t row, int64_t column) const {
    return (row * phases + column % phases) * width + column / phases;
  }
};

// Floats that a consumer may read beyond the last plane.
inline constexpr int64_t kFieldSlack = 64;

// The placement of one input plane in the field: row r of the field is input row r * skip_height -
// top if that exists, else zeros; columns likewise.
struct Placement {
  int64_t in_height = 0, in_width = 0;
  int64_t top = 0, left = 0;
  int64_t skip_height = 1, skip_width = 1;
};
// The rows and columns of a field that contain input elements.
struct Interior {
  Range rows = {};
  std::vector<Range> columns = {};  // per phase
};
Interior InteriorOf(const Field& field, const Placement& placement);

// Which elements outside the input FillPlane writes: all; only whole rows (the columns are zero
// already); or none (all are zero already).
enum class Border { kWritten, kRowsWritten, kCleared };
void FillPlane(const Tiles& tiles, const Field& field, const Placement& placement,
               const Interior& interior, const float* x, Border border, float* plane);

// A field for some output rows of a plane, starting at `row`.
struct Band {
  int64_t row = 0;
  Placement placement = {};
  Interior interior = {};
  Border border = Border::kRowsWritten;
};
// `field` has the size of a band; `whole` places the plane.  All bands have the same columns
// outside the input, but not the same rows.
Band BandOf(const Field& field, const Placement& whole, int64_t row);

// Writes columns [columns) and rows [k) of the matrix [tap][output pixel] in the panels of
// PackColumns.  offsets[tap] is the offset of a tap in `field_data`.
void PackPixels(const Tiles& tiles, const Field& field, const float* field_data,
                const std::vector<int64_t>& offsets, Range k, Range columns, float* out);

// As PackPixels, for a pointwise convolution with horizontal stride 2 and without padding.  It
// packs from the input; [k) are channels.
void PackStrided(const Tiles& tiles, const ConvShape& shape, int64_t out_width, const float* x,
                 Range k, Range columns, float* out);

}  // namespace octavo::float_exec::internal
