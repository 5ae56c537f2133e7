// SPDX-License-Identifier: Apache-2.0
// Every kernel for Conv, Gemm, MatMul and means against the integer definition, bit for bit, on
// every instruction set and with 1, 2 and 3 threads.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/cpu.h"
#include "tests/core/runtime/kernel_case.h"
#include "tests/core/runtime/naive_products.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Shape;
using ir::Tensor;

constexpr ir::OpDef kConv{.name = "Conv", .since = ir::kNotInOnnx};
constexpr ir::OpDef kGemm{.name = "Gemm", .since = ir::kNotInOnnx};
constexpr ir::OpDef kMatMul{.name = "MatMul", .since = ir::kNotInOnnx};
constexpr ir::OpDef kAveragePool{.name = "AveragePool", .since = ir::kNotInOnnx};
constexpr ir::OpDef kGlobalAveragePool{.name = "GlobalAveragePool", .since = ir::kNotInOnnx};

// Compares all kernels except the float definition with the last of them; returns their number.
size_t CheckRows(const KernelCase& test) {
  std::vector<const Kernel*> kernels = MatchingKernels(test.View());
  kernels.pop_back();
  ThreadPool alone(1);
  const auto expected = RunKernel(test, *kernels.back(), Layout::kPlain, alone);
  for (const Kernel* kernel : kernels) {
    for (const Isa isa : MachineIsas()) {
      const ScopedIsaLimit limit(isa);
      for (const int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        for (const Layout layout : {Layout::kPlain, Layout::kChannelsLast}) {
          if (layout == Layout::kPlain && kernel->layout == LayoutRule::kChannelsLast) continue;
          if (layout == Layout::kChannelsLast && kernel->layout == LayoutRule::kPlain) continue;
          const auto results = RunKernel(test, *kernel, layout, pool);
          EXPECT_EQ(results[0], expected[0])
              << kernel->name << " " << IsaName(isa) << " " << threads << " threads";
        }
      }
    }
  }
  return kernels.size();
}

struct ConvCase {
  Shape x, w;
  Shape y;
  ir::AttrMap attributes = {};
};

const std::vector<ConvCase>& ConvCases() {
  static const std::vector<ConvCase> kCases = {
      {{1, 3, 8, 8}, {8, 3, 3, 3}, {1, 8, 8, 8}, {{"pads", Ints{1, 1, 1, 1}}}},
      {{2, 16, 7, 5}, {70, 16, 1, 1}, {2, 70, 7, 5}},
      {{1, 12, 9, 9},
       {12, 1, 3, 3},
       {1, 12, 5, 5},
       {{"group", int64_t{12}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}}},
      {{1, 8, 6, 6}, {4, 4, 3, 3}, {1, 4, 4, 4}, {{"group", int64_t{2}}}},
      {{1, 4, 9, 9},
       {5, 4, 3, 3},
       {1, 5, 9, 9},
       {{"dilations", Ints{2, 2}}, {"pads", Ints{2, 2, 2, 2}}}},
      {{1, 4, 8, 8},
       {5, 4, 3, 3},
       {1, 5, 4, 4},
       {{"auto_pad", std::string("SAME_UPPER")}, {"strides", Ints{2, 2}}}},
      {{1, 4, 11}, {6, 4, 3}, {1, 6, 9}},
  };
  return kCases;
}

TEST(ProductKernels, ConvolutionsAgree) {
  for (const ConvCase& test : ConvCases()) {
    for (const DType x : {DType::kU8, DType::kI8}) {
      for (const DType w : {DType::kI8, DType::kU8}) {
        const int32_t zero = x == DType::kU8 ? 117 : -9;
        const Shape bias = {test.w[0]};
        const KernelCase kernel_case(
            kConv,
            {{QuantType(x, test.x, 0.02f, zero)},
             {ChannelType(w, test.w, 0, 0.003f, w == DType::kU8 ? 128 : 0), true},
             {ChannelType(DType::kI32, bias, 0, 0.00006f), true, 20000}},
            test.attributes, {QuantType(x, test.y, 0.08f, zero)});
        EXPECT_EQ(CheckRows(kernel_case), 2u) << ir::ToString(test.x);
      }
    }
  }
}

TEST(ProductKernels, SixteenBitOperandsSumIn64Bits) {
  const KernelCase test(kConv,
                        {{QuantType(DType::kI16, {1, 40, 3, 3}, 0.0001f, 0)},
                         {QuantType(DType::kI16, {2, 40, 3, 3}, 0.0001f, 0), true}},
                        {}, {QuantType(DType::kI16, {1, 2, 1, 1}, 0.01f, 0)});
  EXPECT_EQ(CheckRows(test), 1u);
  ThreadPool pool(1);
  int64_t sum = 0;
  for (int64_t i = 0; i < 360; ++i) sum += test.tensors[0].IntAt(i) * test.tensors[1].IntAt(i);
  ASSERT_GT(std::abs(sum), int64_t{1} << 31);
  const float product = 0.0001f * 0.0001f;
  const float expected = std::nearbyint(static_cast<float>(sum) * (product / 0.01f));
  const auto results = RunKernel(test, *MatchingKernels(test.View()).front(), Layout::kPlain, pool);
  EXPECT_EQ(results[0].IntAt(0), std::clamp(expected, -32768.0f, 32767.0f));
}

// Whether element i of the test's result is the product of the sum.
void ExpectProduct(const KernelCase& test, const Tensor& result, int64_t i, int64_t sum) {
  const NodeView view = test.View();
  const float multiplier =
      Multipliers(*view.in(0).quant, *view.in(1).quant, *view.out().quant, 1)[0];
  EXPECT_EQ(result.IntAt(i), RequantizedSum(view, sum, multiplier)) << "element " << i;
}

