// SPDX-License-Identifier: Apache-2.0
// The blocked matrix product that MatMul and Conv2d share: packed rows times columns that are
// prepacked, packed block by block, or read in place.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <span>

#include "core/base/parallel.h"
#include "core/float_exec/kernels/matmul.h"
#include "core/float_exec/kernels/tiles.h"

namespace octavo::float_exec::internal {

// The tiles for CurrentIsa().
const Tiles& CurrentTiles();

// [begin, end)
struct Range {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

inline int64_t CeilDiv(int64_t x, int64_t by) { return (x + by - 1) / by; }
inline int64_t RoundUp(int64_t x, int64_t step) { return CeilDiv(x, step) * step; }

// Length of a K-block: the sum over k is split into equal parts, so that the operands of a part
// stay in the caches.  Memory holds the partial sums between two parts, which changes no bit.
int64_t DepthOf(int64_t k);

// Packs a left operand as panels of tiles.rows rows, [panel][k][tiles.rows]; pads the last with 0.
int64_t PackedRowsSize(const Tiles& tiles, int64_t rows, int64_t k);
void PackRows(const Tiles& tiles, const MatrixView& a, Range panels, float* out);

// Packs a right operand as panels of tiles.panel() columns, [panel][k][width].  The last panel has
// as many vectors as it needs, padded with 0.  `columns.begin` is the first column of a panel.
int64_t PackedColumnsSize(const Tiles& tiles, int64_t columns, int64_t k);
void PackColumns(const Tiles& tiles, const MatrixView& b, Range k, Range columns, float* out);

// Floats that a ColumnPacker may write past its block.
inline constexpr int64_t kPackSlack = 16;
// The data that pack_b reads: row k of the columns of panel i begins at data + k * stride +
// panels[i].
struct PackSource {
  const float* data = nullptr;
  int64_t stride = 0;
  std::span<const int64_t> panels = {};
};
using ColumnPacker = std::function<void(Range k, Range columns, float* out)>;

// One product C[m, n].  Exactly one of packed_a and direct_a is set, and exactly one of packed_b,
// pack_b and direct_b.
struct Product {
  const Tiles* tiles = nullptr;
  int64_t m = 0, n = 0, k = 0;
  const float* packed_a = nullptr;
  const float* direct_a = nullptr;  // row-major with a_stride
  int64_t a_stride = 0;
  const float* packed_b = nullptr;
  const ColumnPacker* pack_b = nullptr;
  PackSource source = {};           // of pack_b, if known
  const float* direct_b = nullptr;  // row-major with b_stride
  int64_t b_stride = 0;
  float* c = nullptr;
  int64_t c_stride = 0;
  MatMulBias bias = {};
};

// Computes `count` products of equal shape; make(i) returns the i-th.  Distributes blocks of C over
// the threads.
void RunProducts(int64_t count, const Product& shape, const std::function<Product(int64_t)>& make,
                 ThreadPool& pool);

// Uninitialized memory aligned to a cache line: a vector that crosses a line takes twice the time.
inline constexpr std::align_val_t kFloatAlignment{64};
struct FreeFloats {
  void operator()(float* floats) const { ::operator delete[](floats, kFloatAlignment); }
};
using Floats = std::unique_ptr<float[], FreeFloats>;
inline Floats Memory(int64_t floats) {
  const auto bytes = static_cast<size_t>(floats > 0 ? floats : 1) * sizeof(float);
  return Floats(static_cast<float*>(::operator new[](bytes, kFloatAlignment)));
}

// Uninitialized memory for the duration of a call.  Fresh pages cost more than a small product, so
// each thread keeps a few blocks (at most kKept floats each) for later calls.
class Scratch {
 public:
  static constexpr int64_t kKept = 1 << 21;

  explicit Scratch(int64_t floats);
  ~Scratch();
  Scratch(Scratch&&) = default;
  Scratch& operator=(Scratch&&) = delete;

  float* get() const { return data_.get(); }

 private:
  int64_t size_ = 0;
  Floats data_;
};

}  // namespace octavo::float_exec::internal
