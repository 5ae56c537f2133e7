// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/int8/conv.h"

#include <algorithm>
#include <vector>

#include "core/runtime/int8/check.h"
#include "core/runtime/int8/dense.h"
#include "core/runtime/int8/depthwise.h"
#include "core/runtime/int8/taps.h"

namespace octavo::runtime::int8 {

using internal::DenseRun;
using internal::DenseWeights;
using internal::DepthwiseWeights;
using internal::ResidualParams;
using internal::Taps;

struct ConvPlan::State {
  ConvShape shape;
  Storage storage = Storage::kU8;
  Output output = Output::kU8;
  int64_t out_height = 0, out_width = 0, out_stride = 0;
  std::vector<DenseWeights> groups;  // empty: depthwise
  bool is_product = false;           // the image is the matrix of rows
  Taps taps;
  DepthwiseWeights depthwise;
  std::optional<ResidualParams> residual;
  std::optional<LookupTable> lookup;

  int64_t pixels() const { return out_height * out_width; }
};

namespace {

bool IsDepthwise(const ConvShape& s) {
  return s.groups > 1 && s.groups == s.in_channels && s.groups == s.out_channels;
}

bool IsProduct(const ConvShape& s) {
  return s.kernel_height == 1 && s.kernel_width == 1 && s.stride_height == 1 &&
         s.stride_width == 1 && s.pad_top == 0 && s.pad_left == 0 && s.pad_bottom == 0 &&
         s.pad_right == 0 && s.groups == 1;
}

Status CheckShape(const ConvShape& s) {
  const int64_t positive[] = {s.batch,         s.in_channels,  s.out_channels,    s.groups,
                              s.in_height,     s.in_width,     s.kernel_height,   s.kernel_width,
                              s.stride_height, s.stride_width, s.dilation_height, s.dilation_width};
  for (const int64_t size : positive) {
    if (size <= 0) {
      return Fail(Code::kInvalidArgument,
                  "integer Conv: sizes, strides and dilations must be positive, one is {}", size);
    }
  }
  if (s.in_channels % s.groups != 0 || s.out_channels % s.groups != 0) {
    return Fail(Code::kInvalidArgument, "integer Conv: {} and {} channels do not make {} groups",
                s.in_channels, s.out_channels, s.groups);
  }
  return {};
}

template <class T>
std::span<const T> PartOf(std::span<const T> values, int64_t begin, int64_t count) {
  if (values.size() <= 1) return values;
  return values.subspan(static_cast<size_t>(begin), static_cast<size_t>(count));
}

// Reorders a group's weights from [out][in][tap] to [out][tap][in], the order of the pixels, and
// packs them.
DenseWeights PackGroup(const ConvSpec& spec, const ConvPlan::State& plan, int64_t group) {
  const ConvShape& s = spec.shape;
  const int64_t outs = s.out_channels / s.groups, ins = s.in_channels / s.groups;
  const int64_t taps = s.kernel_height * s.kernel_width;
  const auto* data = static_cast<const uint8_t*>(spec.weights.data) + group * outs * ins * taps;
  std::vector<uint8_t> ordered(static_cast<size_t>(outs * ins * taps));
  for (int64_t o = 0; o < outs; ++o) {
    for (int64_t c = 0; c < ins; ++c) {
      for (int64_t t = 0; t < taps; ++t) {
        ordered[(o * taps + t) * ins + c] = data[(o * ins + c) * taps + t];
      }
    }
  }
  Requantization requantization = spec.requantization;
  requantization.multipliers = PartOf(spec.requantization.multipliers, group * outs, outs);
  std::span<const int32_t> bias;
  if (!spec.bias.empty()) bias = spec.bias.subspan(group * outs, outs);
  return internal::PackDense({.weights = {ordered.data(), spec.weights.storage,
                                          PartOf(spec.weights.zero_points, group * outs, outs)},
                              .n = outs,
                              .k_runs = plan.taps.k_runs(),
                              .k_run = plan.taps.k_run_bytes(),
                              .k_stride = 1,
                              .n_stride = ins * taps,
                              .bias = bias},
                             spec.input, requantization);
}

Status CheckStride(const ConvSpec& spec) {
  const bool is_8bit = OutputSize(spec.requantization.output) == 1;
  const bool is_slice = is_8bit && spec.out_stride > spec.shape.out_channels && CanAdd(spec.shape);
  if (spec.out_stride == 0 || spec.out_stride == spec.shape.out_channels || is_slice) return {};
  return Fail(Code::kInvalidArgument,
              "integer Conv: pixels of {} channels cannot have a stride of {}",
              spec.shape.out_channels, spec.out_stride);
}

Status CheckResidual(const ConvSpec& spec) {
  if (!spec.residual) return {};
  const bool is_8bit =
      OutputSize(spec.requantization.output) == 1 && OutputSize(spec.residual->output) == 1;
  if (CanAdd(spec.shape) && is_8bit && spec.residual->IsModerate()) return {};
  return Fail(Code::kInvalidArgument, "integer Conv: this convolution cannot fuse an Add");
}

Status CheckLookup(const ConvSpec& spec) {
  const Output output = spec.residual ? spec.residual->output : spec.requantization.output;
  if (!spec.lookup || OutputSize(output) == 1) return {};
  return Fail(Code::kInvalidArgument, "integer Conv: a lookup table needs an 8-bit result");
}

const LookupTable* LookupOf(const ConvPlan::State& plan) {
  return plan.lookup ? &*plan.lookup : nullptr;
}

const ResidualParams* ResidualOf(const ConvPlan::State& plan) {
  return plan.residual ? &*plan.residual : nullptr;
}

void RunImage(const ConvPlan::State& plan, const uint8_t* image, const uint8_t* addend,
              uint8_t* output, ThreadPool& pool) {
  const ConvShape& s = plan.shape;
  internal::RunDense(
      {.groups = plan.groups,
       .group_stride = s.in_channels / s.groups,
       .offsets = plan.taps.offsets(),
       .rows = plan.pixels(),
       .row_bytes = s.in_channels * s.stride_height * s.stride_width,
       .find = [&](int64_t begin, int64_t end, std::vector<uint8_t>& bytes,
                   const uint8_t** rows) { plan.taps.Find(image, begin, end, bytes, rows); },
       .out = output,
       .out_stride = plan.out_stride,
       .addend = addend,
       .addend_stride = s.out_channels,
       .residual = ResidualOf(plan),
       .lookup = LookupOf(plan)},
      pool);
}

void RunProduct(const ConvPlan::State& plan, const uint8_t* input, const uint8_t* addend,
                void* output, ThreadPool& pool) {
  DenseRun run{.groups = plan.groups,
               .rows = plan.shape.batch * plan.pixels(),
               .out = output,
               .out_stride = plan.out_stride,
               .addend = addend,
               .addend_stride = plan.shape.out_channels,
               .residual = ResidualOf(plan),
               .lookup = LookupOf(plan)};
  internal::SetRows(run, input, plan.shape.in_channels, plan.storage);
  internal::RunDense(run, pool);
}

}  // namespace

bool CanAdd(const ConvShape& shape) { return !IsDepthwise(shape); }

Result<ConvPlan> ConvPlan::Prepare(const ConvSpec& spec) {
  OCTAVO_CHECK(CheckShape(spec.shape));
  OCTAVO_CHECK(internal::CheckOperands("integer Conv", spec.input, spec.weights, spec.bias,
                                       spec.requantization, spec.shape.out_channels));
  OCTAVO_CHECK(CheckResidual(spec));
  OCTAVO_CHECK(CheckStride(spec));
  OCTAVO_CHECK(CheckLookup(spec));
  auto state = std::make_shared<State>();
  if (spec.residual) state->residual = internal::ParamsOf(*spec.residual, spec.requantization);
  state->lookup = spec.lookup;
  state->shape = spec.shape;
  state->storage = spec.input.storage;
  state->output = spec.requantization.output;
  state->out_height = float_exec::ConvOutHeight(spec.shape);
  state->out_width = float_exec::ConvOutWidth(spec.shape);
  state->out_stride = spec.out_stride == 0 ? spec.shape.out_channels : spec.out_stride;
  if (IsDepthwise(spec.shape)) {
    state->depthwise = internal::PackDepthwise(spec.shape, spec.weights, spec.bias, spec.input,
                                               spec.requantization);
  } else {
    state->is_product = IsProduct(spec.shape);
    state->taps = Taps(spec.shape, spec.input);
    for (int64_t g = 0; g < spec.shape.groups; ++g) {
      state->groups.push_back(PackGroup(spec, *state, g));
    }
  }
  ConvPlan plan;
  plan.state_ = std::move(state);
  return plan;
}

int64_t ConvPlan::out_height() const { return state_->out_height; }
int64_t ConvPlan::out_width() const { return state_->out_width; }

void ConvPlan::Run(const void* input, const void* addend, void* output, ThreadPool& pool) const {
  const State& plan = *state_;
  const ConvShape& s = plan.shape;
  if (plan.pixels() == 0) return;
  const auto* bytes = static_cast<const uint8_t*>(input);
  const auto* added = plan.residual ? static_cast<const uint8_t*>(addend) : nullptr;
  if (plan.is_product) return RunProduct(plan, bytes, added, output, pool);
  const int64_t out_bytes = plan.pixels() * plan.out_stride * OutputSize(plan.output);
  const int64_t addend_bytes = plan.pixels() * s.out_channels;
  for (int64_t n = 0; n < s.batch; ++n) {
    const uint8_t* image = bytes + n * s.in_height * s.in_width * s.in_channels;
    uint8_t* to = static_cast<uint8_t*>(output) + n * out_bytes;
    plan.groups.empty()
        ? internal::RunDepthwise(plan.depthwise, image, LookupOf(plan), to, pool)
        : RunImage(plan, image, added ? added + n * addend_bytes : nullptr, to, pool);
  }
}

}  // namespace octavo::runtime::int8
