// The integer definition of means: int64 sums of q - z times s_x / (s_y * count).  Any storage,
// any axes, plain layout.
#include "core/runtime/kernel.h"
#include "core/runtime/pool_window.h"
#include "core/runtime/product.h"
#include "core/runtime/requantize.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kReduceMeanOps[] = {"ReduceMean"};
constexpr std::string_view kPoolOps[] = {"AveragePool", "GlobalAveragePool"};

bool IsMean(const NodeView& view) {
  return view.in(0).quantized() && view.in(0).quant->per_tensor() && view.out().quantized() &&
         view.out().quant->per_tensor();
}

bool MatchReduceMean(const NodeView& view) {
  return IsMean(view) && (!view.Has(1) || view.constant(1) != nullptr) && view.in(0).elements() > 0;
}

// The extent that each axis keeps: 1 where it is summed over.
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

Result<Prepared> PrepareReduceMean(const NodeView& view, ThreadPool&) {
  const ir::Shape shape = view.in(0).shape, kept = KeptShape(view);
  const int64_t count = ir::NumElements(shape) / ir::NumElements(kept);
  const float multiplier = MeanMultiplier(*view.in(0).quant, *view.out().quant, count);
  const int64_t zero = view.in(0).quant->zero_point();
  const int32_t result_zero = view.out().quant->zero_point();
  return Prepared{.run = [=](const StepContext& context) -> Status {
    const ir::Tensor& x = context.in(0);
    ir::Tensor& y = context.out();
    const ir::Shape strides = ir::StridesOf(kept);
    std::vector<int64_t> sums(y.size(), 0);
    ir::Shape at(shape.size(), 0);
    int64_t to = 0;
    for (int64_t i = 0; i < x.size(); ++i) {
      sums[to] += x.IntAt(i) - zero;
      for (size_t axis = shape.size(); axis-- > 0;) {
        const int64_t step = kept[axis] == 1 ? 0 : strides[axis];
        to += step;
        if (++at[axis] < shape[axis]) break;
        at[axis] = 0;
        to -= step * shape[axis];
      }
    }
    for (int64_t i = 0; i < y.size(); ++i) {
      StoreCode(y, i, Requantize(sums[i], multiplier, result_zero, ir::CodesOf(y.dtype())));
    }
    return {};
  }};
}

bool MatchPool(const NodeView& view) {
  const size_t rank = view.in(0).shape.size();
  return IsMean(view) && (rank == 3 || rank == 4) && view.in(0).elements() > 0;
}

std::vector<PoolAxis> AxesOf(const NodeView& view) {
  const ir::Shape& x = view.in(0).shape;
  if (view.node.attributes.Has("kernel_shape")) return PoolAxes(view.node, x, view.out().shape);
  std::vector<PoolAxis> axes(4 - x.size());
  for (size_t i = 2; i < x.size(); ++i) axes.push_back({.in = x[i], .kernel = x[i]});
  return axes;
}

Result<Prepared> PreparePool(const NodeView& view, ThreadPool&) {
  const auto axes = AxesOf(view);
  const PoolAxis height = axes[0], width = axes[1];
  const bool padding_counts = view.node.attributes.Int("count_include_pad", 0) != 0;
  const ir::Quant from = *view.in(0).quant, to = *view.out().quant;
  return Prepared{.run = [=](const StepContext& context) -> Status {
    const ir::Tensor& x = context.in(0);
    ir::Tensor& y = context.out();
    const int64_t pixels = height.out * width.out;
    context.pool->For(y.size(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i % pixels / width.out, column = i % width.out;
        int64_t sum = 0;
        for (int64_t k = 0; k < height.kernel * width.kernel; ++k) {
          const int64_t r = height.Place(row, k / width.kernel);
          const int64_t c = width.Place(column, k % width.kernel);
          if (r < 0 || r >= height.in || c < 0 || c >= width.in) continue;
          sum += x.IntAt((i / pixels * height.in + r) * width.in + c) - from.zero_point();
        }
        const int64_t inside = height.CountInside(row) * width.CountInside(column);
        const int64_t padded = height.CountPadded(row) * width.CountPadded(column);
        const int64_t count = std::max<int64_t>(1, padding_counts ? padded : inside);
        StoreCode(y, i,
                  Requantize(sum, MeanMultiplier(from, to, count), to.zero_point(),
                             ir::CodesOf(y.dtype())));
      }
    });
    return {};
  }};
}

}  // namespace

extern constexpr Kernel kIntegerReduceMean{.name = "integer-reduce-mean",
                                           .ops = kReduceMeanOps,
                                           .match = &MatchReduceMean,
                                           .prepare = &PrepareReduceMean};

extern constexpr Kernel kIntegerPool{
    .name = "integer-average-pool", .ops = kPoolOps, .match = &MatchPool, .prepare = &PreparePool};

}  // namespace octavo::runtime
