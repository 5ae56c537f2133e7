// SPDX-License-Identifier: Apache-2.0
// Products of integers with a float result: every kernel but the float definition gives
// float(sum + bias) * (s_x * s_w) bit for bit, on every instruction set and with 1, 2, 3 and 8
// threads.
#include <gtest/gtest.h>

#include "core/base/cpu.h"
#include "core/numerics/mode_table.h"
#include "core/ops/op_table.h"
#include "tests/core/runtime/naive_products.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Shape;
using ir::Tensor;

ir::Type Real(const Shape& shape) { return {DType::kF32, shape, {}, {}}; }

// Expects the dequantized sums; `fast` is the kernel that a plan must choose.
void ExpectFloats(const KernelCase& test, const std::vector<ScaledSum>& sums,
                  std::string_view fast) {
  Tensor expected(DType::kF32, test.View().out().shape);
  ASSERT_EQ(expected.size(), static_cast<int64_t>(sums.size()));
  float* to = expected.mutable_values<float>().data();
  for (const auto& [sum, scale] : sums) *to++ = static_cast<float>(sum) * scale;
  std::vector<const Kernel*> kernels = MatchingKernels(test.View());
  kernels.pop_back();
  ASSERT_FALSE(kernels.empty());
  EXPECT_EQ(kernels.front()->name, fast);
  for (const Kernel* kernel : kernels) {
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      for (const int threads : {1, 2, 3, 8}) {
        ThreadPool pool(threads);
        for (const Layout layout : {Layout::kPlain, Layout::kChannelsLast}) {
          if (layout == Layout::kPlain && kernel->layout == LayoutRule::kChannelsLast) continue;
          if (layout == Layout::kChannelsLast && kernel->layout == LayoutRule::kPlain) continue;
          EXPECT_EQ(RunKernel(test, *kernel, layout, pool), std::vector<Tensor>{expected})
              << kernel->name << " " << IsaName(isa) << " " << threads << " threads";
        }
      }
    }
  }
}

struct ConvCase {
  Shape x, w, y;
  Geometry geometry = {};
};

void CheckConv(std::string_view op, const ConvCase& test, DType x, std::string_view fast) {
  const bool transposed = op == "ConvTranspose";
  const int64_t outs = test.y[1];
  const int axis = transposed ? 1 : 0;
  const ir::Type bias = transposed ? QuantType(DType::kI32, {outs}, 0.00006f, 0)
                                   : ChannelType(DType::kI32, {outs}, 0, 0.00006f);
  const KernelCase kernel_case(*ops::FindOp(op),
                               {{QuantType(x, test.x, 0.02f, x == DType::kI8 ? -9 : 117)},
                                {ChannelType(DType::kI8, test.w, axis, 0.003f, 0), true},
                                {bias, true, 9000}},
                               test.geometry.Attributes(test.x.size() - 2), {Real(test.y)});
  SCOPED_TRACE(fmt::format("{} {} {}", op, ir::ToString(test.x), ir::ToString(test.w)));
  ExpectFloats(kernel_case, NaiveConvSums(kernel_case, test.geometry, transposed), fast);
}

TEST(FloatResult, ConvolutionsDequantizeTheirSums) {
  const ConvCase cases[] = {
      {{1, 3, 7, 9}, {5, 3, 3, 3}, {1, 5, 4, 5}, {.stride = 2, .before = 1, .after = 1}},
      {{2, 6, 5, 19}, {6, 1, 3, 3}, {2, 6, 5, 19}, {.groups = 6, .before = 1, .after = 1}},
      {{1, 4, 8, 8}, {6, 2, 2, 2}, {1, 6, 3, 3}, {.groups = 2, .stride = 3, .before = 1}},
      {{2, 16, 3, 5}, {70, 16, 1, 1}, {2, 70, 3, 5}},
      {{1, 2, 11}, {3, 2, 3}, {1, 3, 7}, {.dilation = 2}},
  };
  for (const ConvCase& test : cases) {
    for (const DType x : {DType::kU8, DType::kI8}) CheckConv("Conv", test, x, "int8-conv");
    CheckConv("Conv", test, DType::kI16, "integer-conv");
  }
  CheckConv("ConvTranspose", {{2, 4, 3, 3}, {4, 3, 2, 2}, {2, 6, 6, 6}, {.groups = 2, .stride = 2}},
            DType::kU8, "integer-conv-transpose");
}

TEST(FloatResult, ProductsDequantizeTheirSums) {
  const int64_t m = 5, n = 67, k = 37;
  const auto a = [&](int64_t, int64_t r, int64_t j) { return r * k + j; };
  const auto b = [&](int64_t item, int64_t j, int64_t c) { return (item * k + j) * n + c; };
  for (const DType dtype : {DType::kU8, DType::kI8, DType::kI16}) {
    const bool wide = dtype == DType::kI16;
    const ir::Type x = QuantType(dtype, {m, k}, 0.02f, dtype == DType::kI8 ? -5 : 90);
    const ir::Type w = ChannelType(DType::kI8, {k, n}, 1, 0.003f);
    const KernelCase gemm(
        *ops::FindOp("Gemm"),
        {{x}, {w, true}, {ChannelType(DType::kI32, {n}, 0, 0.00006f), true, 9000}}, {},
        {Real({m, n})});
    ExpectFloats(gemm, NaiveProductSums(gemm, m, n, k, a, b), wide ? "integer-gemm" : "int8-gemm");
    const KernelCase product(*ops::FindOp("MatMul"), {{x}, {w, true}}, {}, {Real({m, n})});
    ExpectFloats(product, NaiveProductSums(product, m, n, k, a, b),
                 wide ? "integer-matmul" : "int8-matmul");
    const KernelCase pair(*ops::FindOp("MatMul"), {{x}, {QuantType(dtype, {3, k, n}, 0.02f, 7)}},
                          {}, {Real({3, m, n})});
    ExpectFloats(pair, NaiveProductSums(pair, m, n, k, a, b),
                 wide ? "integer-matmul" : "int8-matmul-pair");
  }
}

// Other modes define products with rounded results only, so that the float definition runs.
TEST(FloatResult, OtherModesComputeInFloat) {
  const KernelCase gemm(
      *ops::FindOp("Gemm"),
      {{QuantType(DType::kI8, {2, 4}, 0.02f, 3)}, {QuantType(DType::kI8, {4, 3}, 0.01f, 0), true}},
      {}, {Real({2, 3})});
  for (const numerics::Mode* mode : numerics::AllModes()) {
    NodeView view = gemm.View();
    view.numerics = mode;
    EXPECT_EQ(MatchingKernels(view).front()->name, mode->qlinear ? "int8-gemm" : "definition");
  }
}

}  // namespace
}  // namespace octavo::runtime
