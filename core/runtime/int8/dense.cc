// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/int8/dense.h"

#include <algorithm>
#include <cstring>

#include "core/base/cpu.h"

namespace octavo::runtime::int8::internal {
namespace {

constexpr int64_t kChunkBytes = 256 << 10;  // activations that a task keeps in the caches
constexpr int64_t kMaxRows = 12;            // per tile; half as many if it is wide
constexpr int64_t kLine = 64;               // bytes of a cache line
constexpr int64_t kGrainWork = 256 << 10;   // grain size: minimum multiply-adds per task

int64_t RoundUp(int64_t x, int64_t step) { return (x + step - 1) / step * step; }
int64_t DivideUp(int64_t x, int64_t by) { return (x + by - 1) / by; }

// The memory of one thread; it only grows.
struct Scratch {
  std::vector<uint8_t> bytes;
  std::vector<const uint8_t*> rows;
  std::vector<int32_t> sums;
  std::vector<int64_t> offsets;
  std::vector<int32_t> k_block_offsets;

  void SetOffsets(std::span<const int64_t> k_runs, int64_t shift, int64_t k_blocks) {
    offsets.clear();
    k_block_offsets.clear();
    for (const int64_t k_run : k_runs) {
      offsets.push_back(k_run + shift);
      for (int64_t q = 0; q < k_blocks; ++q) {
        k_block_offsets.push_back(static_cast<int32_t>(offsets.back() + 4 * q));
      }
    }
  }
};
Scratch& ThreadScratch() {
  static thread_local Scratch scratch;
  return scratch;
}

struct Chunk {
  int64_t begin = 0, end = 0;  // rows
  int64_t first_panel = 0, last_panel = 0;
  int64_t rows() const { return end - begin; }
};

// Computes sum(x - zx) of each row.
void SumRows(const DenseWeights& w, const DenseRun& run, const std::vector<const uint8_t*>& rows,
             int64_t shift, int64_t count, int32_t* sums) {
  for (int64_t r = 0; r < count; ++r) {
    int32_t sum = 0;
    for (const int64_t offset : run.offsets) {
      const uint8_t* x = rows[r] + shift + offset;
      for (int64_t i = 0; i < w.k / w.k_runs; ++i) sum += x[i];
    }
    sums[r] = sum - static_cast<int32_t>(w.k) * w.input_zero;
  }
}

void RunPanel(const DenseRun& run, const Chunk& chunk, int64_t panel, Scratch& scratch) {
  const int64_t panels = DivideUp(run.groups[0].n, run.groups[0].panel);
  const int64_t group = panel / panels;
  const DenseWeights& w = run.groups[group];
  const int64_t column = panel % panels * w.panel;
  const int64_t columns = std::min(w.panel, w.n - column);
  const int64_t before = column * w.k_runs * w.k_blocks * 4;
  const bool is_last = column + 2 * w.panel > w.n;  // the next one is narrower or absent
  const int64_t next = is_last ? before : before + w.panel * w.k_runs * w.k_blocks * 4;
  const auto weights = [&](int64_t from) {
    return w.tiles->wide ? static_cast<const void*>(w.wide.data() + from)
                         : static_cast<const void*>(w.narrow.data() + from);
  };
  // Spread the prefetch of the next panel over all rows, because outstanding lines delay the
  // panel's own loads.  It covers every line.
  const int64_t rate =
      std::min(DivideUp(4 * RoundUp(columns, kVector), chunk.rows()), kLine / (kMaxRows / 2) + 1);
  const int64_t first = chunk.begin * run.out_stride + group * w.n + column;
  scratch.SetOffsets(run.offsets, group * run.group_stride, w.k_blocks);
  if (!w.weight_zeros.empty()) {
    SumRows(w, run, scratch.rows, group * run.group_stride, chunk.rows(), scratch.sums.data());
  }
  w.tiles->tile[DivideUp(columns, kVector) - 1]({
      .rows = scratch.rows.data(),
      .count = chunk.rows(),
      .offsets = scratch.offsets.data(),
      .k_block_offsets = scratch.k_block_offsets.data(),
      .k_runs = w.k_runs,
      .k_blocks = w.k_blocks,
      .weights = weights(before),
      .next_panel = weights(next),
      .prefetch_row = rate * w.k_runs * w.k_blocks,
      .prefetch_rate = rate,
      .bias = w.bias.data() + column,
      .multipliers = w.multipliers.data() + column,
      .weight_zeros = w.weight_zeros.empty() ? nullptr : w.weight_zeros.data() + column,
      .row_sums = w.weight_zeros.empty() ? nullptr : scratch.sums.data(),
      .columns = columns,
      .out = static_cast<uint8_t*>(run.out) + first * OutputSize(w.requantize.output),
      .out_stride = run.out_stride,
      .requantize = w.requantize,
      .addend = run.addend == nullptr
                    ? nullptr
                    : run.addend + chunk.begin * run.addend_stride + group * w.n + column,
      .addend_stride = run.addend_stride,
      .residual = run.residual,
  });
}

// The first channel of a panel, counted over all groups.
int64_t ChannelOf(const DenseRun& run, int64_t panel) {
  const DenseWeights& w = run.groups[0];
  const int64_t panels = DivideUp(w.n, w.panel);
  return panel / panels * w.n + panel % panels * w.panel;
}

void ApplyLookup(const DenseRun& run, const Chunk& chunk) {
  const int64_t first = ChannelOf(run, chunk.first_panel);
  const int64_t channels = ChannelOf(run, chunk.last_panel) - first;
  uint8_t* bytes = static_cast<uint8_t*>(run.out) + chunk.begin * run.out_stride + first;
  if (channels == run.out_stride) return run.lookup->Apply(bytes, chunk.rows() * channels);
  for (int64_t row = 0; row < chunk.rows(); ++row) {
    run.lookup->Apply(bytes + row * run.out_stride, channels);
  }
}

void RunChunk(const DenseRun& run, const Chunk& chunk) {
  Scratch& scratch = ThreadScratch();
  const auto grow = [&](auto& memory) {
    const auto size = static_cast<size_t>(chunk.rows());
    if (memory.size() < size) memory.resize(size);
  };
  grow(scratch.rows);
  grow(scratch.sums);
  run.find(chunk.begin, chunk.end, scratch.bytes, scratch.rows.data());
  for (int64_t panel = chunk.first_panel; panel < chunk.last_panel; ++panel) {
    RunPanel(run, chunk, panel, scratch);
  }
  if (run.lookup != nullptr) ApplyLookup(run, chunk);
}

// Byte (k, n) of the source as s8.
int16_t SignedWeight(const DenseSource& source, int64_t k, int64_t n) {
  const auto* data = static_cast<const uint8_t*>(source.weights.data);
  const int unflipped = source.weights.storage == Storage::kU8 ? 0 : 0x80;
  const int byte = data[k * source.k_stride + n * source.n_stride] ^ unflipped;
  return static_cast<int16_t>(byte - 128);
}

int64_t Width(const DenseWeights& w, int64_t column) {
  return std::min<int64_t>(w.panel, RoundUp(w.n - column, kVector));
}

void PackWide(const DenseSource& source, DenseWeights& w) {
  w.wide.assign(static_cast<size_t>(RoundUp(w.n, kVector) * w.k_runs * w.k_blocks * 4), 0);
  for (int64_t n = 0; n < w.n; ++n) {
    const int64_t column = n / w.panel * w.panel, width = Width(w, column);
    int16_t* panel = w.wide.data() + column * w.k_runs * w.k_blocks * 4;
    for (int64_t k = 0; k < w.k; ++k) {
      const int64_t i = k % source.k_run;
      const int64_t k_block = k / source.k_run * w.k_blocks + i / 4;
      panel[k_block * width * 4 + (i % 2) * width * 2 + (n - column) * 2 + i % 4 / 2] =
          SignedWeight(source, k, n);
    }
  }
}

// Interleaves one K-block of `columns` channels that are adjacent in memory.
void InterleaveKBlock(const uint8_t* rows, int64_t k_stride, int64_t columns, uint8_t flip,
                      uint8_t* out) {
  for (int64_t n = 0; n < columns; ++n) {
    for (int64_t i = 0; i < 4; ++i) {
      out[4 * n + i] = static_cast<uint8_t>(rows[i * k_stride + n] ^ flip);
    }
  }
}

void CopyKBlock(const uint8_t* from, uint8_t flip, uint8_t* to) {
  uint32_t k_block;
  std::memcpy(&k_block, from, 4);
  k_block ^= flip * 0x01010101u;
  std::memcpy(to, &k_block, 4);
}

void PackNarrow(const DenseSource& source, DenseWeights& w) {
  w.narrow.assign(static_cast<size_t>(RoundUp(w.n, kVector) * w.k_runs * w.k_blocks * 4), 0);
  const auto* data = static_cast<const uint8_t*>(source.weights.data);
  const uint8_t flip = source.weights.storage == Storage::kU8 ? 0x80 : 0;
  for (int64_t column = 0; column < w.n; column += w.panel) {
    const int64_t width = Width(w, column), columns = std::min(width, w.n - column);
    auto* out = reinterpret_cast<uint8_t*>(w.narrow.data()) + column * w.k_runs * w.k_blocks * 4;
    for (int64_t k_block = 0; k_block < w.k_runs * w.k_blocks; ++k_block, out += 4 * width) {
      const int64_t i = k_block % w.k_blocks * 4;
      const int64_t k = k_block / w.k_blocks * source.k_run + i;
      const int64_t valid = std::min<int64_t>(4, source.k_run - i);
      const uint8_t* from = data + k * source.k_stride + column * source.n_stride;
      if (valid == 4 && source.n_stride == 1) {
        InterleaveKBlock(from, source.k_stride, columns, flip, out);
        continue;
      }
      if (valid == 4 && source.k_stride == 1) {
        for (int64_t n = 0; n < columns; ++n)
          CopyKBlock(from + n * source.n_stride, flip, out + 4 * n);
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

void Grow(std::vector<uint8_t>& bytes, int64_t size) {
  if (static_cast<int64_t>(bytes.size()) < size) bytes.resize(static_cast<size_t>(size));
}

RequantizeParams ParamsOf(const Requantization& requantization,
                          std::span<const float> multipliers) {
  const bool is_small = std::ranges::all_of(multipliers, [](float m) { return m > -1 && m < 1; });
  return {.output = requantization.output,
          .zero_point = requantization.zero_point,
          .lowest = requantization.lowest,
          .highest = requantization.highest,
          .is_plain = is_small && requantization.output == Output::kU8 &&
                      requantization.lowest == 0 && requantization.highest == 255};
}

DenseWeights PackDense(const DenseSource& source, const Activation& input,
                       const Requantization& requantization) {
  DenseWeights w{.tiles = &CurrentTiles(),
                 .n = source.n,
                 .k = source.k_runs * source.k_run,
                 .k_runs = source.k_runs,
                 .k_blocks = DivideUp(source.k_run, 4),
                 .input_zero = ZeroAsU8(input)};
  const int64_t vectors = std::max<int64_t>(1, DivideUp(w.n, kVector));
  w.panel = std::min<int64_t>(vectors, w.tiles->vectors) * kVector;
  w.tiles->wide ? PackWide(source, w) : PackNarrow(source, w);
  const auto padded = static_cast<size_t>(RoundUp(w.n, kVector));
  const std::vector<int32_t> sums = ChannelSums(source, w.k);
  w.bias.assign(padded, 0);
  w.multipliers.assign(padded, 0);
  std::vector<int32_t> zeros(padded, 0);
  const int32_t shift = source.weights.storage == Storage::kU8 ? 128 : 0;
  for (int64_t n = 0; n < w.n; ++n) {
    // Modulo 2^32: the caller has proved that the total fits; partial sums may wrap.
    w.bias[n] =
        static_cast<int32_t>(static_cast<uint32_t>(ChannelValue(source.bias, n, 0)) -
                             static_cast<uint32_t>(w.input_zero) * static_cast<uint32_t>(sums[n]));
    w.multipliers[n] = ChannelValue(requantization.multipliers, n, 1.0f);
    zeros[n] = ChannelValue(source.weights.zero_points, n, 0) - shift;
  }
  w.requantize = ParamsOf(requantization, w.multipliers);
  if (std::any_of(zeros.begin(), zeros.begin() + w.n, [](int32_t z) { return z != 0; })) {
    w.weight_zeros = std::move(zeros);
  }
  return w;
}

ResidualParams ParamsOf(const ResidualAdd& residual, const Requantization& requantization) {
  const bool is_signed = residual.output == Output::kS8;
  ResidualParams requantize{.own_scale = residual.own_scale,
                            .scale = residual.scale,
                            .result_scale = residual.result_scale,
                            .inverse = 1.0f / residual.result_scale,
                            .addend_zero = ZeroAsU8(residual.addend),
                            .flip = FlipOf(residual.addend.storage),
                            .result = {.output = residual.output,
                                       .zero_point = residual.zero_point,
                                       .lowest = is_signed ? -128 : 0,
                                       .highest = is_signed ? 127 : 255,
                                       .is_plain = !is_signed}};
  if (const auto find_fma_form = CurrentTiles().find_fma_form)
    find_fma_form(ParamsOf(requantization, {}), requantize);
  return requantize;
}

void RunDense(const DenseRun& run, ThreadPool& pool) {
  if (run.groups.empty() || run.rows == 0 || run.groups[0].n == 0) return;
  const DenseWeights& w = run.groups[0];
  const auto groups = static_cast<int64_t>(run.groups.size());
  const int64_t panels = groups * DivideUp(w.n, w.panel);
  const int64_t work = run.rows * groups * w.n * w.k_runs * w.k_blocks * 4;
  const bool alone = pool.threads() == 1 || work < kGrainWork;
  const int64_t wanted = alone ? 1 : 4 * pool.threads();
  const int64_t cached = std::max<int64_t>(1, kChunkBytes / std::max<int64_t>(1, run.row_bytes));
  const int64_t fewest = DivideUp(run.rows, cached);
  const int64_t chunk =
      RoundUp(DivideUp(run.rows, std::max(fewest, std::min(wanted, DivideUp(run.rows, kMaxRows)))),
              kMaxRows);
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
  static constexpr int64_t kFirst[] = {0};
  const DenseWeights* w = run.groups.data();
  const uint8_t flip = FlipOf(storage);
  const int64_t depth = 4 * w->k_blocks;
  const bool in_place = flip == 0 && depth == w->k;
  run.offsets = kFirst;
  run.row_bytes = depth;
  run.find = [=](int64_t begin, int64_t end, std::vector<uint8_t>& bytes,
                 const uint8_t** pointers) {
    if (in_place) {
      for (int64_t row = begin; row < end; ++row) *pointers++ = rows + row * stride;
      return;
    }
    Grow(bytes, (end - begin) * depth);
    uint8_t* to = bytes.data();
    if (stride == depth && depth == w->k) {
      w->tiles->copy_flipped(rows + begin * stride, (end - begin) * stride, flip, to);
      for (int64_t row = begin; row < end; ++row, to += depth) *pointers++ = to;
      return;
    }
    for (int64_t row = begin; row < end; ++row, to += depth) {
      w->tiles->copy_flipped(rows + row * stride, w->k, flip, to);
      std::memset(to + w->k, 0, static_cast<size_t>(depth - w->k));
      *pointers++ = to;
    }
  };
}

}  // namespace octavo::runtime::int8::internal
