// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/wide_product.h"

#include <cstdlib>

#include "core/ops/shared/data_op.h"
#include "core/runtime/kernels/shared/product_operands.h"
#include "core/runtime/kernels/shared/requantize.h"

namespace octavo::runtime {

int64_t ReachOf(const ir::Type& type) {
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  int64_t reach = 0;
  for (const int64_t zero : type.quant->zero_points) {
    reach = std::max({reach, zero - range.min, range.max - zero});
  }
  return reach;
}

WideRow::WideRow(std::span<const int32_t> weights, std::span<const int64_t> offsets, int64_t reach)
    : weights_(weights), offsets_(offsets) {
  int64_t total = 0;
  for (const int32_t weight : weights) total += std::abs(int64_t{weight});
  const simd::Kernels& loops = simd::CurrentKernels();
  const bool narrow = total < (int64_t{1} << 31) / std::max<int64_t>(1, reach);
  product_ = narrow ? loops.narrow_product : loops.wide_product;
}

void WideRow::Run(const int32_t* x, int64_t count, int64_t* sums) const {
  product_({.x = x,
            .offsets = offsets_.data(),
            .weights = weights_.data(),
            .taps = static_cast<int64_t>(weights_.size()),
            .count = count,
            .sums = sums});
}

WideFinish WideFinish::Of(const NodeView& view, int64_t channels) {
  const ir::Type& y = view.out();
  return {.multipliers = MultipliersOf(view, channels),
          .zero_point = y.quantized() ? y.quant->zero_point() : 0,
          .dtype = y.dtype,
          .mode = view.numerics->qlinear ? nullptr : ModeRequantizer::Of(view, channels)};
}

void WideFinish::Store(std::span<const int64_t> sums, std::span<const int64_t> bias,
                       int64_t channel, std::byte* out, int64_t at, int64_t step) const {
  const int64_t next = bias.size() == 1 ? 0 : 1;  // channel
  if (dtype == ir::DType::kF32) {
    float* to = reinterpret_cast<float*>(out) + at;
    for (int64_t i = 0; i < static_cast<int64_t>(sums.size()); ++i) {
      const int64_t sum = sums[i] + bias[i * next];
      to[i * step] = static_cast<float>(sum) * multipliers[channel + i * next];
    }
    return;
  }
  const ir::IntegerRange range = ir::IntegerRangeOf(dtype);
  ops::VisitDType(dtype, [&]<class T>(T) {
    T* to = reinterpret_cast<T*>(out) + at;
    for (int64_t i = 0; i < static_cast<int64_t>(sums.size()); ++i) {
      const int64_t sum = sums[i] + bias[i * next];
      const int64_t own = channel + i * next;
      if (mode != nullptr) {
        to[i * step] = static_cast<T>(mode->Value(sum, own));
        continue;
      }
      to[i * step] = static_cast<T>(Requantize(sum, multipliers[own], zero_point, range));
    }
  });
}

}  // namespace octavo::runtime
