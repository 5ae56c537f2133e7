#include "core/runtime/int8/dense.h"

#include <algorithm>
#include <cstring>

#include "core/base/cpu.h"

namespace octavo::runtime::int8::internal {
namespace {

constexpr int64_t kChunkBytes = 128 << 10;  // activations that a task keeps in the caches
constexpr int64_t kInlineWork = 256 << 10;  // multiply-adds that do not repay a second thread

int64_t RoundUp(int64_t x, int64_t step) { return (x + step - 1) / step * step; }
int64_t DivideUp(int64_t x, int64_t by) { return (x + by - 1) / by; }

// Memory of one thread that only grows.
struct Scratch {
  std::vector<uint8_t> bytes;
  std::vector<const uint8_t*> pointers;
  std::vector<int32_t> sums;
};
Scratch& ThreadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

struct Chunk {
  int64_t begin = 0, end = 0;  // rows
  int64_t first_panel = 0, last_panel = 0;
};

// sum(x - zx) of the rows of a tile.
void SumRows(const DenseWeights& w, const uint8_t* const* pointers, int64_t rows, int32_t* sums) {
  for (int64_t r = 0; r < rows; ++r) {
    int32_t sum = 0;
    for (int64_t s = 0; s < w.segments; ++s) {
      const uint8_t* x = pointers[s * w.tiles->rows + r];
      for (int64_t i = 0; i < 4 * w.quads; ++i) sum += x[i];
    }
    sums[r] = sum - static_cast<int32_t>(w.k) * w.input_zero;
  }
}

void RunPanel(const DenseRun& run, const Chunk& chunk, int64_t panel, const Scratch& scratch) {
  const DenseWeights& w = *run.weights;
  const Tiles& tiles = *w.tiles;
  const int64_t column = panel * tiles.panel();
  const int64_t columns = std::min<int64_t>(tiles.panel(), w.n - column);
  const int64_t vectors = DivideUp(columns, kVector);
  const int64_t before = column * w.segments * w.quads * 4;
  TileCall call{
      .segments = w.segments,
      .quads = w.quads,
      .weights = tiles.wide ? static_cast<const void*>(w.wide.data() + before)
                            : static_cast<const void*>(w.narrow.data() + before),
      .bias = w.bias.data() + column,
      .multipliers = w.multipliers.data() + column,
      .weight_zeros = w.weight_zeros.empty() ? nullptr : w.weight_zeros.data() + column,
      .columns = columns,
      .out_stride = run.out_stride,
      .ending = w.ending,
  };
  const int64_t size = OutputSize(w.ending.output);
  for (int64_t row = chunk.begin; row < chunk.end; row += tiles.rows) {
    const int64_t rows = std::min<int64_t>(tiles.rows, chunk.end - row);
    call.rows = scratch.pointers.data() + (row - chunk.begin) * w.segments;
    // Sums are made for weights with zero points alone.
    call.row_sums = w.weight_zeros.empty() ? nullptr : scratch.sums.data() + (row - chunk.begin);
    call.out = static_cast<uint8_t*>(run.out) + (row * run.out_stride + column) * size;
    tiles.tile[rows - 1][vectors - 1](call);
  }
}

void RunChunk(const DenseRun& run, const Chunk& chunk) {
  const DenseWeights& w = *run.weights;
  Scratch& scratch = ThreadScratch();
  const int64_t rows = RoundUp(chunk.end - chunk.begin, w.tiles->rows);
  const auto grow = [](auto& memory, int64_t size) {
    if (static_cast<int64_t>(memory.size()) < size) memory.resize(static_cast<size_t>(size));
  };
  grow(scratch.pointers, rows * w.segments);
  grow(scratch.bytes, rows * run.scratch_per_row);
  run.find(chunk.begin, chunk.end, scratch.bytes.data(), scratch.pointers.data());
  if (!w.weight_zeros.empty()) {
    grow(scratch.sums, rows);
    for (int64_t row = chunk.begin; row < chunk.end; row += w.tiles->rows) {
      SumRows(w, scratch.pointers.data() + (row - chunk.begin) * w.segments,
              std::min<int64_t>(w.tiles->rows, chunk.end - row),
              scratch.sums.data() + (row - chunk.begin));
    }
  }
  for (int64_t panel = chunk.first_panel; panel < chunk.last_panel; ++panel) {
    RunPanel(run, chunk, panel, scratch);
  }
}

// The source's byte (k, n) as s8.
int8_t SignedWeight(const DenseSource& source, int64_t k, int64_t n) {
  const auto* data = static_cast<const uint8_t*>(source.weights.data);
  const uint8_t flip = source.weights.storage == Storage::kU8 ? 0x80 : 0;
  return static_cast<int8_t>(data[k * source.k_stride + n * source.n_stride] ^ flip);
}

int64_t Width(const DenseWeights& w, int64_t column) {
  return std::min<int64_t>(w.tiles->panel(), RoundUp(w.n - column, kVector));
}

void PackWide(const DenseSource& source, DenseWeights& w) {
  w.wide.assign(static_cast<size_t>(RoundUp(w.n, kVector) * w.segments * w.quads * 4), 0);
  for (int64_t n = 0; n < w.n; ++n) {
    const int64_t column = n / w.tiles->panel() * w.tiles->panel(), width = Width(w, column);
    int16_t* panel = w.wide.data() + column * w.segments * w.quads * 4;
    for (int64_t k = 0; k < w.k; ++k) {
      const int64_t i = k % source.segment;
      const int64_t quad = k / source.segment * w.quads + i / 4;
      panel[quad * width * 4 + (i % 2) * width * 2 + (n - column) * 2 + i % 4 / 2] =
          SignedWeight(source, k, n);
    }
  }
}

// Four bytes of K of `columns` channels, where the channels are adjacent.
void InterleaveQuad(const uint8_t* rows, int64_t k_stride, int64_t columns, uint8_t flip,
                    uint8_t* out) {
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t i = 0; i < 4; ++i) {
      out[4 * n + i] = static_cast<uint8_t>(rows[i * k_stride + n] ^ flip);
    }
  }
}

