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

// x / by for x >= 0; a 64-bit division takes as long as copying a short row, and nearly all
// strides are 1 or 2.
int64_t Quotient(int64_t x, int64_t by) { return by == 1 ? x : by == 2 ? x >> 1 : x / by; }

// to[i] = x[first + i * step] where that exists, else 0.
void CopyStrided(const float* x, int64_t size, int64_t first, int64_t step, float* to,
                 int64_t count) {
  const int64_t begin = first >= 0 ? 0 : std::min(count, Quotient(-first + step - 1, step));
  const int64_t end =
      first >= size ? begin : std::clamp(Quotient(size - first + step - 1, step), begin, count);
  std::fill(to, to + begin, 0.0f);
  const float* from = x + first + begin * step;
  if (step == 1) {
    std::copy(from, from + (end - begin), to + begin);
  } else if (step == 2) {
    for (int64_t i = begin; i < end; ++i) to[i] = from[2 * (i - begin)];
  } else {
    for (int64_t i = begin; i < end; ++i) to[i] = from[step * (i - begin)];
  }
  std::fill(to + end, to + count, 0.0f);
}

void FillRow(const Field& field, const Placement& placement, const float* x, float* row) {
  if (placement.stuff_width > 1) {
    std::fill_n(row, field.width, 0.0f);
    for (int64_t i = 0; i < placement.in_width; ++i) {
      const int64_t column = placement.left + i * placement.stuff_width;
      if (column >= 0 && column < field.width) row[column] = x[i];
    }
    return;
  }
  const int64_t step = field.phases * placement.skip_width;
  for (int64_t phase = 0; phase < field.phases; ++phase) {
    CopyStrided(x, placement.in_width, phase - placement.left, step, row + phase * field.width,
                field.width);
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
  const int64_t row_size = field.phases * field.width;
  for (int64_t r = 0; r < field.rows; ++r, plane += row_size) {
    const int64_t from = r * placement.skip_height - placement.top;
    const int64_t row = from < 0 ? -1 : Quotient(from, placement.stuff_height);
    if (row < 0 || row >= placement.in_height || row * placement.stuff_height != from) {
      std::fill_n(plane, row_size, 0.0f);
    } else {
      FillRow(field, placement, x + row * placement.in_width, plane);
    }
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
