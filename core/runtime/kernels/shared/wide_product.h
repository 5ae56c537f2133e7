// SPDX-License-Identifier: Apache-2.0
// Sums of products of centered values (q - z) for any storage up to 16 bits: rows of outputs whose
// operand rows are adjacent, with the loops of simd/.
#pragma once

#include <vector>

#include "core/runtime/kernel.h"
#include "core/runtime/kernels/mode_requantize.h"
#include "core/runtime/simd/kernels.h"

namespace octavo::runtime {

// Output i of a row that starts at `start` is the sum over t of
//   weights[t] * x[start + offsets[t] + i]
// `reach` is a bound of |x|; sums are 32-bit if the weights permit it.
class WideRow {
 public:
  WideRow(std::span<const int32_t> weights, std::span<const int64_t> offsets, int64_t reach);
  void Run(const int32_t* x, int64_t count, int64_t* sums) const;

 private:
  std::span<const int32_t> weights_;
  std::span<const int64_t> offsets_;
  void (*product_)(const simd::ProductCall&) = nullptr;
};

// The maximum of |q - z| of a type, over all channels.
int64_t ReachOf(const ir::Type& type);

// Requantizes or dequantizes sums and stores them to a tensor.
struct WideFinish {
  // That of the node's result, by the mode.
  static WideFinish Of(const NodeView& view, int64_t channels);

  std::vector<float> multipliers = {};  // by output channel
  int32_t zero_point = 0;
  ir::DType dtype = ir::DType::kI8;                  // kF32: float(sum) * multiplier
  std::shared_ptr<const ModeRequantizer> mode = {};  // null: requantize in float32

  // Stores sums[i] + bias to out[at], out[at + step], ...  With one bias, all sums belong to
  // `channel`; with one bias per sum, they belong to `channel`, `channel` + 1, ...
  void Store(std::span<const int64_t> sums, std::span<const int64_t> bias, int64_t channel,
             std::byte* out, int64_t at, int64_t step) const;
};

}  // namespace octavo::runtime
