// Sums of products of centered codes for any storage up to 16 bits: rows of outputs whose operand
// rows are adjacent, with the loops of rows/.
#pragma once

#include <vector>

#include "core/runtime/kernel.h"
#include "core/runtime/mode_requantize.h"
#include "core/runtime/rows/rows.h"

namespace octavo::runtime {

// Row r of outputs is sums over taps of weights[t] * x[start + offsets[t] + i].  `reach` bounds
// |x|; weights decide whether 32 bits hold the sums.
class WideRow {
 public:
  WideRow(std::span<const int32_t> weights, std::span<const int64_t> offsets, int64_t reach);
  void Run(const int32_t* x, int64_t count, int64_t* sums) const;

 private:
  std::span<const int32_t> weights_;
  std::span<const int64_t> offsets_;
  void (*product_)(const rows::ProductCall&) = nullptr;
};

// The greatest |code - zero point| of a type, over all channels.
int64_t ReachOf(const ir::Type& type);

// The mode's own requantization of a product's sums; null in mode `onnx`.
std::shared_ptr<const ModeRequantizer> ModeFinish(const NodeView& view, int64_t channels);

// What becomes of sums: the codes of a tensor.
struct WideFinish {
  std::vector<float> multipliers = {};  // of channels in turn
  int32_t zero_point = 0;
  ir::DType dtype = ir::DType::kI8;
  std::shared_ptr<const ModeRequantizer> mode = {};  // null: mode `onnx`

  // sums[i] + bias to codes[at], codes[at + step], ...  One bias: all sums are of `channel`; as
  // many as sums: of `channel`, `channel` + 1, ...
  void Store(std::span<const int64_t> sums, std::span<const int64_t> bias, int64_t channel,
             std::byte* codes, int64_t at, int64_t step) const;
};

}  // namespace octavo::runtime
