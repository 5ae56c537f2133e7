// SPDX-License-Identifier: Apache-2.0
// Quantize, Dequantize, and Reinterpret, which keeps the stored integers.
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/quant_params.h"

#include <cstring>

namespace octavo::runtime {
namespace {

constexpr std::string_view kQuantizeOps[] = {"Quantize"};
constexpr std::string_view kDequantizeOps[] = {"Dequantize"};
constexpr std::string_view kReinterpretOps[] = {"Reinterpret"};

bool MatchQuantize(const NodeView& view) {
  return view.in(0).dtype == ir::DType::kF32 && !view.in(0).quantized() && IsPlain8(view.out());
}

Result<Prepared> PrepareQuantize(const NodeView& view, ThreadPool&) {
  return Prepared{.run = [loops = &simd::CurrentKernels(),
                          quant = SimdQuant(view.out())](const StepContext& context) -> Status {
    const float* x = context.in(0).values<float>().data();
    uint8_t* y = context.out().mutable_values<uint8_t>().data();
    context.pool->For(context.out().size(), kRowGrain, [&](int64_t begin, int64_t end) {
      loops->quantize(x + begin, end - begin, quant, y + begin);
    });
    return {};
  }};
}

bool MatchDequantize(const NodeView& view) {
  return IsPlain8(view.in(0)) && !view.out().quantized();
}

Result<Prepared> PrepareDequantize(const NodeView& view, ThreadPool&) {
  return Prepared{.run = [loops = &simd::CurrentKernels(),
                          quant = SimdQuant(view.in(0))](const StepContext& context) -> Status {
    const uint8_t* x = context.in(0).values<uint8_t>().data();
    float* y = context.out().mutable_values<float>().data();
    context.pool->For(context.out().size(), kRowGrain, [&](int64_t begin, int64_t end) {
      loops->dequantize(x + begin, end - begin, quant, y + begin);
    });
    return {};
  }};
}

bool MatchReinterpret(const NodeView& view) { return view.in(0).dtype == view.out().dtype; }

Result<Prepared> PrepareReinterpret(const NodeView&, ThreadPool&) {
  return Prepared{.run = [](const StepContext& context) -> Status {
    const ir::Tensor& x = context.in(0);
    if (x.bytes() > 0) std::memcpy(context.out().mutable_raw(), x.raw(), x.bytes());
    return {};
  }};
}

}  // namespace

extern constexpr Kernel kSimdQuantize{.name = "simd-quantize",
                                      .ops = kQuantizeOps,
                                      .layout = LayoutRule::kEither,
                                      .match = &MatchQuantize,
                                      .prepare = &PrepareQuantize,
                                      .isa = &CurrentIsaName};

extern constexpr Kernel kSimdDequantize{.name = "simd-dequantize",
                                        .ops = kDequantizeOps,
                                        .layout = LayoutRule::kEither,
                                        .modes = Modes::kAll,
                                        .match = &MatchDequantize,
                                        .prepare = &PrepareDequantize,
                                        .isa = &CurrentIsaName};

extern constexpr Kernel kReinterpret{.name = "copy",
                                     .ops = kReinterpretOps,
                                     .layout = LayoutRule::kEither,
                                     .modes = Modes::kAll,
                                     .match = &MatchReinterpret,
                                     .prepare = &PrepareReinterpret};

}  // namespace octavo::runtime
