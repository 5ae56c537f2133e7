// Integer convolutions on N,H,W,C activations, prepared once and run by any number of threads.
// The value of output (pixel, channel c) is Finish of
//   sum over taps of (x - zx) * (w - zw[c]) + bias[c]
// in int32, padding contributing nothing; see types.h.  The bits do not depend on the number of
// threads or on the instruction set.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "core/base/parallel.h"
#include "core/base/status.h"
#include "core/reference/kernels/conv.h"
#include "core/runtime/int8/types.h"

namespace octavo::runtime::int8 {

using reference::ConvShape;

// What a convolution is made of; nothing of it is kept but copies.
struct ConvSpec {
  ConvShape shape = {};
  Activation input = {};
  // Dense [out_channels, in_channels / groups, kernel_height, kernel_width].
  Weights weights = {};
  std::span<const int32_t> bias = {};  // empty or out_channels
  Finish finish = {};
  // To a result of codes, and not of a depthwise convolution: see CanAdd.
  std::optional<Addition> addition = {};
  // Of a result of codes, after the addition if there is one.
  std::optional<CodeMap> map = {};
  // Codes between neighbouring pixels of the output, if there is more than its channels in it:
  // pixels may be parts of wider ones.  Not of a depthwise convolution.
  int64_t out_stride = 0;
};

// Whether a convolution of that shape can end in an addition, or in parts of wider pixels.
bool CanAdd(const ConvShape& shape);

class ConvPlan {
 public:
  // Packs the weights for CurrentIsa().  kInvalidArgument where the spec contradicts itself.  The
  // caller has proved FitsInt32.
  static Result<ConvPlan> Prepare(const ConvSpec& spec);

  int64_t out_height() const;
  int64_t out_width() const;

  // input [batch, in_height, in_width, in_channels], output [batch, out_height, out_width,
  // out_channels] of the type that Finish names; dense, not overlapping.  Threads keep a little
  // scratch memory of theirs.  `addend`, of the output's shape, is read if there is an addition;
  // it may be the output itself.
  void Run(const void* input, const void* addend, void* output, ThreadPool& pool) const;
  void Run(const void* input, void* output, ThreadPool& pool) const {
    Run(input, nullptr, output, pool);
  }

  struct State;

 private:
  std::shared_ptr<const State> state_;
};

}  // namespace octavo::runtime::int8
