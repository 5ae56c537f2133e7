// SPDX-License-Identifier: Apache-2.0
// Integer convolutions on NHWC activations, prepared once and run by any number of threads.
// Output (pixel, channel c) is the requantization of
//   sum over taps of (x - zx) * (w - zw[c]) + bias[c]
// in int32; padding adds nothing; see types.h.  The bits do not depend on the number of threads or
// on the instruction set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/parallel.h"
#include "core/base/status.h"
#include "core/float_exec/kernels/conv.h"
#include "core/runtime/int8/types.h"

namespace octavo::runtime::int8 {

using float_exec::ConvShape;

// Describes a convolution.  Prepare copies what it needs.
struct ConvSpec {
  ConvShape shape = {};
  Activation input = {};
  // Dense, [out_channels, in_channels / groups, kernel_height, kernel_width].
  Weights weights = {};
  std::span<const int32_t> bias = {};  // empty or out_channels
  Requantization requantization = {};
  // Requires an 8-bit result and a shape with CanAdd.
  std::optional<ResidualAdd> residual = {};
  // Requires an 8-bit result; applied after `residual`.
  std::optional<LookupTable> lookup = {};
  // Elements between adjacent pixels of the output; 0 means out_channels.  It is larger if the
  // result is a slice of an in-place Concat, which requires CanAdd.
  int64_t out_stride = 0;
};

// Whether a convolution of that shape supports `residual` and `out_stride`: it is not depthwise.
bool CanAdd(const ConvShape& shape);

class ConvPlan {
 public:
  // Packs the weights for CurrentIsa().  kInvalidArgument for an inconsistent spec.  The caller
  // must have checked FitsInt32.
  static Result<ConvPlan> Prepare(const ConvSpec& spec);

  int64_t out_height() const;
  int64_t out_width() const;

  // input [batch, in_height, in_width, in_channels], output [batch, out_height, out_width,
  // out_channels] of the type that Requantization names; dense, not overlapping.  Each thread keeps
  // some scratch memory.  `addend`, of the output's shape, is read if there is a residual; it may
  // be the output itself.
  void Run(const void* input, const void* addend, void* output, ThreadPool& pool) const;
  void Run(const void* input, void* output, ThreadPool& pool) const {
    Run(input, nullptr, output, pool);
  }

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace octavo::runtime::int8
