// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/kernels/gemm.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/base/cpu.h"

namespace octavo::float_exec::internal {
namespace {

// With this depth, a panel of B takes 24 KiB.
constexpr int64_t kDepth = 128;
constexpr int64_t kPanelsPerBlock = 10;

// The width of the panel that begins at `column`.
int64_t PanelWidth(const Tiles& tiles, int64_t column, int64_t columns) {
  return std::min<int64_t>(tiles.panel(), RoundUp(columns - column, tiles.lanes));
}

void AddColumnBias(const Product& p, Range rows, Range columns) {
  for (int64_t r = rows.begin; r < rows.end; ++r) {
    float* c = p.c + r * p.c_stride;
    for (int64_t n = columns.begin; n < columns.end; ++n) c[n] += p.bias.per_column[n];
  }
}

// Computes one tile of C with `vectors` vectors.  If the last vector is partial, it computes the
// tile in a temporary buffer.
void RunTile(const Product& p, TileCall call, Range rows, Range columns, int64_t vectors) {
  const Tiles& tiles = *p.tiles;
  const int64_t height = rows.size(), width = columns.size();
  const auto& functions = p.direct_a == nullptr ? tiles.tile : tiles.tile_in_place;
  const TileFunction function = functions[height - 1][vectors - 1];
  float* c = p.c + rows.begin * p.c_stride + columns.begin;
  if (width == vectors * tiles.lanes) {
    call.c = c;
    call.c_stride = p.c_stride;
    return function(call);
  }
  constexpr int64_t kStride = 16 * kMaxTileVectors;
  float full_tile[kMaxTileRows * kStride] = {};
  for (int64_t r = 0; call.accumulate && r < height; ++r) {
    std::copy_n(c + r * p.c_stride, width, full_tile + r * kStride);
  }
  call.c = full_tile;
  call.c_stride = kStride;
  function(call);
  for (int64_t r = 0; r < height; ++r) {
    std::copy_n(full_tile + r * kStride, width, c + r * p.c_stride);
  }
}

// One panel of the right operand for one part of the sum; its first row is at `b`.  `next` is the
// panel after it; each tile prefetches another line of it.
struct Panel {
  Range columns = {};
  const float* b = nullptr;
  int64_t stride = 0;
  const float* next = nullptr;
  int64_t next_stride = 0, next_lines = 1;
};

Panel PanelOf(Range columns, const float* b, int64_t stride, const Tiles& tiles) {
  return {columns, b, stride, b + tiles.panel(), stride, kMaxTileVectors};
}

// Computes the columns of `panel` in the block `rows` for the part `k` of the sum.
void RunPanel(const Product& p, Range rows, const Panel& panel, Range k) {
  const int64_t height = p.tiles->rows;
  const int64_t vectors = CeilDiv(panel.columns.size(), p.tiles->lanes);
  const bool in_place = p.direct_a != nullptr;
  const int64_t a_step = height * (in_place ? p.a_stride : p.k);
  const float* a = in_place ? p.direct_a + rows.begin * p.a_stride + k.begin
                            : p.packed_a + rows.begin * p.k + k.begin * height;  // begins a panel
  const bool last = k.end == p.k;
  const bool has_row_bias = last && p.bias.per_row != nullptr;
  int64_t line = 0;
  for (int64_t r = rows.begin; r < rows.end; r += height, a += a_step) {
    const Range tile{r, std::min(r + height, rows.end)};
    RunTile(p,
            {.a = a,
             .a_stride = p.a_stride,
             .b = panel.b,
             .b_stride = panel.stride,
             .prefetch = panel.next + line * p.tiles->lanes,
             .prefetch_stride = panel.next_stride,
             .k = k.size(),
             .accumulate = k.begin > 0,
             .row_bias = has_row_bias ? p.bias.per_row + r : nullptr},
            tile, panel.columns, vectors);
    line = line + 1 == panel.next_lines ? 0 : line + 1;
    if (last && p.bias.per_column != nullptr) AddColumnBias(p, tile, panel.columns);
  }
}

// Packs the columns into `packed`.
Panel PackPanel(const Product& p, Range k, Range columns, float* packed) {
  const Tiles& tiles = *p.tiles;
  (*p.pack_b)(k, columns, packed);
  Panel panel = PanelOf(columns, packed, RoundUp(columns.size(), tiles.lanes), tiles);
  const auto next = static_cast<size_t>(columns.end / tiles.panel());
  if (columns.end < p.n && next < p.source.panels.size()) {
    const std::span<const int64_t> panels = p.source.panels;
    panel.next = p.source.data + k.begin * p.source.stride + panels[next];
    panel.next_stride = p.source.stride;
    panel.next_lines = CeilDiv(panels[next] - panels[next - 1], tiles.lanes) + 1;
  }
  return panel;
}

// Computes the block rows x columns of C.  rows.begin and columns.begin are multiples of the
// tile's.
void RunBlock(const Product& p, Range rows, Range columns) {
  const Tiles& tiles = *p.tiles;
  const int64_t depth = DepthOf(p.k);
  const Scratch packed(tiles.panel() * depth + kPackSlack);
  for (int64_t k0 = 0; k0 < std::max<int64_t>(p.k, 1); k0 += depth) {
    const Range k{k0, std::min(k0 + depth, p.k)};
    for (int64_t n = columns.begin; n < columns.end; n += tiles.panel()) {
      const int64_t width = PanelWidth(tiles, n, p.n);
      const Range panel{n, std::min(n + width, columns.end)};
      if (p.pack_b != nullptr) {
        RunPanel(p, rows, PackPanel(p, k, panel, packed.get()), k);
      } else if (p.packed_b != nullptr) {
        const float* b = p.packed_b + n * p.k + k.begin * width;
        RunPanel(p, rows, PanelOf(panel, b, width, tiles), k);
      } else if (panel.size() == width) {
        const float* b = p.direct_b + k.begin * p.b_stride + n;
        RunPanel(p, rows, PanelOf(panel, b, p.b_stride, tiles), k);
      } else {
        PackColumns(tiles, {p.direct_b, p.k, p.n, p.b_stride, 1}, k, panel, packed.get());
        RunPanel(p, rows, PanelOf(panel, packed.get(), width, tiles), k);
      }
    }
  }
}

// memcpy for a few tens of floats, without the cost of a call.
void CopyFloats(const float* from, int64_t count, float* to) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) std::memcpy(to + i, from + i, 4 * sizeof(float));
  for (; i < count; ++i) to[i] = from[i];
}

