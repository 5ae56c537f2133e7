// Integer convolutions: packed 8-bit kernels, and the definition for any storage up to 16 bits
// with sums in int64.
#include "core/reference/conv_shape.h"
#include "core/runtime/int8/conv.h"
#include "core/runtime/product.h"
#include "core/runtime/requantize.h"

namespace octavo::runtime {
namespace {

using reference::ConvShape;

constexpr std::string_view kConvOps[] = {"Conv"};
constexpr std::string_view kConvTransposeOps[] = {"ConvTranspose"};

double OperationsOf(const NodeView& view) {
  const ir::Shape& w = view.in(1).shape;
  return 2.0 * static_cast<double>(view.out().elements()) *
         static_cast<double>(ir::NumElements(w) / std::max<int64_t>(1, w[0]));
}

std::optional<ConvShape> ShapeOf(const NodeView& view) {
  return reference::ConvShapeOf(view.node, view.in(0).shape, view.in(1).shape);
}

bool MatchInt8(const NodeView& view) {
  if (!IsInt8Product(view, 0) || !ShapeOf(view) || view.out().elements() == 0) return false;
  const ir::Shape& w = view.in(1).shape;
  return ir::NumElements(w) > 0 &&
         int8::FitsInt32(WeightsOf(view.in(1), *view.constant(1)), w[0], ir::NumElements(w) / w[0],
                         ActivationOf(view.in(0)), ConstantBias(view));
}

Result<Prepared> PrepareInt8(const NodeView& view, ThreadPool&) {
  const auto shape = ShapeOf(view);
  const std::vector<float> multipliers =
      Multipliers(*view.in(0).quant, *view.in(1).quant, *view.out().quant, shape->out_channels);
  OCTAVO_TRY(const int8::ConvPlan plan,
             int8::ConvPlan::Prepare({.shape = *shape,
                                      .input = ActivationOf(view.in(0)),
                                      .weights = WeightsOf(view.in(1), *view.constant(1)),
                                      .bias = ConstantBias(view),
                                      .finish = FinishOf(view.out(), multipliers)}));
  return Prepared{.run = [plan](const StepContext& context) -> Status {
                    plan.Run(context.in(0).raw(), context.out().mutable_raw(), context.scratch,
                             *context.pool);
                    return {};
                  },
                  .scratch_bytes = plan.workspace_bytes(),
                  .operations = OperationsOf(view)};
}

// What the definitions below sum.
struct Operands {
  ConvShape shape = {};
  int64_t out_height = 0, out_width = 0;
  const int32_t* x = nullptr;
  const int32_t* w = nullptr;
};

// Output (n, channel, row, column) of a convolution.
int64_t ConvSum(const Operands& at, int64_t n, int64_t channel, int64_t row, int64_t column) {
  const ConvShape& s = at.shape;
  const int64_t depth = s.in_channels / s.groups;
  const int64_t first = channel / (s.out_channels / s.groups) * depth;
  int64_t sum = 0;
  for (int64_t c = 0; c < depth; ++c) {
    const int32_t* x = at.x + (n * s.in_channels + first + c) * s.in_height * s.in_width;
    const int32_t* w = at.w + (channel * depth + c) * s.kernel_height * s.kernel_width;
    for (int64_t i = 0; i < s.kernel_height; ++i) {
      const int64_t y = row * s.stride_height - s.pad_top + i * s.dilation_height;
      if (y < 0 || y >= s.in_height) continue;
      for (int64_t j = 0; j < s.kernel_width; ++j) {
        const int64_t z = column * s.stride_width - s.pad_left + j * s.dilation_width;
        if (z < 0 || z >= s.in_width) continue;
        sum += static_cast<int64_t>(x[y * s.in_width + z]) * w[i * s.kernel_width + j];
      }
    }
  }
  return sum;
}

// The input place that tap `k` of a transposed convolution brings to `out`, or -1.
int64_t SourceOf(int64_t out, int64_t pad, int64_t k, int64_t dilation, int64_t stride,
                 int64_t extent) {
  const int64_t place = out + pad - k * dilation;
  return place >= 0 && place % stride == 0 && place / stride < extent ? place / stride : -1;
}

int64_t ConvTransposeSum(const Operands& at, int64_t n, int64_t channel, int64_t row,
                         int64_t column) {
  const ConvShape& s = at.shape;
  const int64_t depth = s.in_channels / s.groups, per_group = s.out_channels / s.groups;
  const int64_t first = channel / per_group * depth;
  const int64_t taps = s.kernel_height * s.kernel_width;
  int64_t sum = 0;
  for (int64_t c = first; c < first + depth; ++c) {
    const int32_t* x = at.x + (n * s.in_channels + c) * s.in_height * s.in_width;
    const int32_t* w = at.w + (c * per_group + channel % per_group) * taps;
    for (int64_t i = 0; i < s.kernel_height; ++i) {
      const int64_t y =
          SourceOf(row, s.pad_top, i, s.dilation_height, s.stride_height, s.in_height);
      for (int64_t j = 0; y >= 0 && j < s.kernel_width; ++j) {
        const int64_t z =
            SourceOf(column, s.pad_left, j, s.dilation_width, s.stride_width, s.in_width);
        if (z >= 0) {
          sum += static_cast<int64_t>(x[y * s.in_width + z]) * w[i * s.kernel_width + j];
        }
      }
    }
  }
  return sum;
}

using Sum = int64_t (*)(const Operands&, int64_t, int64_t, int64_t, int64_t);

// `channels` scales of w serve all groups in turn.
Prepared Define(const NodeView& view, const ConvShape& shape, Sum sum, int64_t channels) {
  const ir::Quant x_quant = *view.in(0).quant, w_quant = *view.in(1).quant;
  const auto multipliers = Multipliers(x_quant, w_quant, *view.out().quant, channels);
  const int32_t zero = view.out().quant->zero_point();
  return {.run = [=](const StepContext& context) -> Status {
            std::vector<int32_t> x(context.in(0).size()), w(context.in(1).size());
            Center(context.in(0), x_quant, x.data());
            Center(context.in(1), w_quant, w.data());
            const auto bias = BiasOf(context.Has(2) ? &context.in(2) : nullptr, shape.out_channels);
            ir::Tensor& y = context.out();
            const int64_t height = y.rank() == 4 ? y.shape()[2] : 1, width = y.shape().back();
            const Operands operands{shape, height, width, x.data(), w.data()};
            context.pool->For(y.size(), 1024, [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) {
                const int64_t column = i % width, row = i / width % height;
                const int64_t c = i / width / height % shape.out_channels;
                const int64_t n = i / width / height / shape.out_channels;
                const int64_t total = sum(operands, n, c, row, column) + bias[c];
                StoreCode(
                    y, i,
                    Requantize(total, multipliers[c % channels], zero, ir::CodesOf(y.dtype())));
              }
            });
            return {};
          },
          .operations = OperationsOf(view)};
}

bool MatchConv(const NodeView& view) {
  return IsIntegerProduct(view, 0) && ShapeOf(view).has_value();
}

Result<Prepared> PrepareConv(const NodeView& view, ThreadPool&) {
  const ConvShape shape = *ShapeOf(view);
  return Define(view, shape, &ConvSum, shape.out_channels);
}

bool MatchConvTranspose(const NodeView& view) {
  return IsIntegerProduct(view, 1) &&
         reference::ConvTransposeShapeOf(view.node, view.in(0).shape, view.in(1).shape);
}

Result<Prepared> PrepareConvTranspose(const NodeView& view, ThreadPool&) {
  const ConvShape shape =
      *reference::ConvTransposeShapeOf(view.node, view.in(0).shape, view.in(1).shape);
  return Define(view, shape, &ConvTransposeSum, shape.out_channels / shape.groups);
}

}  // namespace

extern constexpr Kernel kInt8Conv{.name = "int8-conv",
                                  .ops = kConvOps,
                                  .layout = LayoutRule::kChannelsLast,
                                  .images = 1,
                                  .match = &MatchInt8,
                                  .prepare = &PrepareInt8,
                                  .isa = &CurrentIsaName};

extern constexpr Kernel kIntegerConv{
    .name = "integer-conv", .ops = kConvOps, .match = &MatchConv, .prepare = &PrepareConv};

extern constexpr Kernel kIntegerConvTranspose{.name = "integer-conv-transpose",
                                              .ops = kConvTransposeOps,
                                              .match = &MatchConvTranspose,
                                              .prepare = &PrepareConvTranspose};

}  // namespace octavo::runtime
