// SPDX-License-Identifier: Apache-2.0
// Pools of channels-last 8-bit images: maxima, and means as integer sums that are requantized once.
#include <cstring>

#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/pool_window.h"
#include "core/runtime/kernels/shared/quant_params.h"
#include "core/runtime/kernels/shared/requantize.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kMaxPoolOps[] = {"MaxPool"};
constexpr std::string_view kAveragePoolOps[] = {"AveragePool"};
constexpr std::string_view kGlobalAveragePoolOps[] = {"GlobalAveragePool"};

// A sum of up to this many 8-bit values and its offset fit int32 and convert to float exactly.
constexpr int64_t kMaxTaps = 1 << 22;

bool IsImage(const NodeView& view) {
  const size_t rank = view.in(0).shape.size();
  return (rank == 3 || rank == 4) && IsPlain8(view.in(0)) && IsPlain8(view.out());
}

bool MatchMaxPool(const NodeView& view) {
  return view.node.results.size() == 1 && IsImage(view) &&
         SameQuantizedType(view.in(0), view.out());
}

bool MatchAveragePool(const NodeView& view) {
  return IsImage(view) && ir::NumElements(view.node.attributes.Ints("kernel_shape")) < kMaxTaps;
}

bool MatchGlobal(const NodeView& view) {
  return IsImage(view) && view.in(0).elements() > 0 &&
         view.in(0).elements() / view.in(0).shape[0] / view.in(0).shape[1] < kMaxTaps;
}

// Both operands as [batch, height, width, channels].
struct Images {
  PoolAxis height = {}, width = {};
  int64_t batch = 0, channels = 0;

  int64_t rows() const { return batch * height.out; }
  const uint8_t* Input(const uint8_t* x, int64_t n, int64_t row, int64_t column) const {
    return x + ((n * height.in + row) * width.in + column) * channels;
  }
};

Images ImagesOf(const NodeView& view) {
  const ir::Shape& x = view.in(0).shape;
  const auto axes = PoolAxes(view.node, x, view.out().shape);
  return {axes[0], axes[1], x[0], x[1]};
}

// Columns that the windows of a row cover, including padding.
int64_t CountColumns(const PoolAxis& width) {
  const int64_t last = width.Place(width.out - 1, width.kernel - 1) + 1;
  return width.before + std::max(width.in, last);
}

// Calls tap(x) with each operand row under row `row` of the result.
template <class F>
void ForTapRows(const Images& images, const uint8_t* x, int64_t row, F&& tap) {
  for (int64_t i = 0; i < images.height.kernel; ++i) {
    const int64_t y = images.height.Place(row % images.height.out, i);
    if (y >= 0 && y < images.height.in) tap(images.Input(x, row / images.height.out, y, 0));
  }
}

// Computes the flipped maxima of each column under row `row` of the result, with zero padding on
// both sides.
void RaiseColumns(const Images& images, const simd::Kernels& loops, const uint8_t* x, uint8_t flip,
                  int64_t row, std::vector<uint8_t>& columns) {
  const PoolAxis& width = images.width;
  const int64_t count = CountColumns(width) * images.channels + simd::kWindowSlack;
  columns.assign(static_cast<size_t>(count), 0);
  ForTapRows(images, x, row, [&](const uint8_t* tap) {
    loops.max_in_place(tap, width.in * images.channels, flip,
                       columns.data() + width.before * images.channels);
  });
}

// The sums of the flipped values of each column, with padding likewise.
void SumColumns(const Images& images, const simd::Kernels& loops, const uint8_t* x, uint8_t flip,
                int64_t row, std::vector<int32_t>& columns) {
  const PoolAxis& width = images.width;
  columns.assign(static_cast<size_t>(CountColumns(width) * images.channels), 0);
  ForTapRows(images, x, row, [&](const uint8_t* tap) {
    loops.accumulate(tap, width.in * images.channels, flip,
                     columns.data() + width.before * images.channels);
  });
}

// Sets the result of windows that contain only padding to `empty`.
void FillEmpty(const Images& images, int64_t row, uint8_t empty, uint8_t* y) {
  const bool inside = images.height.CountInside(row % images.height.out) > 0;
  for (int64_t column = 0; column < images.width.out; ++column, y += images.channels) {
    if (!inside || images.width.CountInside(column) == 0) std::memset(y, empty, images.channels);
  }
}

Result<Prepared> PrepareMaxPool(const NodeView& view, ThreadPool&) {
  const Images images = ImagesOf(view);
  const uint8_t flip = SimdQuant(view.in(0)).flip;
  // The result of a window in padding only: the lowest integer, or in some modes the zero point.
  const bool fills = view.numerics->empty_pool_window_is_zero;
  const auto empty = static_cast<uint8_t>(view.out().quant->zero_point());
  const int64_t row_size = images.width.out * images.channels;
  const int64_t work = row_size * (images.height.kernel + images.width.kernel);
  return Prepared{.run = [=,
                          loops = &simd::CurrentKernels()](const StepContext& context) -> Status {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    context.pool->For(
        images.rows(), kRowGrain / std::max<int64_t>(1, work) + 1, [&](int64_t begin, int64_t end) {
          static thread_local std::vector<uint8_t> columns;
          for (int64_t row = begin; row < end; ++row) {
            RaiseColumns(images, *loops, x, flip, row, columns);
            loops->max_of_windows({.x = columns.data(),
                                   .step = images.width.stride * images.channels,
                                   .tap_step = images.width.dilation * images.channels,
                                   .taps = images.width.kernel,
                                   .pixels = images.width.out,
                                   .channels = images.channels,
                                   .flip = flip,
                                   .y = y + row * row_size});
            if (fills) FillEmpty(images, row, empty, y + row * row_size);
          }
        });
    return {};
  }};
}

