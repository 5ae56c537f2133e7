// SPDX-License-Identifier: Apache-2.0
// The integer definition of means: int64 sums of q - z times s_x / (s_y * count).  Supports any
// storage and any axes, in plain layout.
#include "core/ops/shared/data_op.h"
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/pool_mean.h"
#include "core/runtime/kernels/shared/product_operands.h"
#include "core/runtime/kernels/shared/requantize.h"

namespace octavo::runtime {
namespace {

constexpr int64_t kGrain = 16 << 10;  // grain size: minimum elements per task

constexpr std::string_view kReduceMeanOps[] = {"ReduceMean"};
constexpr std::string_view kPoolOps[] = {"AveragePool", "GlobalAveragePool"};

bool IsMean(const NodeView& view) {
  return view.in(0).quantized() && view.in(0).quant->per_tensor() && view.out().quantized() &&
         view.out().quant->per_tensor();
}

bool MatchReduceMean(const NodeView& view) {
  return IsMean(view) && (!view.Has(1) || view.constant(1) != nullptr) && view.in(0).elements() > 0;
}

// The result's extent of each axis: 1 if the axis is reduced.
ir::Shape KeptShape(const NodeView& view) {
  ir::Shape kept = view.in(0).shape;
  std::vector<int64_t> axes;
  if (view.Has(1)) axes = view.constant(1)->ToInts();
  const auto rank = static_cast<int64_t>(kept.size());
  if (axes.empty() && view.node.attributes.Int("noop_with_empty_axes", 0) == 0) {
    for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  }
  for (const int64_t axis : axes) kept[axis < 0 ? axis + rank : axis] = 1;
  return kept;
}

// The offsets of all elements of a strided shape, in row-major order.
std::vector<int64_t> OffsetsOf(const ir::Shape& shape, const ir::Shape& strides) {
  std::vector<int64_t> offsets = {0};
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    std::vector<int64_t> more;
    more.reserve(offsets.size() * shape[axis]);
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < shape[axis]; ++i) more.push_back(offset + i * strides[axis]);
    }
    offsets = std::move(more);
  }
  return offsets;
}

template <class T>
int64_t SumOf(const T* x, const std::vector<int64_t>& offsets, bool adjacent) {
  int64_t sum = 0;
  const auto count = static_cast<int64_t>(offsets.size());
  if (!adjacent) {
    for (const int64_t offset : offsets) sum += x[offset];
    return sum;
  }
  constexpr int64_t kBlock = 1 << 14;  // values of up to 16 bits whose sum fits int32
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    int32_t part = 0;
    const int64_t end = std::min(count, begin + kBlock);
    for (int64_t i = begin; i < end; ++i) part += static_cast<int32_t>(x[i]);
    sum += part;
  }
  return sum;
}

Result<Prepared> PrepareReduceMean(const NodeView& view, ThreadPool&) {
  const ir::Shape shape = view.in(0).shape, kept = KeptShape(view);
  ir::Shape summed = shape;
  for (size_t i = 0; i < shape.size(); ++i) summed[i] = kept[i] == 1 ? shape[i] : 1;
  const ir::Shape strides = ir::StridesOf(shape);
  const auto starts = std::make_shared<const std::vector<int64_t>>(OffsetsOf(kept, strides));
  const auto offsets = std::make_shared<const std::vector<int64_t>>(OffsetsOf(summed, strides));
  const auto count = static_cast<int64_t>(offsets->size());
  const bool adjacent = offsets->back() == count - 1 && ir::SizeOf(view.in(0).dtype) <= 2;
  const float multiplier = MeanMultiplier(*view.in(0).quant, *view.out().quant, count);
  const int64_t zero = view.in(0).quant->zero_point();
  const int32_t result_zero = view.out().quant->zero_point();
  return Prepared{.run = [=](const StepContext& context) -> Status {
    const ir::Tensor& x = context.in(0);
    ir::Tensor& y = context.out();
    const ir::IntegerRange range = ir::IntegerRangeOf(y.dtype());
    const int64_t grain = std::max<int64_t>(1, kGrain / count);
    ops::VisitDType(x.dtype(), [&]<class T>(T) {
      const T* from = x.values<T>().data();
      context.pool->For(y.size(), grain, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t sum = SumOf(from + (*starts)[i], *offsets, adjacent) - count * zero;
          StoreInteger(y, i, Requantize(sum, multiplier, result_zero, range));
        }
      });
    });
    return {};
  }};
}

bool MatchPool(const NodeView& view) {
  const size_t rank = view.in(0).shape.size();
  return IsMean(view) && (rank == 3 || rank == 4) && view.in(0).elements() > 0;
}

Result<Prepared> PreparePool(const NodeView& view, ThreadPool&) {
  const ir::IntegerRange range = ir::IntegerRangeOf(view.out().dtype);
  return RunPoolMean(view, [from = *view.in(0).quant, to = *view.out().quant,
                            range](const PoolSum& window) {
    return Requantize(window.sum, MeanMultiplier(from, to, window.count), to.zero_point(), range);
  });
}

}  // namespace

extern constexpr Kernel kIntegerReduceMean{.name = "integer-reduce-mean",
                                           .ops = kReduceMeanOps,
                                           .match = &MatchReduceMean,
                                           .prepare = &PrepareReduceMean};

extern constexpr Kernel kIntegerPool{
    .name = "integer-average-pool", .ops = kPoolOps, .match = &MatchPool, .prepare = &PreparePool};

}  // namespace octavo::runtime