void CopyQuad(const uint8_t* from, uint8_t flip, uint8_t* to) {
  uint32_t quad;
  std::memcpy(&quad, from, 4);
  quad ^= flip * 0x01010101u;
  std::memcpy(to, &quad, 4);
}

void PackNarrow(const DenseSource& source, DenseWeights& w) {
  w.narrow.assign(static_cast<size_t>(RoundUp(w.n, kVector) * w.segments * w.quads * 4), 0);
  const auto* data = static_cast<const uint8_t*>(source.weights.data);
  const uint8_t flip = source.weights.storage == Storage::kU8 ? 0x80 : 0;
  for (int64_t column = 0; column < w.n; column += w.tiles->panel()) {
    const int64_t width = Width(w, column), columns = std::min(width, w.n - column);
    auto* out = reinterpret_cast<uint8_t*>(w.narrow.data()) + column * w.segments * w.quads * 4;
    for (int64_t quad = 0; quad < w.segments * w.quads; ++quad, out += 4 * width) {
      const int64_t i = quad % w.quads * 4;
      const int64_t k = quad / w.quads * source.segment + i;
      const int64_t valid = std::min<int64_t>(4, source.segment - i);
      const uint8_t* from = data + k * source.k_stride + column * source.n_stride;
      if (valid == 4 && source.n_stride == 1) {
        InterleaveQuad(from, source.k_stride, columns, flip, out);
        continue;
      }
      if (valid == 4 && source.k_stride == 1) {
        for (int64_t n = 0; n < columns; ++n)
          CopyQuad(from + n * source.n_stride, flip, out + 4 * n);
        continue;
      }
      for (int64_t n = 0; n < columns; ++n) {
        for (int64_t j = 0; j < valid; ++j) {
          out[4 * n + j] =
              static_cast<uint8_t>(from[j * source.k_stride + n * source.n_stride] ^ flip);
        }
      }
    }
  }
}

std::vector<int32_t> ChannelSums(const DenseSource& source, int64_t k) {
  std::vector<int32_t> sums(static_cast<size_t>(source.n), 0);
  if (source.n_stride == 1) {
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t n = 0; n < source.n; ++n) sums[n] += SignedWeight(source, i, n);
    }
    return sums;
  }
  for (int64_t n = 0; n < source.n; ++n) {
    for (int64_t i = 0; i < k; ++i) sums[n] += SignedWeight(source, i, n);
  }
  return sums;
}

}  // namespace

