#include "core/reference/kernels/field.h"

#include <algorithm>
#include <cstring>

namespace octavo::reference::internal {
namespace {

constexpr int64_t kChunk = 8;  // floats that a run is copied by, at most kPackSlack

// Adjacent pixels of one output row within a panel.
struct Run {
  int64_t to = 0, from = 0, length = 0;
};

void FillRow(const Field& field, const Placement& placement, const float* x, float* row) {
  const int64_t columns = field.width * field.phases;
  if (field.phases == 1 && placement.stuff_width == 1) {
    const int64_t begin = std::max<int64_t>(0, -placement.left);
    const int64_t end = std::min(placement.in_width, columns - placement.left);
    if (begin < end) std::copy(x + begin, x + end, row + begin + placement.left);
    return;
  }
  for (int64_t phase = 0; phase < field.used_phases; ++phase) {
    float* to = row + phase * field.width;
    if (placement.stuff_width == 1) {
      // Element i of the phase is column i * phases + phase of the field.
      const int64_t shift = phase - placement.left;
      const int64_t begin = shift >= 0 ? 0 : (-shift + field.phases - 1) / field.phases;
      const int64_t room = placement.in_width - shift + field.phases - 1;
      const int64_t end = std::min(field.width, room <= 0 ? 0 : room / field.phases);
      for (int64_t i = begin; i < end; ++i) to[i] = x[i * field.phases + shift];
      continue;
    }
    // Zeros are stuffed between elements only where the stride, and so `phases`, is 1.
    for (int64_t i = 0; i < placement.in_width; ++i) {
      const int64_t column = placement.left + i * placement.stuff_width;
      if (column >= 0 && column < columns) to[column] = x[i];
    }
  }
}

// The runs of the columns [begin, end); runs are written in order, so that each may spill into
// the next.
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

void FillPlane(const Field& field, const Placement& placement, const float* x, float* plane) {
  std::fill_n(plane, field.plane(), 0.0f);
  for (int64_t i = 0; i < placement.in_height; ++i) {
    const int64_t row = placement.top + i * placement.stuff_height;
    if (row < 0 || row >= field.rows || row % field.used_row_step != 0) continue;
    FillRow(field, placement, x + i * placement.in_width, plane + row * field.phases * field.width);
  }
}

void PackPixels(const Tiles& tiles, const Field& field, const float* field_data,
                const std::vector<int64_t>& offsets, Range k, Range columns, float* out) {
  std::vector<Run> runs;
  for (int64_t n = columns.begin; n < columns.end; n += tiles.panel()) {
    const int64_t valid = std::min<int64_t>(tiles.panel(), columns.end - n);
    const int64_t width = (valid + tiles.lanes - 1) / tiles.lanes * tiles.lanes;
    FindRuns(field, {n, n + valid}, runs);
    for (int64_t row = k.begin; row < k.end; ++row, out += width) {
      const float* tap = field_data + offsets[row];
      for (const Run& run : runs) {
        for (int64_t i = 0; i < run.length; i += kChunk) {
          std::memcpy(out + run.to + i, tap + run.from + i, kChunk * sizeof(float));
        }
      }
      for (int64_t i = valid; i < width; ++i) out[i] = 0;
    }
  }
}

}  // namespace octavo::reference::internal