// Divisor and quantization parameters of a mean.
struct Mean {
  bool padding_counts = false;
  ir::Quant from = {}, to = {};
  simd::Quant x_quant = {}, y_quant = {};

  void Run(const Images& images, const simd::Kernels& loops, const uint8_t* x, int64_t row,
           uint8_t* y) const {
    static thread_local std::vector<int32_t> columns;
    SumColumns(images, loops, x, x_quant.flip, row, columns);
    const PoolAxis &height = images.height, &width = images.width;
    const int64_t inside = height.CountInside(row % height.out);
    const int64_t padded = height.CountPadded(row % height.out);
    for (int64_t column = 0; column < width.out; ++column, y += images.channels) {
      const int64_t taps = inside * width.CountInside(column);
      const int64_t count = padding_counts ? padded * width.CountPadded(column) : taps;
      loops.mean_of_taps({.columns = columns.data() + column * width.stride * images.channels,
                          .tap_step = width.dilation * images.channels,
                          .taps = width.kernel,
                          .channels = images.channels,
                          .offset = static_cast<int32_t>(taps * x_quant.zero_point),
                          .multiplier = MeanMultiplier(from, to, std::max<int64_t>(1, count)),
                          .quant = y_quant,
                          .y = y});
    }
  }
};

Result<Prepared> PrepareAveragePool(const NodeView& view, ThreadPool&) {
  const Images images = ImagesOf(view);
  const Mean mean{view.node.attributes.Int("count_include_pad", 0) != 0, *view.in(0).quant,
                  *view.out().quant, SimdQuant(view.in(0)), SimdQuant(view.out())};
  const int64_t row_size = images.width.out * images.channels;
  const int64_t work = row_size * (images.height.kernel + images.width.kernel);
  return Prepared{
      .run = [=, loops = &simd::CurrentKernels()](const StepContext& context) -> Status {
        const uint8_t* x = context.in(0).values<uint8_t>().data();
        uint8_t* y = context.out().mutable_values<uint8_t>().data();
        context.pool->For(images.rows(), kRowGrain / std::max<int64_t>(1, work) + 1,
                          [&](int64_t begin, int64_t end) {
                            for (int64_t row = begin; row < end; ++row) {
                              mean.Run(images, *loops, x, row, y + row * row_size);
                            }
                          });
        return {};
      }};
}

Result<Prepared> PrepareGlobal(const NodeView& view, ThreadPool&) {
  const ir::Shape& shape = view.in(0).shape;
  const int64_t channels = shape[1], pixels = view.in(0).elements() / shape[0] / channels;
  const float multiplier = MeanMultiplier(*view.in(0).quant, *view.out().quant, pixels);
  const simd::Quant x_quant = SimdQuant(view.in(0)), y_quant = SimdQuant(view.out());
  return Prepared{.run = [=,
                          loops = &simd::CurrentKernels()](const StepContext& context) -> Status {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    const int64_t batch = context.in(0).shape()[0];
    context.pool->For(batch, 1, [&](int64_t begin, int64_t end) {
      std::vector<int32_t> sums;
      for (int64_t n = begin; n < end; ++n) {
        sums.assign(channels, 0);
        for (int64_t p = 0; p < pixels; ++p) {
          loops->accumulate(x + (n * pixels + p) * channels, channels, x_quant.flip, sums.data());
        }
        loops->requantize(sums.data(), channels, static_cast<int32_t>(pixels * x_quant.zero_point),
                          multiplier, y_quant, y + n * channels);
      }
    });
    return {};
  }};
}

}  // namespace

extern constexpr Kernel kSimdMaxPool{.name = "simd-max-pool",
                                     .ops = kMaxPoolOps,
                                     .layout = LayoutRule::kChannelsLast,
                                     .modes = Modes::kAll,
                                     .match = &MatchMaxPool,
                                     .prepare = &PrepareMaxPool,
                                     .isa = &CurrentIsaName};

extern constexpr Kernel kSimdAveragePool{.name = "simd-average-pool",
                                         .ops = kAveragePoolOps,
                                         .layout = LayoutRule::kChannelsLast,
                                         .match = &MatchAveragePool,
                                         .prepare = &PrepareAveragePool,
                                         .isa = &CurrentIsaName};

extern constexpr Kernel kSimdGlobalAveragePool{.name = "simd-global-average-pool",
                                               .ops = kGlobalAveragePoolOps,
                                               .layout = LayoutRule::kChannelsLast,
                                               .match = &MatchGlobal,
                                               .prepare = &PrepareGlobal,
                                               .isa = &CurrentIsaName};

}  // namespace octavo::runtime