// to[k * height + r] = from[r * row_stride + k] for four rows and four k.
void TransposeFour(const float* from, int64_t row_stride, float* to, int64_t height) {
  using Four = float __attribute__((vector_size(16)));
  Four a, b, c, d;
  std::memcpy(&a, from, sizeof(a));
  std::memcpy(&b, from + row_stride, sizeof(b));
  std::memcpy(&c, from + 2 * row_stride, sizeof(c));
  std::memcpy(&d, from + 3 * row_stride, sizeof(d));
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four columns[] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                          __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                          __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                          __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (int k = 0; k < 4; ++k) std::memcpy(to + k * height, &columns[k], sizeof(Four));
}

struct Cut {
  int64_t columns = 0, rows = 0;  // per block
  int64_t column_blocks = 0, row_blocks = 0;
};

// Splits along n, which repeats no packing, then along m, until there are a few blocks per thread.
Cut CutProduct(int64_t count, const Product& p, int threads) {
  const int64_t panel = p.tiles->panel(), height = p.tiles->rows;
  const int64_t wanted = threads == 1 ? 1 : 3 * threads;
  const int64_t wanted_each = (wanted + count - 1) / count;
  Cut cut;
  const int64_t panels = (p.n + panel - 1) / panel;
  const int64_t most = std::max<int64_t>(1, panels / wanted_each);
  cut.columns = std::min(kPanelsPerBlock, most) * panel;
  cut.column_blocks = (p.n + cut.columns - 1) / cut.columns;
  const int64_t row_cuts = std::max<int64_t>(1, wanted_each / cut.column_blocks);
  cut.rows = RoundUp((p.m + row_cuts - 1) / row_cuts, height);
  cut.row_blocks = (p.m + cut.rows - 1) / cut.rows;
  return cut;
}

struct Block {
  int64_t size = 0;
  Floats data;
};
constexpr size_t kKeptBlocks = 4;

std::vector<Block>& KeptBlocks() {
  static thread_local std::vector<Block> blocks;
  return blocks;
}

}  // namespace

