// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/kernels/field.h"

#include <algorithm>

namespace octavo::float_exec::internal {
namespace {

using Run = GatherCall::Run;  // adjacent pixels of one output row within a panel

// x / by for x >= 0.  A 64-bit division takes as long as copying a short row, and nearly all
// strides are 1 or 2.
int64_t Quotient(int64_t x, int64_t by) { return by == 1 ? x : by == 2 ? x >> 1 : x / by; }

// Positions [begin, end) of `count` that lie in the input: those with 0 <= i * step + first < size.
Range Inside(int64_t size, int64_t first, int64_t step, int64_t count) {
  const int64_t begin = first >= 0 ? 0 : std::min(count, Quotient(-first + step - 1, step));
  const int64_t end =
      first >= size ? begin : std::clamp(Quotient(size - first + step - 1, step), begin, count);
  return {begin, end};
}

void ClearRows(const Field& field, const Interior& interior, float* plane) {
  const int64_t row_size = field.phases * field.width;
  std::fill_n(plane, interior.rows.begin * row_size, 0.0f);
  std::fill_n(plane + interior.rows.end * row_size, (field.rows - interior.rows.end) * row_size,
              0.0f);
}

void ClearColumns(const Field& field, const Interior& interior, float* plane) {
  for (int64_t r = interior.rows.begin; r < interior.rows.end; ++r) {
    for (int64_t phase = 0; phase < field.phases; ++phase) {
      float* row = plane + (r * field.phases + phase) * field.width;
      for (int64_t i = 0; i < interior.columns[phase].begin; ++i) row[i] = 0;
      for (int64_t i = interior.columns[phase].end; i < field.width; ++i) row[i] = 0;
    }
  }
}

void CopyStrided(const Tiles& tiles, CopyCall call, int64_t step) {
  if (step == 2) {
    call.even = call.to;
    call.count = 2 * call.count - 1;
    return tiles.split(call);
  }
  for (int64_t r = 0; r < call.rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    float* to = call.to + r * call.to_stride;
    for (int64_t i = 0; i < call.count; ++i) to[i] = x[step * i];
  }
}

// Fills both phases in one pass; false unless all of the input lies within the field.
bool SplitRows(const Tiles& tiles, const Field& field, const Placement& placement,
               const Interior& interior, CopyCall call, float* row) {
  const int64_t size = placement.in_width;
  float* halves[2] = {};
  for (int64_t phase = 0; phase < 2; ++phase) {
    // Element i of the phase is x[2 * i + first], an element of the half `parity`.
    const int64_t first = phase - placement.left, parity = first & 1;
    const Range& columns = interior.columns[phase];
    if (columns.begin * 2 + first != parity || columns.size() != (size + 1 - parity) / 2) {
      return false;
    }
    halves[parity] = row + phase * field.width + columns.begin;
  }
  call.count = size;
  call.even = halves[0];
  call.odd = halves[1];
  tiles.split(call);
  return true;
}

// The runs of the columns [begin, end).  Runs are written in order, so each may overwrite the start
// of the next.
void FindRuns(const Field& field, Range columns, std::vector<Run>& runs) {
  runs.clear();
  for (int64_t n = columns.begin; n < columns.end;) {
    const int64_t row = n / field.out_width, column = n % field.out_width;
    const int64_t length = std::min(field.out_width - column, columns.end - n);
    runs.push_back({n - columns.begin, field.Pixel(row, column), length});
    n += length;
  }
}

}  // namespace

Interior InteriorOf(const Field& field, const Placement& placement) {
  Interior interior{Inside(placement.in_height, -placement.top, placement.skip_height, field.rows)};
  for (int64_t phase = 0; phase < field.phases; ++phase) {
    interior.columns.push_back(Inside(placement.in_width, phase - placement.left,
                                      field.phases * placement.skip_width, field.width));
  }
  return interior;
}

void FillPlane(const Tiles& tiles, const Field& field, const Placement& placement,
               const Interior& interior, const float* x, Border border, float* plane) {
  if (border != Border::kCleared) ClearRows(field, interior, plane);
  if (border == Border::kWritten) ClearColumns(field, interior, plane);
  const int64_t row_size = field.phases * field.width;
  const int64_t first_row = interior.rows.begin * placement.skip_height - placement.top;
  CopyCall call{.x = x + first_row * placement.in_width,
                .x_stride = placement.skip_height * placement.in_width,
                .to_stride = row_size,
                .rows = interior.rows.size()};
  float* row = plane + interior.rows.begin * row_size;
  if (field.phases == 2 && SplitRows(tiles, field, placement, interior, call, row)) return;
  const int64_t step = field.phases * placement.skip_width;
  const float* first = call.x;
  for (int64_t phase = 0; phase < field.phases; ++phase) {
    const Range& columns = interior.columns[phase];
    call.x = first + columns.begin * step + phase - placement.left;
    call.to = row + phase * field.width + columns.begin;
    call.count = columns.size();
    if (call.count == 0) continue;
    if (step == 1) {
      tiles.copy(call);
    } else {
      CopyStrided(tiles, call, step);
    }
  }
}

Band BandOf(const Field& field, const Placement& whole, int64_t row) {
  Band band{.row = row, .placement = whole};
  band.placement.top -= row * field.step_height * whole.skip_height;
  band.interior = InteriorOf(field, band.placement);
  if (band.interior.rows.size() == field.rows) band.border = Border::kCleared;
  return band;
}

void PackPixels(const Tiles& tiles, const Field& field, const float* field_data,
                const std::vector<int64_t>& offsets, Range k, Range columns, float* out) {
  std::vector<Run> runs;
  for (int64_t n = columns.begin; n < columns.end; n += tiles.panel()) {
    const int64_t valid = std::min<int64_t>(tiles.panel(), columns.end - n);
    const int64_t width = (valid + tiles.lanes - 1) / tiles.lanes * tiles.lanes;
    FindRuns(field, {n, n + valid}, runs);
    tiles.gather({.x = field_data,
                  .offsets = offsets.data() + k.begin,
                  .k = k.size(),
                  .runs = runs.data(),
                  .run_count = static_cast<int64_t>(runs.size()),
                  .out = out,
                  .valid = valid,
                  .width = width});
    out += k.size() * width;
  }
}

void PackStrided(const Tiles& tiles, const ConvShape& shape, int64_t out_width, const float* x,
                 Range k, Range columns, float* out) {
  const int64_t plane = shape.in_height * shape.in_width;
  for (int64_t n = columns.begin; n < columns.end; n += tiles.panel()) {
    const int64_t valid = std::min<int64_t>(tiles.panel(), columns.end - n);
    const int64_t width = RoundUp(valid, tiles.lanes);
    for (int64_t i = 0; i < valid;) {
      const int64_t row = (n + i) / out_width, column = (n + i) % out_width;
      const int64_t length = std::min(out_width - column, valid - i);
      tiles.split(
          {.x = x + k.begin * plane + row * shape.stride_height * shape.in_width + 2 * column,
           .x_stride = plane,
           .count = 2 * length - 1,
           .even = out + i,
           .to_stride = width,
           .rows = k.size()});
      i += length;
    }
    for (int64_t t = 0; t < k.size(); ++t, out += width) std::fill(out + valid, out + width, 0.0f);
  }
}

}  // namespace octavo::float_exec::internal
