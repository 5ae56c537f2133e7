// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernel_table.h"

#include <algorithm>

#include "core/base/cpu.h"

namespace octavo::runtime {

// One line per kernel, in order of preference.  The kernel's own file defines its row.
#define OCTAVO_KERNELS(X)      \
  X(Int8Conv)                  \
  X(Int8Gemm)                  \
  X(Int8MatMul)                \
  X(Int8MatMulPair)            \
  X(IntegerConv)               \
  X(IntegerConvTranspose)      \
  X(IntegerGemm)               \
  X(IntegerMatMul)             \
  X(SimdBinary)                \
  X(SimdMaxMin)                \
  X(SimdMaxPool)               \
  X(SimdAveragePool)           \
  X(SimdGlobalAveragePool)     \
  X(IntegerPool)               \
  X(IntegerReduceMean)         \
  X(ModeBinary)                \
  X(ModeAveragePool)           \
  X(ModeRelu)                  \
  X(ModeClip)                  \
  X(Table)                     \
  X(ModeTable)                 \
  X(ModeCurve)                 \
  X(ModeLeakyRelu)             \
  X(ModeHardSwish)             \
  X(ModeSoftmax)               \
  X(SimdSoftmax)               \
  X(SimdLayerNormalization)    \
  X(SimdInstanceNormalization) \
  X(SimdLpNormalization)       \
  X(SimdRmsNormalization)      \
  X(SimdQuantize)              \
  X(ModeQuantize)              \
  X(SimdDequantize)            \
  X(ModeRescale)               \
  X(ModeChannelRescale)        \
  X(Reinterpret)               \
  X(MoveConcat)                \
  X(MoveToSpace)               \
  X(MoveToDepth)               \
  X(RunsResize)                \
  X(RunsPad)                   \
  X(MovePad)                   \
  X(Move)                      \
  X(Definition)

#define OCTAVO_DECLARE(name) extern const Kernel k##name;
OCTAVO_KERNELS(OCTAVO_DECLARE)
#undef OCTAVO_DECLARE

std::span<const Kernel* const> AllKernels() {
#define OCTAVO_ENTRY(name) &k##name,
  static constexpr const Kernel* kKernels[] = {OCTAVO_KERNELS(OCTAVO_ENTRY)};
#undef OCTAVO_ENTRY
  return kKernels;
}

namespace {

bool ComputesIn(const Kernel& kernel, const numerics::Mode& mode) {
  switch (kernel.modes) {
    case Modes::kQLinear:
      return mode.qlinear;
    case Modes::kWithFormulas:
      return !mode.qlinear;
    case Modes::kAll:
      return true;
  }
  return false;
}

bool Matches(const Kernel& kernel, const NodeView& view) {
  if (!ComputesIn(kernel, *view.numerics)) return false;
  const bool named = kernel.ops.empty() || std::ranges::count(kernel.ops, view.node.op->name) > 0;
  return named && kernel.match(view);
}

}  // namespace

std::vector<const Kernel*> MatchingKernels(const NodeView& view) {
  std::vector<const Kernel*> matching;
  for (const Kernel* kernel : AllKernels()) {
    if (Matches(*kernel, view)) matching.push_back(kernel);
  }
  return matching;
}

const Kernel* ChooseKernel(const NodeView& view) {
  for (const Kernel* kernel : AllKernels()) {
    if (Matches(*kernel, view)) return kernel;
  }
  return nullptr;
}

Failure NoKernel(const NodeView& view) {
  return Fail(Code::kUnimplemented, "{} '{}': numerics mode '{}' does not define it for {}",
              view.node.op->name, view.node.name, view.numerics->name, ir::ToString(view.out()))
      .Node(view.node.name);
}

std::string_view CurrentIsaName() { return IsaName(CurrentIsa()); }

}  // namespace octavo::runtime
