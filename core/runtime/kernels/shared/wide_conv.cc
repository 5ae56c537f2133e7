// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/wide_conv.h"

#include <algorithm>
#include <array>

#include "core/runtime/kernels/shared/pair_product.h"
#include "core/runtime/kernels/shared/product_operands.h"
#include "core/runtime/kernels/shared/wide_product.h"

namespace octavo::runtime {
namespace {

using float_exec::ConvAxes;
using float_exec::ConvAxis;

// One spatial axis of outputs that are computed together: indices first, first + step, ...  At its
// k-th tap, output i reads input i * stride + shifts[k] and kernel element taps[k].
struct AxisPlan {
  int64_t first = 0, step = 1, count = 0;
  int64_t stride = 1;
  std::vector<int64_t> shifts = {}, taps = {};
};

std::vector<AxisPlan> ForwardAxis(const ConvAxis& s, int64_t out) {
  AxisPlan plan{.count = out, .stride = s.stride};
  for (int64_t k = 0; k < s.kernel; ++k) {
    plan.shifts.push_back(k * s.dilation - s.before);
    plan.taps.push_back(k);
  }
  return {plan};
}

// Outputs with equal indices modulo the stride share taps.
std::vector<AxisPlan> TransposedAxis(const ConvAxis& s, int64_t out) {
  std::vector<AxisPlan> plans;
  for (int64_t first = 0; first < std::min(s.stride, out); ++first) {
    AxisPlan plan{
        .first = first, .step = s.stride, .count = (out - first + s.stride - 1) / s.stride};
    for (int64_t k = 0; k < s.kernel; ++k) {
      const int64_t position = first + s.before - k * s.dilation;
      if (position % s.stride != 0) continue;
      plan.shifts.push_back(position / s.stride);
      plan.taps.push_back(k);
    }
    plans.push_back(std::move(plan));
  }
  return plans;
}

// The operand, padded with zeros.  Columns are sorted by their remainder modulo the stride, so that
// the columns of one tap are adjacent.
struct FieldPlan {
  int64_t front = 0, top = 0, left = 0, slices = 0, rows = 0, width = 0, phases = 1;

  int64_t slice() const { return rows * phases * width; }
  int64_t size() const { return slices * slice(); }
  int64_t At(int64_t depth, int64_t row, int64_t column) const {
    const int64_t d = depth + front, r = row + top, c = column + left;
    return ((d * rows + r) * phases + c % phases) * width + c / phases;
  }
};

struct Extent {
  int64_t before = 0, size = 0;  // indices start at -before
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

// Depth, height and width; with fewer axes the first ones are trivial.
using Plans = std::array<std::vector<AxisPlan>, kMaxConvAxes>;

struct Definition {
  ConvAxes sizes = {};  // three axes
  ir::Shape out = {};   // extents of their results
  Plans plans = {};
  FieldPlan field = {};
  bool transposed = false;
  ir::Quant x = {}, w = {};
  int64_t reach = 0;  // of x
  std::optional<PairForm> pairs = {};
  WideFinish finish = {};

  // Outputs along each axis that share taps.
  struct Part {
    const AxisPlan& depth;
    const AxisPlan& height;
    const AxisPlan& width;
  };

  int64_t ins() const { return sizes.in_channels / sizes.groups; }
  int64_t outs() const { return sizes.out_channels / sizes.groups; }

  // Computes q - z of all channels, padded.
  std::vector<int32_t> Fields(const ir::Tensor& input, ThreadPool& pool) const {
    std::vector<int32_t> centered(input.size());
    Center(input, x, centered.data());
    const int64_t channels = sizes.batch * sizes.in_channels;
    const int64_t depth = sizes.axes[0].in, height = sizes.axes[1].in, width = sizes.axes[2].in;
    std::vector<int32_t> fields(channels * field.size() + simd::kRowSlack, 0);
    pool.For(channels, 4, [&](int64_t begin, int64_t end) {
      const int32_t* from = centered.data() + begin * depth * height * width;
      for (int64_t channel = begin; channel < end; ++channel) {
        int32_t* to = fields.data() + channel * field.size();
        for (int64_t d = 0; d < depth; ++d) {
          for (int64_t r = 0; r < height; ++r) {
            for (int64_t c = 0; c < width; ++c) to[field.At(d, r, c)] = *from++;
          }
        }
      }
    });
    return fields;
  }

