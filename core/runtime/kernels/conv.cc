// SPDX-License-Identifier: Apache-2.0
// Integer convolutions: packed 8-bit kernels, and the definition with int64 sums for storage of up
// to 16 bits.
#include "core/runtime/int8/conv.h"
#include "core/float_exec/conv_shape.h"
#include "core/runtime/kernels/shared/product_operands.h"
#include "core/runtime/kernels/shared/wide_conv.h"
#include "core/runtime/plan/epilogue.h"

namespace octavo::runtime {
namespace {

using float_exec::ConvAxes;
using float_exec::ConvShape;

constexpr std::string_view kConvOps[] = {"Conv"};
constexpr std::string_view kConvTransposeOps[] = {"ConvTranspose"};

double OperationsOf(const NodeView& view) {
  const ir::Shape& w = view.in(1).shape;
  const int64_t taps = ir::NumElements(w) / std::max<int64_t>(1, w[0]);
  return 2.0 * static_cast<double>(view.out().elements()) * static_cast<double>(taps);
}

std::optional<ConvShape> ShapeOf(const NodeView& view) {
  return float_exec::ConvShapeOf(view.node, view.in(0).shape, view.in(1).shape);
}

bool MatchInt8(const NodeView& view) {
  if (!IsInt8Product(view, 0) || !ShapeOf(view) || view.out().elements() == 0) return false;
  const ir::Shape& w = view.in(1).shape;
  return ir::NumElements(w) > 0 &&
         int8::FitsInt32(WeightsOf(view.in(1), *view.constant(1)), w[0], ir::NumElements(w) / w[0],
                         ActivationOf(view.in(0)), ConstantBias(view));
}

Result<Prepared> PrepareFusedConv(const NodeView& view, const Epilogue& epilogue) {
  const auto shape = ShapeOf(view);
  const std::vector<float> multipliers = MultipliersOf(view, shape->out_channels);
  int8::ConvSpec spec{.shape = *shape,
                      .input = ActivationOf(view.in(0)),
                      .weights = WeightsOf(view.in(1), *view.constant(1)),
                      .bias = ConstantBias(view),
                      .requantization = RequantizationOf(view.out(), multipliers),
                      .residual = epilogue.residual(),
                      .lookup = epilogue.lookup()};
  if (epilogue.slice) spec.out_stride = epilogue.slice->channels;
  OCTAVO_TRY(const int8::ConvPlan plan, int8::ConvPlan::Prepare(spec));
  return Prepared{.run = [plan, adds = epilogue.add.has_value(),
                          first = epilogue.slice ? epilogue.slice->first
                                                 : 0](const StepContext& context) -> Status {
                    plan.Run(context.in(0).raw(), adds ? context.inputs.back()->raw() : nullptr,
                             context.out().mutable_raw() + first, *context.pool);
                    return {};
                  },
                  .operations = OperationsOf(view)};
}

Result<Prepared> PrepareInt8(const NodeView& view, ThreadPool&) {
  return PrepareFusedConv(view, {});
}

bool CanAddInt8(const NodeView& view) { return int8::CanAdd(*ShapeOf(view)); }

std::optional<ConvAxes> AxesOf(const NodeView& view) {
  return float_exec::ConvAxesOf(view.node, view.in(0).shape, view.in(1).shape);
}

std::optional<ConvAxes> TransposedAxesOf(const NodeView& view) {
  return float_exec::ConvTransposeAxesOf(view.node, view.in(0).shape, view.in(1).shape);
}

bool IsDefined(const std::optional<ConvAxes>& sizes) {
  return sizes && sizes->axes.size() <= kMaxConvAxes;
}

bool MatchConv(const NodeView& view) {
  return IsIntegerProduct(view, 0) && IsDefined(AxesOf(view));
}

Result<Prepared> PrepareConv(const NodeView& view, ThreadPool&) {
  return DefineConv(view, *AxesOf(view), OperationsOf(view));
}

bool MatchConvTranspose(const NodeView& view) {
  return IsIntegerProduct(view, 1) && IsDefined(TransposedAxesOf(view));
}

Result<Prepared> PrepareConvTranspose(const NodeView& view, ThreadPool&) {
  return DefineConvTranspose(view, *TransposedAxesOf(view), OperationsOf(view));
}

}  // namespace

extern constexpr Kernel kInt8Conv{.name = "int8-conv",
                                  .ops = kConvOps,
                                  .layout = LayoutRule::kChannelsLast,
                                  .images = 1,
                                  .match = &MatchInt8,
                                  .prepare = &PrepareInt8,
                                  .prepare_fused = &PrepareFusedConv,
                                  .fuses_add = true,
                                  .writes_slices = true,
                                  .can_fuse = &CanAddInt8,
                                  .isa = &CurrentIsaName};

extern constexpr Kernel kIntegerConv{.name = "integer-conv",
                                     .ops = kConvOps,
                                     .modes = Modes::kAll,
                                     .match = &MatchConv,
                                     .prepare = &PrepareConv};

extern constexpr Kernel kIntegerConvTranspose{.name = "integer-conv-transpose",
                                              .ops = kConvTransposeOps,
                                              .modes = Modes::kAll,
                                              .match = &MatchConvTranspose,
                                              .prepare = &PrepareConvTranspose};

}  // namespace octavo::runtime
