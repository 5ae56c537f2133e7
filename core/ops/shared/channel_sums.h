// SPDX-License-Identifier: Apache-2.0
// The common part of the definitions of Conv and ConvTranspose: each output plane sums, over the
// channels of its group in order, the products with the taps of a window.
#pragma once

#include <algorithm>
#include <cmath>

#include "core/ir/op_def.h"
#include "core/ir/tensor.h"

namespace octavo::ops {

struct ChannelSums {
  int64_t in_size = 0, out_size = 0;  // elements of a plane
  int64_t taps = 0;
  int64_t channels = 0, outputs = 0;  // channels of x per group; outputs of y in all groups
  int64_t group_outputs = 0;
};

// y[n, m] = sum over the group's channels c of x[n, c] at the taps times w, plus b[m].  `each_tap`
// calls its argument with (position, tap, offset); a negative offset is padding.
// kernel_of(channel, m) is the index of the kernel in w that connects channel `channel` of x to
// output m.
template <class T, class EachTap, class KernelOf>
void SumChannels(const ir::EvalContext& context, const ChannelSums& sizes, EachTap&& each_tap,
                 KernelOf&& kernel_of) {
  const ir::Tensor& x = context.in(0);
  const T* from = x.values<T>().data();
  const T* weight = context.in(1).values<T>().data();
  T* to = context.out().mutable_values<T>().data();
  context.pool->For(x.shape()[0] * sizes.outputs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t n = plane / sizes.outputs, m = plane % sizes.outputs;
      T* sums = to + plane * sizes.out_size;
      std::fill(sums, sums + sizes.out_size, T(0));
      for (int64_t c = 0; c < sizes.channels; ++c) {
        const int64_t channel = m / sizes.group_outputs * sizes.channels + c;
        const T* source = from + (n * x.shape()[1] + channel) * sizes.in_size;
        const T* kernel = weight + kernel_of(channel, m) * sizes.taps;
        each_tap([&](int64_t position, int64_t tap, int64_t offset) {
          const T value = offset < 0 ? T(0) : source[offset];
          sums[position] = std::fma(value, kernel[tap], sums[position]);
        });
      }
      if (!context.Has(2)) continue;
      const T bias = context.in(2).values<T>()[m];
      for (int64_t i = 0; i < sizes.out_size; ++i) sums[i] += bias;
    }
  });
}

}  // namespace octavo::ops
