// SPDX-License-Identifier: Apache-2.0
// Matrix product in float32 with fixed bits: every C[m,n] is one chain
//   acc = +0;  for k ascending: acc = fma(A[m,k], B[k,n], acc);  C[m,n] = acc (+ bias, one
//   addition)
// for any number of threads, instruction set and packing.  (NaNs occur in the same elements, but
// their other bits are not fixed.)
#pragma once

#include <cstdint>
#include <memory>

#include "core/base/parallel.h"

namespace octavo::float_exec {

namespace internal {
struct Tiles;
}

// Element (row, column) is data[row * row_stride + column * column_stride]; exchanging the strides
// transposes the matrix.
struct MatrixView {
  const float* data = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;
  int64_t column_stride = 1;

  MatrixView Transposed() const { return {data, columns, rows, column_stride, row_stride}; }
};

// Packed weights: a right operand in the order that the kernels read.  Packed once; owns its copy
// of the data; any number of threads may read it.
class PackedMatrix {
 public:
  explicit PackedMatrix(const MatrixView& b);
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }

 private:
  friend struct MatMulDriver;
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  const internal::Tiles* tiles_ = nullptr;
  std::shared_ptr<const float[]> data_;
};

// Bias of a product: one element per row of C, one per column, or none.
struct MatMulBias {
  const float* per_row = nullptr;
  const float* per_column = nullptr;
};

// C = A * B (+ bias).  C is [a.rows, b.columns] with row stride `c_stride` and adjacent columns; it
// must not overlap an operand.  Requires a.columns == b.rows; sizes may be zero (without k, C is
// the bias or 0).
void MatMul(const MatrixView& a, const MatrixView& b, float* c, int64_t c_stride, ThreadPool& pool,
            const MatMulBias& bias = {});
void MatMul(const MatrixView& a, const PackedMatrix& b, float* c, int64_t c_stride,
            ThreadPool& pool, const MatMulBias& bias = {});

// `count` products of one shape.  Item i reads a.data + a_offsets[i] and b.data + b_offsets[i] and
// writes c + c_offsets[i]; equal offsets of an operand broadcast it.
struct MatMulBatch {
  int64_t count = 1;
  const int64_t* a_offsets = nullptr;
  const int64_t* b_offsets = nullptr;
  const int64_t* c_offsets = nullptr;
};
void MatMulBatched(const MatrixView& a, const MatrixView& b, float* c, int64_t c_stride,
                   const MatMulBatch& batch, ThreadPool& pool);

}  // namespace octavo::float_exec
