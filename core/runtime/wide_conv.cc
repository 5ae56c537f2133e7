#include "core/runtime/wide_conv.h"

#include <algorithm>

#include "core/runtime/product.h"
#include "core/runtime/requantize.h"
#include "core/runtime/wide_product.h"

namespace octavo::runtime {
namespace {

using reference::ConvShape;

// One spatial axis of outputs that are computed together: places first, first + step, ...; output
// i meets, at its k-th tap, input place i * stride + shifts[k], which is kernel place taps[k].
struct AxisPlan {
  int64_t first = 0, step = 1, count = 0;
  int64_t stride = 1;
  std::vector<int64_t> shifts = {}, taps = {};
};

struct AxisSizes {
  int64_t in = 1, kernel = 1, stride = 1, dilation = 1, pad = 0, out = 0;
};

std::vector<AxisPlan> ForwardAxis(const AxisSizes& s) {
  AxisPlan plan{.count = s.out, .stride = s.stride};
  for (int64_t k = 0; k < s.kernel; ++k) {
    plan.shifts.push_back(k * s.dilation - s.pad);
    plan.taps.push_back(k);
  }
  return {plan};
}

// Outputs whose places leave one remainder modulo the stride share taps.
std::vector<AxisPlan> TransposedAxis(const AxisSizes& s) {
  std::vector<AxisPlan> plans;
  for (int64_t first = 0; first < std::min(s.stride, s.out); ++first) {
    AxisPlan plan{
        .first = first, .step = s.stride, .count = (s.out - first + s.stride - 1) / s.stride};
    for (int64_t k = 0; k < s.kernel; ++k) {
      const int64_t spread = first + s.pad - k * s.dilation;
      if (spread % s.stride != 0) continue;
      plan.shifts.push_back(spread / s.stride);
      plan.taps.push_back(k);
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

// The operand with zeros around it; columns are sorted by their remainder modulo the stride, so
// that those of one tap are adjacent.
struct FieldPlan {
  int64_t top = 0, left = 0, rows = 0, width = 0, phases = 1;

  int64_t plane() const { return rows * phases * width; }
  int64_t At(int64_t row, int64_t column) const {
    const int64_t r = row + top, c = column + left;
    return (r * phases + c % phases) * width + c / phases;
  }
};

struct Extent {
  int64_t before = 0, size = 0;  // places from -before on
};

Extent ExtentOf(const std::vector<AxisPlan>& plans, int64_t in) {
  int64_t low = 0, high = in;
  for (const AxisPlan& plan : plans) {
    for (const int64_t shift : plan.shifts) {
      low = std::min(low, shift);
      high = std::max(high, (plan.count - 1) * plan.stride + shift + 1);
    }
  }
  return {-low, high - low};
}

struct Definition {
  ConvShape shape = {};
  int64_t out_height = 0, out_width = 0;
  std::vector<AxisPlan> heights = {}, widths = {};
  FieldPlan field = {};
  bool transposed = false;
  ir::Quant x = {}, w = {};
  int64_t reach = 0;  // of x
  WideFinish finish = {};

  int64_t depth() const { return shape.in_channels / shape.groups; }

  // Centered codes of all planes in fields.
  std::vector<int32_t> Fields(const ir::Tensor& codes, ThreadPool& pool) const {
    std::vector<int32_t> centered(codes.size());
    Center(codes, x, centered.data());
    const int64_t planes = shape.batch * shape.in_channels;
    std::vector<int32_t> fields(planes * field.plane() + rows::kRowSlack, 0);
    pool.For(planes, 4, [&](int64_t begin, int64_t end) {
      const int32_t* from = centered.data() + begin * shape.in_height * shape.in_width;
      for (int64_t plane = begin; plane < end; ++plane) {
        int32_t* to = fields.data() + plane * field.plane();
        for (int64_t r = 0; r < shape.in_height; ++r) {
          for (int64_t c = 0; c < shape.in_width; ++c) to[field.At(r, c)] = *from++;
        }
      }
    });
    return fields;
  }

  // The taps of outputs of one pair of axis plans: where they lie in a group's fields, and in the
  // kernel, which for a given output channel begins at each input channel's own place.
  struct Taps {
    std::vector<int64_t> offsets = {}, kernel_places = {}, channels = {};
  };
  Taps TapsOf(const AxisPlan& height, const AxisPlan& width) const {
    Taps taps;
    for (int64_t c = 0; c < depth(); ++c) {
      for (size_t i = 0; i < height.taps.size(); ++i) {
        for (size_t j = 0; j < width.taps.size(); ++j) {
          taps.offsets.push_back(c * field.plane() + field.At(height.shifts[i], width.shifts[j]));
          taps.kernel_places.push_back(height.taps[i] * shape.kernel_width + width.taps[j]);
          taps.channels.push_back(c);
        }
      }
    }
    return taps;
  }

  std::vector<int32_t> WeightsOf(const Taps& taps, const int32_t* centered, int64_t channel) const {
    const int64_t outs = shape.out_channels / shape.groups;
    const int64_t area = shape.kernel_height * shape.kernel_width;
    std::vector<int32_t> weights;
    weights.reserve(taps.offsets.size());
    for (size_t t = 0; t < taps.offsets.size(); ++t) {
      const int64_t c = taps.channels[t];
      const int64_t kernel = transposed ? (channel / outs * depth() + c) * outs + channel % outs
                                        : channel * depth() + c;
      weights.push_back(centered[kernel * area + taps.kernel_places[t]]);
    }
    return weights;
  }

  // Output plane n, channel of the given axis plans.
  void RunPlane(const AxisPlan& height, const AxisPlan& width, const Taps& taps,
                const int32_t* fields, const int32_t* weights, int64_t bias, int64_t plane,
                std::byte* y) const {
    const int64_t n = plane / shape.out_channels, channel = plane % shape.out_channels;
    const std::vector<int32_t> own = WeightsOf(taps, weights, channel);
    const WideRow row(own, taps.offsets, reach);
    const int64_t group = channel / (shape.out_channels / shape.groups);
    const int32_t* from = fields + (n * shape.in_channels + group * depth()) * field.plane();
    std::vector<int64_t> sums(width.count);
    for (int64_t r = 0; r < height.count; ++r) {
      row.Run(from + r * height.stride * field.phases * field.width, width.count, sums.data());
      const int64_t at = plane * out_height + height.first + r * height.step;
      finish.Store(sums, {&bias, 1}, channel, y, at * out_width + width.first, width.step);
    }
  }

  Status Run(const StepContext& context) const {
    const std::vector<int32_t> fields = Fields(context.in(0), *context.pool);
    std::vector<int32_t> weights(context.in(1).size());
    Center(context.in(1), w, weights.data());
    const auto bias = BiasOf(context.Has(2) ? &context.in(2) : nullptr, shape.out_channels);
    std::byte* y = context.out().mutable_raw();
    for (const AxisPlan& height : heights) {
      for (const AxisPlan& width : widths) {
        const Taps taps = TapsOf(height, width);
        context.pool->For(shape.batch * shape.out_channels, 1, [&](int64_t begin, int64_t end) {
          for (int64_t plane = begin; plane < end; ++plane) {
            RunPlane(height, width, taps, fields.data(), weights.data(),
                     bias[plane % shape.out_channels], plane, y);
          }
        });
      }
    }
    return {};
  }
};

Prepared Define(const NodeView& view, Definition definition, int64_t scales, double operations) {
  const ConvShape& s = definition.shape;
  const Extent rows = ExtentOf(definition.heights, s.in_height);
  const Extent columns = ExtentOf(definition.widths, s.in_width);
  const int64_t phases = definition.widths.empty() ? 1 : definition.widths[0].stride;
  definition.field = {.top = rows.before,
                      .left = columns.before,
                      .rows = rows.size,
                      .width = columns.size / phases + 1,
                      .phases = phases};
  definition.x = *view.in(0).quant;
  definition.w = *view.in(1).quant;
  definition.reach = ReachOf(view.in(0));
  definition.finish = {.multipliers = Multipliers(definition.x, definition.w, *view.out().quant,
                                                  std::max<int64_t>(1, scales)),
                       .zero_point = view.out().quant->zero_point(),
                       .dtype = view.out().dtype,
                       .mode = ModeFinish(view, std::max<int64_t>(1, scales))};
  const auto shared = std::make_shared<const Definition>(std::move(definition));
  return {.run = [shared](const StepContext& context) { return shared->Run(context); },
          .operations = operations};
}

Definition Begin(const NodeView& view, const ConvShape& shape) {
  const ir::Shape& y = view.out().shape;
  return {.shape = shape, .out_height = y.size() == 4 ? y[2] : 1, .out_width = y.back()};
}

AxisSizes Height(const Definition& d) {
  const ConvShape& s = d.shape;
  return {s.in_height,       s.kernel_height, s.stride_height,
          s.dilation_height, s.pad_top,       d.out_height};
}
AxisSizes Width(const Definition& d) {
  const ConvShape& s = d.shape;
  return {s.in_width, s.kernel_width, s.stride_width, s.dilation_width, s.pad_left, d.out_width};
}

}  // namespace

Prepared DefineConv(const NodeView& view, const ConvShape& shape, double operations) {
  Definition definition = Begin(view, shape);
  definition.heights = ForwardAxis(Height(definition));
  definition.widths = ForwardAxis(Width(definition));
  return Define(view, std::move(definition), shape.out_channels, operations);
}

Prepared DefineConvTranspose(const NodeView& view, const ConvShape& shape, double operations) {
  Definition definition = Begin(view, shape);
  definition.transposed = true;
  definition.heights = TransposedAxis(Height(definition));
  definition.widths = TransposedAxis(Width(definition));
  // The scales of w serve all groups in turn.
  return Define(view, std::move(definition), shape.out_channels / shape.groups, operations);
}

}  // namespace octavo::runtime