Scratch::Scratch(int64_t floats) : size_(floats) {
  if (floats == 0) return;
  std::vector<Block>& blocks = KeptBlocks();
  // Take the smallest block that is large enough.
  auto best = blocks.end();
  for (auto it = blocks.begin(); it != blocks.end(); ++it) {
    if (it->size >= floats && (best == blocks.end() || it->size < best->size)) best = it;
  }
  if (best == blocks.end()) {
    data_ = Memory(floats);
    return;
  }
  size_ = best->size;
  data_ = std::move(best->data);
  blocks.erase(best);
}

Scratch::~Scratch() {
  if (data_ == nullptr || size_ > kKept) return;
  std::vector<Block>& blocks = KeptBlocks();
  blocks.push_back({size_, std::move(data_)});
  if (blocks.size() <= kKeptBlocks) return;
  blocks.erase(std::min_element(blocks.begin(), blocks.end(),
                                [](const Block& a, const Block& b) { return a.size < b.size; }));
}

const Tiles& CurrentTiles() { return ForIsa(portable::kTiles, avx2::kTiles, avx512::kTiles); }

int64_t DepthOf(int64_t k) {
  const int64_t parts = std::max<int64_t>(1, (k + kDepth / 2) / kDepth);
  return std::max<int64_t>(1, CeilDiv(k, parts));
}

int64_t PackedRowsSize(const Tiles& tiles, int64_t rows, int64_t k) {
  return RoundUp(rows, tiles.rows) * k;
}

void PackRows(const Tiles& tiles, const MatrixView& a, Range panels, float* out) {
  if (a.columns == 0) return;  // an empty matrix may have no data
  const int64_t height = tiles.rows;
  for (int64_t panel = panels.begin; panel < panels.end; ++panel) {
    float* to = out + panel * height * a.columns;
    const int64_t rows = std::min(height, a.rows - panel * height);
    const float* from = a.data + panel * height * a.row_stride;
    int64_t k = 0;
    if (a.column_stride == 1 && rows == height && height % 4 == 0) {
      for (; k + 4 <= a.columns; k += 4, to += 4 * height) {
        for (int64_t r = 0; r < height; r += 4) {
          TransposeFour(from + r * a.row_stride + k, a.row_stride, to + r, height);
        }
      }
    }
    for (; k < a.columns; ++k, to += height) {
      for (int64_t r = 0; r < rows; ++r) to[r] = from[r * a.row_stride + k * a.column_stride];
      for (int64_t r = rows; r < height; ++r) to[r] = 0;
    }
  }
}

int64_t PackedColumnsSize(const Tiles& tiles, int64_t columns, int64_t k) {
  return RoundUp(columns, tiles.lanes) * k;
}

void PackColumns(const Tiles& tiles, const MatrixView& b, Range k, Range columns, float* out) {
  for (int64_t n = columns.begin; n < columns.end; n += tiles.panel()) {
    const int64_t width = PanelWidth(tiles, n, b.columns);
    const int64_t valid = std::min(width, columns.end - n);
    for (int64_t row = k.begin; row < k.end; ++row, out += width) {
      const float* from = b.data + row * b.row_stride + n * b.column_stride;
      if (b.column_stride == 1) {
        CopyFloats(from, valid, out);
      } else {
        for (int64_t i = 0; i < valid; ++i) out[i] = from[i * b.column_stride];
      }
      for (int64_t i = valid; i < width; ++i) out[i] = 0;
    }
  }
}

void RunProducts(int64_t count, const Product& shape, const std::function<Product(int64_t)>& make,
                 ThreadPool& pool) {
  if (count == 0 || shape.m == 0 || shape.n == 0) return;
  const Cut cut = CutProduct(count, shape, pool.threads());
  const int64_t blocks = cut.column_blocks * cut.row_blocks;
  pool.For(count * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const Product product = make(task / blocks);
      const int64_t block = task % blocks;
      const int64_t row = block % cut.row_blocks * cut.rows;
      const int64_t column = block / cut.row_blocks * cut.columns;
      RunBlock(product, {row, std::min(row + cut.rows, shape.m)},
               {column, std::min(column + cut.columns, shape.n)});
    }
  });
}

}  // namespace octavo::float_exec::internal