// The first kernel's result on an instruction set.
Tensor RunOn(const KernelCase& test, Isa isa) {
  const ScopedIsaLimit limit(isa);
  ThreadPool pool(2);
  return RunKernel(test, *MatchingKernels(test.View()).front(), Layout::kPlain, pool)[0];
}

// Sums of several rows are added in 32 bits as long as they fit, of values shifted into int16.
TEST(ProductKernels, SixteenBitRowsSumBeyond32Bits) {
  constexpr int64_t kTaps = 9001, kRows = 6, kColumns = 18;
  const std::pair<DType, int32_t> operands[] = {
      {DType::kI16, 0}, {DType::kI16, -32768}, {DType::kU16, 1234}};
  for (const auto& [dtype, zero] : operands) {
    const KernelCase test(kGemm,
                          {{QuantType(dtype, {kRows, kTaps}, 0.0001f, zero)},
                           {QuantType(DType::kI8, {kTaps, kColumns}, 0.001f, 0), true}},
                          {}, {QuantType(dtype, {kRows, kColumns}, 0.02f, zero)});
    for (const Isa isa : MachineIsas()) {
      SCOPED_TRACE(fmt::format("{}, zero point {}", IsaName(isa), zero));
      const Tensor result = RunOn(test, isa);
      for (int64_t i = 0; i < kRows * kColumns; ++i) {
        int64_t sum = 0, size = 0;
        for (int64_t t = 0; t < kTaps; ++t) {
          const int64_t product = CenteredAt(test, 0, i / kColumns * kTaps + t) *
                                  test.tensors[1].IntAt(t * kColumns + i % kColumns);
          sum += product;
          size += std::abs(product);
        }
        ASSERT_GT(size, int64_t{1} << 31);
        ExpectProduct(test, result, i, sum);
      }
    }
  }
}

// The operand of a convolution is padded with its zero point, whatever it is shifted by.
TEST(ProductKernels, SixteenBitConvolutionsPadWithTheZeroPoint) {
  for (const int32_t zero : {0, -1019, 32767}) {
    for (const int64_t channels : {2, 5}) {  // alone, and several at once
      const KernelCase test(kConv,
                            {{QuantType(DType::kI16, {1, 3, 5, 19}, 0.0001f, zero)},
                             {QuantType(DType::kI8, {channels, 3, 3, 3}, 0.01f, 0), true}},
                            {{"pads", Ints{1, 1, 1, 1}}},
                            {QuantType(DType::kI16, {1, channels, 5, 19}, 0.001f, 0)});
      for (const Isa isa : MachineIsas()) {
        SCOPED_TRACE(fmt::format("{}, zero point {}", IsaName(isa), zero));
        const Tensor result = RunOn(test, isa);
        for (int64_t i = 0; i < result.size(); ++i) {
          int64_t sum = 0;
          for (int64_t t = 0; t < 27; ++t) {
            const int64_t y = i / 19 % 5 + t / 3 % 3 - 1, x = i % 19 + t % 3 - 1;
            if (y < 0 || y > 4 || x < 0 || x > 18) continue;
            sum += CenteredAt(test, 0, (t / 9 * 5 + y) * 19 + x) *
                   test.tensors[1].IntAt(i / 95 * 27 + t);
          }
          ExpectProduct(test, result, i, sum);
        }
      }
    }
  }
}

TEST(ProductKernels, GemmAgrees) {
  for (const bool trans_b : {false, true}) {
    const Shape w = trans_b ? Shape{33, 20} : Shape{20, 33};
    const KernelCase test(kGemm,
                          {{QuantType(DType::kU8, {5, 20}, 0.02f, 100)},
                           {ChannelType(DType::kI8, w, trans_b ? 0 : 1, 0.003f), true},
                           {ChannelType(DType::kI32, {33}, 0, 0.00006f), true, 20000}},
                          {{"transB", int64_t{trans_b}}},
                          {QuantType(DType::kU8, {5, 33}, 0.05f, 128)});
    EXPECT_EQ(CheckRows(test), 2u);
  }
}

TEST(ProductKernels, MatMulAgrees) {
  const KernelCase weights(kMatMul,
                           {{QuantType(DType::kI8, {2, 3, 20}, 0.02f, 3)},
                            {ChannelType(DType::kI8, {20, 17}, 1, 0.003f), true}},
                           {}, {QuantType(DType::kI8, {2, 3, 17}, 0.05f, -1)});
  EXPECT_EQ(CheckRows(weights), 2u);
  const KernelCase pair(kMatMul,
                        {{QuantType(DType::kU8, {2, 1, 5, 20}, 0.02f, 3)},
                         {QuantType(DType::kI8, {3, 20, 17}, 0.02f, 9)}},
                        {}, {QuantType(DType::kU8, {2, 3, 5, 17}, 0.25f, 128)});
  EXPECT_EQ(CheckRows(pair), 2u);
}

TEST(ProductKernels, MeansAgree) {
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    const ir::Type x = QuantType(dtype, {2, 19, 7, 6}, 0.02f, 5);
    const KernelCase global(kGlobalAveragePool, {{x}}, {},
                            {QuantType(dtype, {2, 19, 1, 1}, 0.013f, -0)});
    EXPECT_EQ(CheckRows(global), 2u);
    for (const int64_t include : {0, 1}) {
      const KernelCase pool(kAveragePool, {{x}},
                            {{"kernel_shape", Ints{3, 2}},
                             {"pads", Ints{1, 0, 1, 1}},
                             {"strides", Ints{2, 1}},
                             {"count_include_pad", include}},
                            {QuantType(dtype, {2, 19, 4, 6}, 0.013f, 7)});
      EXPECT_EQ(CheckRows(pool), 2u);
    }
  }
}

}  // namespace
}  // namespace octavo::runtime