  // The taps of a part: their offsets in a group's fields and in the kernel of an input channel.
  struct Taps {
    std::vector<int64_t> offsets = {}, kernel_places = {}, channels = {};
  };
  Taps TapsOf(const Part& part) const {
    Taps taps;
    for (int64_t c = 0; c < ins(); ++c) {
      for (size_t d = 0; d < part.depth.taps.size(); ++d) {
        for (size_t i = 0; i < part.height.taps.size(); ++i) {
          for (size_t j = 0; j < part.width.taps.size(); ++j) {
            taps.offsets.push_back(c * field.size() + field.At(part.depth.shifts[d],
                                                               part.height.shifts[i],
                                                               part.width.shifts[j]));
            const int64_t row = part.depth.taps[d] * sizes.axes[1].kernel + part.height.taps[i];
            taps.kernel_places.push_back(row * sizes.axes[2].kernel + part.width.taps[j]);
            taps.channels.push_back(c);
          }
        }
      }
    }
    return taps;
  }

  std::vector<int32_t> WeightsOf(const Taps& taps, const int32_t* centered, int64_t channel) const {
    const int64_t volume = sizes.axes[0].kernel * sizes.axes[1].kernel * sizes.axes[2].kernel;
    std::vector<int32_t> weights;
    weights.reserve(taps.offsets.size());
    for (size_t t = 0; t < taps.offsets.size(); ++t) {
      const int64_t c = taps.channels[t];
      const int64_t kernel = transposed ? (channel / outs() * ins() + c) * outs() + channel % outs()
                                        : channel * ins() + c;
      weights.push_back(centered[kernel * volume + taps.kernel_places[t]]);
    }
    return weights;
  }

  // Computes a part of the results of one image and channel.
  void RunChannel(const Part& part, const Taps& taps, const int32_t* fields, const int32_t* weights,
                  int64_t bias, int64_t image_channel, std::byte* y) const {
    const int64_t n = image_channel / sizes.out_channels;
    const int64_t channel = image_channel % sizes.out_channels;
    const std::vector<int32_t> own = WeightsOf(taps, weights, channel);
    const WideRow row(own, taps.offsets, reach);
    const int32_t* from =
        fields + (n * sizes.in_channels + channel / outs() * ins()) * field.size();
    std::vector<int64_t> sums(part.width.count);
    for (int64_t d = 0; d < part.depth.count; ++d) {
      const int64_t slice = image_channel * out[0] + part.depth.first + d * part.depth.step;
      for (int64_t r = 0; r < part.height.count; ++r) {
        row.Run(from + d * part.depth.stride * field.slice() +
                    r * part.height.stride * field.phases * field.width,
                part.width.count, sums.data());
        const int64_t at = slice * out[1] + part.height.first + r * part.height.step;
        finish.Store(sums, {&bias, 1}, channel, y, at * out[2] + part.width.first, part.width.step);
      }
    }
  }

  // Computes a part of the results of all images, for several channels at once.
  void RunInPairs(const Part& part, const Taps& taps, const int32_t* fields, const int32_t* weights,
                  std::span<const int64_t> bias, std::byte* y, ThreadPool& pool) const {
    std::vector<PairRows> groups;
    for (int64_t g = 0; g < sizes.groups; ++g) {
      std::vector<int32_t> rows;
      for (int64_t c = g * outs(); c < (g + 1) * outs(); ++c) {
        const std::vector<int32_t> own = WeightsOf(taps, weights, c);
        rows.insert(rows.end(), own.begin(), own.end());
      }
      groups.emplace_back(rows, outs(), *pairs);
    }
    const int64_t blocks = (part.width.count + simd::kPairLanes - 1) / simd::kPairLanes;
    const int64_t lines = part.depth.count * part.height.count;
    pool.For(sizes.batch * sizes.groups * lines * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t line = i / blocks % lines, image_group = i / blocks / lines;
        RunBlock(part, taps, groups[image_group % sizes.groups], fields, bias, image_group,
                 line / part.height.count, line % part.height.count, i % blocks * simd::kPairLanes,
                 y);
      }
    });
  }