const Tiles& CurrentTiles() {
#if defined(__x86_64__)
  const Isa isa = CurrentIsa();
  if (isa >= Isa::kAvx512Vnni) return kVnniTiles;
  if (isa >= Isa::kAvx2) return kAvx2Tiles;
#endif
  return kPortableTiles;
}

void CopyFlipped(const uint8_t* from, int64_t count, uint8_t flip, uint8_t* to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<uint8_t>(from[i] ^ flip);
}

DenseWeights PackDense(const DenseSource& source, const Activation& input, const Finish& finish) {
  DenseWeights w{.tiles = &CurrentTiles(),
                 .n = source.n,
                 .k = source.segments * source.segment,
                 .segments = source.segments,
                 .quads = DivideUp(source.segment, 4),
                 .input_zero = ZeroAsU8(input),
                 .ending = {finish.output, finish.zero_point, finish.lowest, finish.highest}};
  w.tiles->wide ? PackWide(source, w) : PackNarrow(source, w);
  const auto padded = static_cast<size_t>(RoundUp(w.n, kVector));
  const std::vector<int32_t> sums = ChannelSums(source, w.k);
  w.bias.assign(padded, 0);
  w.multipliers.assign(padded, 0);
  std::vector<int32_t> zeros(padded, 0);
  const int32_t shift = source.weights.storage == Storage::kU8 ? 128 : 0;
  for (int64_t n = 0; n < w.n; ++n) {
    // Modulo 2^32: the caller has proved that the whole sum fits, its parts need not.
    w.bias[n] =
        static_cast<int32_t>(static_cast<uint32_t>(ChannelValue(source.bias, n, 0)) -
                             static_cast<uint32_t>(w.input_zero) * static_cast<uint32_t>(sums[n]));
    w.multipliers[n] = ChannelValue(finish.multipliers, n, 1.0f);
    zeros[n] = ChannelValue(source.weights.zero_points, n, 0) - shift;
  }
  if (std::any_of(zeros.begin(), zeros.begin() + w.n, [](int32_t z) { return z != 0; })) {
    w.weight_zeros = std::move(zeros);
  }
  return w;
}

void RunDense(const DenseRun& run, ThreadPool& pool) {
  const DenseWeights& w = *run.weights;
  if (run.rows == 0 || w.n == 0) return;
  const int64_t height = w.tiles->rows, depth = w.segments * w.quads * 4;
  const int64_t panels = DivideUp(w.n, w.tiles->panel());
  const bool alone = pool.threads() == 1 || run.rows * w.n * depth < kInlineWork;
  const int64_t wanted = alone ? 1 : 4 * pool.threads();
  const int64_t tiles = DivideUp(run.rows, height);
  const int64_t cached = std::max<int64_t>(1, kChunkBytes / (height * std::max<int64_t>(1, depth)));
  const int64_t chunk = std::clamp<int64_t>(DivideUp(tiles, wanted), 1, cached) * height;
  const int64_t chunks = DivideUp(run.rows, chunk);
  const int64_t panel_cuts = std::clamp<int64_t>(wanted / chunks, 1, panels);
  const int64_t panels_each = DivideUp(panels, panel_cuts);
  const int64_t tasks = chunks * DivideUp(panels, panels_each);
  pool.For(tasks, alone ? tasks : 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t row = task % chunks * chunk, panel = task / chunks * panels_each;
      RunChunk(run, {row, std::min(row + chunk, run.rows), panel,
                     std::min(panel + panels_each, panels)});
    }
  });
}

void SetRows(DenseRun& run, const uint8_t* rows, int64_t stride, Storage storage) {
  const DenseWeights* w = run.weights;
  const uint8_t flip = FlipOf(storage);
  const int64_t depth = 4 * w->quads;
  const bool in_place = flip == 0 && depth == w->k;
  run.scratch_per_row = in_place ? 0 : depth;
  run.find = [=](int64_t begin, int64_t end, uint8_t* bytes, const uint8_t** pointers) {
    for (int64_t row = begin; row < end; ++row) {
      const uint8_t* from = rows + row * stride;
      if (in_place) {
        *pointers++ = from;
        continue;
      }
      CopyFlipped(from, w->k, flip, bytes);
      std::memset(bytes + w->k, 0, static_cast<size_t>(depth - w->k));
      *pointers++ = bytes;
      bytes += depth;
    }
  };
}

}  // namespace octavo::runtime::int8::internal
