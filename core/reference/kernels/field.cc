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

// Both halves of a row of two phases at once, where what exists of each lies within the field.
bool SplitRow(const Tiles& tiles, const Field& field, const Placement& placement, const float* x,
              float* row) {
  const int64_t size = placement.in_width;
  float* halves[2] = {};
  for (int64_t phase = 0; phase < 2; ++phase) {
    // Element i of the phase is x[2 * i + first], of the half `parity`.
    const int64_t first = phase - placement.left, parity = first & 1;
    const int64_t begin = (parity - first) / 2, end = begin + (size + 1 - parity) / 2;
    if (begin < 0 || end > field.width) return false;
    float* to = row + phase * field.width;
    std::fill(to, to + begin, 0.0f);
    std::fill(to + end, to + field.width, 0.0f);
    halves[parity] = to + begin;
  }
  tiles.split(x, size, halves[0], halves[1]);
  return true;
}

void FillRow(const Tiles& tiles, const Field& field, const Placement& placement, const float* x,
             float* row) {
  if (field.phases == 2 && SplitRow(tiles, field, placement, x, row)) return;
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

void FillPlane(const Tiles& tiles, const Field& field, const Placement& placement, const float* x,
               float* plane) {
  const int64_t row_size = field.phases * field.width;
  for (int64_t r = 0; r < field.rows; ++r, plane += row_size) {
    const int64_t row = r * placement.skip_height - placement.top;
    if (row < 0 || row >= placement.in_height) {
      std::fill_n(plane, row_size, 0.0f);
    } else {
      FillRow(tiles, field, placement, x + row * placement.in_width, plane);
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
