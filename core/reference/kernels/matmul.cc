#include "core/reference/kernels/matmul.h"

#include <vector>

#include "core/reference/kernels/gemm.h"

namespace octavo::reference {

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

  static Scratch PackA(const Tiles& tiles, const MatrixView& a, ThreadPool& pool) {
    Scratch packed(internal::PackedRowsSize(tiles, a.rows, a.columns));
    pool.For((a.rows + tiles.rows - 1) / tiles.rows, 8, [&](int64_t begin, int64_t end) {
      internal::PackRows(tiles, a, {begin, end}, packed.get());
    });
    return packed;
  }

  // A few rows do not repay the packing of B.
  static bool ReadsInPlace(const Tiles& tiles, const MatrixView& a, const MatrixView& b) {
    return b.column_stride == 1 && a.rows <= 2 * tiles.rows;
  }
};

void MatMul(const MatrixView& a, const PackedMatrix& b, float* c, int64_t c_stride,
            ThreadPool& pool, const MatMulBias& bias) {
  const Tiles& tiles = MatMulDriver::TilesOf(b);
  const auto packed_a = MatMulDriver::PackA(tiles, a, pool);
  const Product product{.tiles = &tiles,
                        .m = a.rows,
                        .n = b.columns(),
                        .k = a.columns,
                        .packed_a = packed_a.get(),
                        .packed_b = MatMulDriver::DataOf(b),
                        .c = c,
                        .c_stride = c_stride,
                        .bias = bias};
  internal::RunProducts(
      1, product, [&](int64_t) { return product; }, pool);
}

void MatMul(const MatrixView& a, const MatrixView& b, float* c, int64_t c_stride, ThreadPool& pool,
            const MatMulBias& bias) {
  const Tiles& tiles = internal::CurrentTiles();
  const auto packed_a = MatMulDriver::PackA(tiles, a, pool);
  const internal::ColumnPacker packer = [&](internal::Range k, internal::Range columns,
                                            float* out) {
    internal::PackColumns(tiles, b, k, columns, out);
  };
  Product product{.tiles = &tiles,
                  .m = a.rows,
                  .n = b.columns,
                  .k = a.columns,
                  .packed_a = packed_a.get(),
                  .c = c,
                  .c_stride = c_stride,
                  .bias = bias};
  if (MatMulDriver::ReadsInPlace(tiles, a, b)) {
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
  // Items share no packing, so each is one loop of its own; where there are many, threads take
  // whole items (a loop within a loop runs inline).
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

}  // namespace octavo::reference
