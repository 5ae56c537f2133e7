// SPDX-License-Identifier: Apache-2.0
// Packed weights of RNN, GRU and LSTM.
#include <algorithm>

#include "core/base/cpu.h"
#include "core/ops/shared/recurrent.h"
#include "core/ops/shared/recurrent_loops.h"

namespace octavo::ops {
namespace {

const RecurrentLoops& Loops() {
  return ForIsa(portable::kRecurrentLoops, avx2::kRecurrentLoops, avx512::kRecurrentLoops);
}

}  // namespace

PackedRows::PackedRows(const ir::Tensor& tensor, int64_t first, int64_t gates, int64_t rows,
                       int64_t columns)
    : rows_(rows), columns_(columns), tiles_((rows + kRowsOfTile - 1) / kRowsOfTile) {
  const auto pack = [&](auto& packed, auto element) {
    packed.assign(gates * tiles_ * columns * kRowsOfTile, 0);
    auto* to = packed.data();
    for (int64_t tile = 0; tile < gates * tiles_; ++tile, to += columns * kRowsOfTile) {
      const int64_t row = tile % tiles_ * kRowsOfTile, count = std::min(kRowsOfTile, rows - row);
      const int64_t from = first + (tile / tiles_ * rows + row) * columns;
      for (int64_t i = 0; i < columns; ++i) {
        for (int64_t k = 0; k < count; ++k) {
          to[i * kRowsOfTile + k] = element(from + k * columns + i);
        }
      }
    }
  };
  if (tensor.dtype() == ir::DType::kF64) {
    pack(wide_, [all = tensor.values<double>()](int64_t i) { return all[i]; });
  } else if (tensor.dtype() == ir::DType::kF32) {
    pack(narrow_, [all = tensor.values<float>()](int64_t i) { return all[i]; });
  } else {
    pack(narrow_, [&](int64_t i) { return static_cast<float>(tensor.FloatAt(i)); });
  }
}

void PackedRows::Multiply(int64_t gate, const double* x, const double* bias, double* sums) const {
  const RecurrentLoops& loops = Loops();
  for (int64_t tile = 0; tile < tiles_; ++tile) {
    const int64_t row = tile * kRowsOfTile, count = std::min(kRowsOfTile, rows_ - row);
    double part[kRowsOfTile] = {};
    std::copy_n(bias + row, count, part);
    const int64_t at = (gate * tiles_ + tile) * columns_ * kRowsOfTile;
    if (wide_.empty()) {
      loops.narrow(narrow_.data() + at, x, columns_, part);
    } else {
      loops.wide(wide_.data() + at, x, columns_, part);
    }
    std::copy_n(part, count, sums + row);
  }
}

}  // namespace octavo::ops
