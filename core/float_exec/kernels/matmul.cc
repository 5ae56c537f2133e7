// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/kernels/matmul.h"

#include "core/float_exec/kernels/gemm.h"

namespace octavo::float_exec {

namespace {

// A right operand of at most this size stays in the L1 cache without packing.
constexpr int64_t kSmallFloats = 4096;
// Rows at this distance, or a multiple of it, map to the same set of the L1 cache.
constexpr int64_t kCacheWayFloats = 1024;

}  // namespace

using internal::Product;
using internal::Scratch;
using internal::Tiles;

PackedMatrix::PackedMatrix(const MatrixView& b)
    : rows_(b.rows), columns_(b.columns), tiles_(&internal::CurrentTiles()) {
  auto data = internal::Memory(internal::PackedColumnsSize(*tiles_, b.columns, b.rows));
  internal::PackColumns(*tiles_, b, {0, b.rows}, {0, b.columns}, data.get());
  data_ = std::move(data);
}

struct MatMulDriver {
  static const Tiles& TilesOf(const PackedMatrix& b) { return *b.tiles_; }
  static const float* DataOf(const PackedMatrix& b) { return b.data_.get(); }

  static bool ReadsLeftInPlace(const MatrixView& a) {
    return a.column_stride == 1 && a.row_stride % kCacheWayFloats != 0;
  }

  // Sets the left operand.  The returned scratch holds the packed rows, if any.
  static Scratch SetLeft(Product& product, const MatrixView& a, ThreadPool& pool) {
    const Tiles& tiles = *product.tiles;
    if (ReadsLeftInPlace(a)) {
      product.direct_a = a.data;
      product.a_stride = a.row_stride;
      return Scratch(0);
    }
    Scratch packed(internal::PackedRowsSize(tiles, a.rows, a.columns));
    product.packed_a = packed.get();
    pool.For((a.rows + tiles.rows - 1) / tiles.rows, 8, [&](int64_t begin, int64_t end) {
      internal::PackRows(tiles, a, {begin, end}, packed.get());
    });
    return packed;
  }

  // With few rows, packing B costs more than it saves.
  static bool ReadsRightInPlace(const Tiles& tiles, const MatrixView& a, const MatrixView& b) {
    const bool small = b.rows * b.row_stride <= kSmallFloats;
    return b.column_stride == 1 && (a.rows <= 2 * tiles.rows || small);
  }
};

void MatMul(const MatrixView& a, const PackedMatrix& b, float* c, int64_t c_stride,
            ThreadPool& pool, const MatMulBias& bias) {
  const Tiles& tiles = MatMulDriver::TilesOf(b);
  Product product{.tiles = &tiles,
                  .m = a.rows,
                  .n = b.columns(),
                  .k = a.columns,
                  .packed_b = MatMulDriver::DataOf(b),
                  .c = c,
                  .c_stride = c_stride,
                  .bias = bias};
  const Scratch packed_a = MatMulDriver::SetLeft(product, a, pool);
  internal::RunProducts(
      1, product, [&](int64_t) { return product; }, pool);
}

void MatMul(const MatrixView& a, const MatrixView& b, float* c, int64_t c_stride, ThreadPool& pool,
            const MatMulBias& bias) {
  const Tiles& tiles = internal::CurrentTiles();
  const internal::ColumnPacker packer = [&](internal::Range k, internal::Range columns,
                                            float* out) {
    internal::PackColumns(tiles, b, k, columns, out);
  };
  Product product{.tiles = &tiles,
                  .m = a.rows,
                  .n = b.columns,
                  .k = a.columns,
                  .c = c,
                  .c_stride = c_stride,
                  .bias = bias};
  const Scratch packed_a = MatMulDriver::SetLeft(product, a, pool);
  if (MatMulDriver::ReadsRightInPlace(tiles, a, b)) {
    product.direct_b = b.data;
    product.b_stride = b.row_stride;
  } else {
    product.pack_b = &packer;
  }
  internal::RunProducts(
      1, product, [&](int64_t) { return product; }, pool);
}

void MatMulBatched(const MatrixView& a, const MatrixView& b, float* c, int64_t c_stride,
                   const MatMulBatch& batch, ThreadPool& pool) {
  // Items share no packing, so each item is a separate product.  If there are many items, each
  // thread takes whole items (a nested loop runs inline).
  const auto run = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      MatrixView item_a = a, item_b = b;
      item_a.data += batch.a_offsets[i];
      item_b.data += batch.b_offsets[i];
      MatMul(item_a, item_b, c + batch.c_offsets[i], c_stride, pool);
    }
  };
  if (batch.count >= pool.threads()) return pool.For(batch.count, 1, run);
  run(0, batch.count);
}

}  // namespace octavo::float_exec
