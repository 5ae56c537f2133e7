// SPDX-License-Identifier: Apache-2.0
// AveragePool(x): the mean of each window, summed in double in row-major order, rounded once.
// count_include_pad = 1 divides by the size of the whole window, else by the number of its elements
// inside the input; a window entirely in the padding gives 0.
#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/real_type.h"
#include "core/ops/shared/window.h"

namespace octavo::ops {
namespace {

Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  OCTAVO_TRY(const Window window, WindowOf(context.node(), context.shape(0)));
  ir::Shape shape = {context.shape(0)[0], context.shape(0)[1]};
  shape.insert(shape.end(), window.out.begin(), window.out.end());
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

// The divisor of each output position's mean.  With count_include_pad, the padding counts, but not
// the positions that ceil_mode adds beyond it.
std::vector<double> Divisors(const Window& window, bool include_pad) {
  std::vector<double> divisors(window.positions(), 0);
  if (!include_pad) {
    ForEachTap(window, 0, window.positions(), [&](int64_t position, int64_t, int64_t offset) {
      divisors[position] += offset >= 0;
    });
    return divisors;
  }
  Window padded = window;
  for (size_t d = 0; d < window.axes(); ++d) {
    padded.in[d] += window.pads_begin[d] + window.pads_end[d];
    padded.pads_begin[d] = padded.pads_end[d] = 0;
  }
  ForEachTap(padded, 0, window.positions(),
             [&](int64_t position, int64_t, int64_t offset) { divisors[position] += offset >= 0; });
  return divisors;
}

template <class T>
void Pool(const Window& window, const ir::EvalContext& context) {
  const int64_t in_size = ir::NumElements(window.in);
  const int64_t out_size = window.positions();
  const int64_t planes = context.in(0).shape()[0] * context.in(0).shape()[1];
  const std::vector<double> divisors =
      Divisors(window, context.node.attributes.Int("count_include_pad", 0) != 0);
  const T* x = context.in(0).values<T>().data();
  T* y = context.out().mutable_values<T>().data();
  context.pool->For(planes, 1, [&](int64_t begin, int64_t end) {
    std::vector<double> sums(out_size);
    for (int64_t plane = begin; plane < end; ++plane) {
      std::ranges::fill(sums, 0);
      const T* from = x + plane * in_size;
      ForEachTapRow(window, [&](const TapRow& row) {
        for (int64_t i = 0; i < row.count; ++i) {
          sums[row.position + i] += from[row.offset + i * row.step];
        }
      });
      for (int64_t i = 0; i < out_size; ++i) {
        y[plane * out_size + i] = static_cast<T>(sums[i] / std::max(divisors[i], 1.0));
      }
    }
  });
}

Status Definition(const ir::EvalContext& context) {
  OCTAVO_TRY(const Window window, WindowOf(context.node, context.in(0).shape()));
  WithReal(context.in(0).dtype(), [&]<class T>(T) { Pool<T>(window, context); });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kAveragePool{
    .name = "AveragePool",
    .since = ir::Since(1),
    .attributes = kWindowAttributes,
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &Infer,
    .definition = &Definition,
    .identity_of = &FirstIfWindowOfOne,
};

}  // namespace octavo::ops