  // All channels of a group, for kPairLanes adjacent outputs of a line.
  void RunBlock(const Part& part, const Taps& taps, const PairRows& rows, const int32_t* fields,
                std::span<const int64_t> bias, int64_t image_group, int64_t d, int64_t r,
                int64_t column, std::byte* y) const {
    const int32_t* from = fields + image_group * ins() * field.size() +
                          d * part.depth.stride * field.slice() +
                          r * part.height.stride * field.phases * field.width + column;
    const PairBlock block = rows.Pack(from, taps.offsets);
    const int64_t count = std::min<int64_t>(simd::kPairLanes, part.width.count - column);
    const int64_t depth = part.depth.first + d * part.depth.step;
    const int64_t row = part.height.first + r * part.height.step;
    int64_t sums[simd::kPairRows * simd::kPairLanes];
    for (int64_t first = 0; first < outs(); first += simd::kPairRows) {
      const int64_t together = std::min<int64_t>(simd::kPairRows, outs() - first);
      rows.Run(block, first, together, sums);
      for (int64_t k = 0; k < together; ++k) {
        const int64_t image_channel = image_group * outs() + first + k;
        const int64_t channel = image_channel % sizes.out_channels;
        const int64_t at = (image_channel * out[0] + depth) * out[1] + row;
        finish.Store({sums + k * simd::kPairLanes, static_cast<size_t>(count)},
                     bias.subspan(channel, 1), channel, y,
                     at * out[2] + part.width.first + column * part.width.step, part.width.step);
      }
    }
  }

  Status Run(const StepContext& context) const {
    const std::vector<int32_t> fields = Fields(context.in(0), *context.pool);
    std::vector<int32_t> weights(context.in(1).size());
    Center(context.in(1), w, weights.data());
    const auto bias = BiasOf(context.Has(2) ? &context.in(2) : nullptr, sizes.out_channels);
    const auto run = [&](const Part& part) {
      const Taps taps = TapsOf(part);
      if (pairs && taps.offsets.size() > 1) {
        return RunInPairs(part, taps, fields.data(), weights.data(), bias,
                          context.out().mutable_raw(), *context.pool);
      }
      context.pool->For(sizes.batch * sizes.out_channels, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          RunChannel(part, taps, fields.data(), weights.data(), bias[i % sizes.out_channels], i,
                     context.out().mutable_raw());
        }
      });
    };
    for (const AxisPlan& depth : plans[0]) {
      for (const AxisPlan& height : plans[1]) {
        for (const AxisPlan& width : plans[2]) run({depth, height, width});
      }
    }
    return {};
  }
};

using PlanAxis = std::vector<AxisPlan> (*)(const ConvAxis&, int64_t out);

Definition Begin(const NodeView& view, const ConvAxes& sizes, PlanAxis plan) {
  Definition definition{.sizes = sizes};
  definition.sizes.axes.assign(kMaxConvAxes - sizes.axes.size(), ConvAxis{});
  definition.sizes.axes.insert(definition.sizes.axes.end(), sizes.axes.begin(), sizes.axes.end());
  const ir::Shape& y = view.out().shape;
  definition.out.assign(kMaxConvAxes - sizes.axes.size(), 1);
  definition.out.insert(definition.out.end(), y.begin() + 2, y.end());
  for (size_t i = 0; i < kMaxConvAxes; ++i) {
    definition.plans[i] = plan(definition.sizes.axes[i], definition.out[i]);
  }
  return definition;
}

FieldPlan FieldOf(const Plans& plans, const std::vector<ConvAxis>& axes) {
  const Extent slices = ExtentOf(plans[0], axes[0].in);
  const Extent rows = ExtentOf(plans[1], axes[1].in);
  const Extent columns = ExtentOf(plans[2], axes[2].in);
  const int64_t phases = plans[2].empty() ? 1 : plans[2][0].stride;
  return {.front = slices.before,
          .top = rows.before,
          .left = columns.before,
          .slices = slices.size,
          .rows = rows.size,
          .width = columns.size / phases + 1,
          .phases = phases};
}

Prepared Define(const NodeView& view, Definition definition, double operations) {
  definition.field = FieldOf(definition.plans, definition.sizes.axes);
  definition.x = *view.in(0).quant;
  definition.w = *view.in(1).quant;
  definition.reach = ReachOf(view.in(0));
  // Fewer channels are not worth the packing.
  if (definition.outs() >= simd::kPairRows) {
    definition.pairs = PairFormOf(view.in(0), view.in(1));
  }
  definition.finish = WideFinish::Of(view, definition.sizes.out_channels);
  const auto shared = std::make_shared<const Definition>(std::move(definition));
  return {.run = [shared](const StepContext& context) { return shared->Run(context); },
          .operations = operations};
}

}  // namespace

Prepared DefineConv(const NodeView& view, const ConvAxes& sizes, double operations) {
  return Define(view, Begin(view, sizes, &ForwardAxis), operations);
}

Prepared DefineConvTranspose(const NodeView& view, const ConvAxes& sizes, double operations) {
  Definition definition = Begin(view, sizes, &TransposedAxis);
  definition.transposed = true;
  return Define(view, std::move(definition), operations);
}

}  // namespace octavo::runtime
