// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels, compared with their formulas.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "core/base/cpu.h"
#include "core/ops/op_table.h"
#include "core/ops/quantize_math.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Shape;
using ir::Tensor;
using Ints = std::vector<int64_t>;

// Runs the first matching kernel in every layout, on every instruction set and with several
// threads; all results must be equal.
std::vector<Tensor> RunFirst(const KernelCase& test, std::string_view name) {
  const Kernel& kernel = *MatchingKernels(test.View()).front();
  EXPECT_EQ(kernel.name, name);
  std::vector<Tensor> first;
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    for (const int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      for (const Layout layout : {Layout::kPlain, Layout::kChannelsLast}) {
        if (layout == Layout::kPlain && kernel.layout == LayoutRule::kChannelsLast) continue;
        if (layout == Layout::kChannelsLast && kernel.layout == LayoutRule::kPlain) continue;
        auto results = RunKernel(test, kernel, layout, pool);
        if (first.empty()) first = results;
        EXPECT_EQ(results, first) << IsaName(isa) << " " << threads << " threads";
      }
    }
  }
  return first;
}

float RealAt(const Tensor& stored, int64_t i, const ir::Type& type) {
  return ops::DequantizeOne(static_cast<int32_t>(stored.IntAt(i)), type.quant->scale(),
                            type.quant->zero_point());
}
int32_t QuantizedAs(float x, const ir::Type& type) {
  return ops::QuantizeOne(x, type.quant->scale(), type.quant->zero_point(),
                          ir::IntegerRangeOf(type.dtype));
}

// The flat index into a shape that broadcasts to `to`, for flat index i of `to`.
int64_t SourceIndex(const Shape& shape, const Shape& to, int64_t i) {
  int64_t index = 0, stride = 1;
  for (size_t k = 0; k < to.size(); ++k) {
    const size_t axis = to.size() - 1 - k;
    const int64_t at = i % to[axis];
    i /= to[axis];
    if (k >= shape.size()) continue;
    const int64_t extent = shape[shape.size() - 1 - k];
    if (extent != 1) index += at * stride;
    stride *= extent;
  }
  return index;
}

struct BinaryOp {
  ir::OpDef def;
  float (*of)(float, float);
};

TEST(SimdKernels, ArithmeticEqualsDequantizeOpQuantize) {
  const BinaryOp binary_ops[] = {
      {{.name = "Add", .since = ir::kNotInOnnx}, [](float a, float b) { return a + b; }},
      {{.name = "Sub", .since = ir::kNotInOnnx}, [](float a, float b) { return a - b; }},
      {{.name = "Mul", .since = ir::kNotInOnnx}, [](float a, float b) { return a * b; }},
      {{.name = "Div", .since = ir::kNotInOnnx}, [](float a, float b) { return a / b; }},
  };
  const std::pair<Shape, Shape> shapes[] = {
      {{2, 5, 3, 7}, {2, 5, 3, 7}}, {{2, 5, 3, 7}, {2, 5, 1, 1}}, {{1, 5, 3, 7}, {2, 5, 3, 7}},
      {{2, 5, 3, 7}, {}},           {{2, 5, 3, 7}, {7}},          {{2, 5, 3, 7}, {5, 1, 1}},
      {{2, 5, 3, 7}, {2, 1, 3, 7}}, {{40000}, {40000}},
  };
  for (const BinaryOp& op : binary_ops) {
    for (const auto& [a_shape, b_shape] : shapes) {
      const ir::Type a = QuantType(DType::kU8, a_shape, 0.031f, 100);
      const ir::Type b = QuantType(DType::kI8, b_shape, 0.017f, -3);
      Shape result = a_shape;
      if (a_shape.size() == b_shape.size()) {
        for (size_t i = 0; i < result.size(); ++i) result[i] = std::max(a_shape[i], b_shape[i]);
      }
      const ir::Type y = QuantType(DType::kI8, result, 0.041f, 7);
      const KernelCase test(op.def, {{a}, {b}}, {}, {y});
      const auto results = RunFirst(test, "simd-arithmetic");
      for (int64_t i = 0; i < results[0].size(); ++i) {
        const float x = RealAt(test.tensors[0], SourceIndex(a_shape, result, i), a);
        const float z = RealAt(test.tensors[1], SourceIndex(b_shape, result, i), b);
        ASSERT_EQ(results[0].IntAt(i), QuantizedAs(op.of(x, z), y)) << op.def.name << " at " << i;
      }
    }
  }
}

TEST(SimdKernels, SumsOfAllPairsOfOperandsAreRoundedQuotients) {
  constexpr ir::OpDef kAdd{.name = "Add", .since = ir::kNotInOnnx};
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    const auto scale = [&] {
      return std::ldexp(1.0f + static_cast<float>(random() % 65536) / 65536,
                        -static_cast<int>(random() % 6));
    };
    const int zero = static_cast<int>(random() % 256);
    const ir::Type a = QuantType(DType::kU8, {256, 256}, scale(), zero);
    const ir::Type b = QuantType(DType::kU8, {256, 256}, round % 3 ? scale() : a.quant->scale(), 9);
    const ir::Type y = QuantType(DType::kU8, {256, 256}, scale() * (round % 4 ? 2 : 1), 128);
    KernelCase test(kAdd, {{a}, {b}}, {}, {y});
    for (int i = 0; i < 65536; ++i) {
      test.tensors[0].mutable_values<uint8_t>()[i] = static_cast<uint8_t>(i / 256);
      test.tensors[1].mutable_values<uint8_t>()[i] = static_cast<uint8_t>(i);
    }
    const auto results = RunFirst(test, "simd-arithmetic");
    for (int i = 0; i < 65536; ++i) {
      const float sum = RealAt(test.tensors[0], i, a) + RealAt(test.tensors[1], i, b);
      ASSERT_EQ(results[0].IntAt(i), QuantizedAs(sum, y)) << i;
    }
  }
}

TEST(SimdKernels, QuantizingDividesExactlyOnEveryInstructionSet) {
  constexpr ir::OpDef kQuantize{.name = "Quantize", .domain = "octavo", .since = ir::kNotInOnnx};
  const ir::Type real{DType::kF32, {40000}, {}, {}};
  std::mt19937 random(3);
  for (const float scale : {0.1f, 1.0f / 3, 0.9999999f, 1e-30f, 0x1p-126f, 7.3e37f}) {
    const ir::Type quantized = QuantType(DType::kU8, real.shape, scale, 100);
    KernelCase test(kQuantize, {{real}}, {}, {quantized});
    for (float& x : test.tensors[0].mutable_values<float>()) {
      // Close to a tie, where the last bit decides.
      const auto middle =
          (static_cast<float>(static_cast<int>(random() % 300) - 150) + 0.5f) * scale;
      const uint32_t bits = std::bit_cast<uint32_t>(middle) + random() % 5 - 2;
      x = random() % 8 == 0 ? std::bit_cast<float>(static_cast<uint32_t>(random()))
                            : std::bit_cast<float>(bits);
    }
    const auto results = RunFirst(test, "simd-quantize");
    for (int64_t i = 0; i < quantized.elements(); ++i) {
      ASSERT_EQ(results[0].IntAt(i), QuantizedAs(test.tensors[0].values<float>()[i], quantized))
          << i;
    }
  }
}

TEST(SimdKernels, ExtremesCompareStoredIntegers) {
  constexpr ir::OpDef kMax{.name = "Max", .since = ir::kNotInOnnx},
      kMin{.name = "Min", .since = ir::kNotInOnnx};
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    const ir::Type type = QuantType(dtype, {2, 3, 4, 5}, 0.5f, 3);
    const KernelCase max(kMax, {{type}, {type}}, {}, {type}),
        min(kMin, {{type}, {type}}, {}, {type});
    const auto greatest = RunFirst(max, "simd-max-min"), least = RunFirst(min, "simd-max-min");
    for (int64_t i = 0; i < type.elements(); ++i) {
      const int64_t a = max.tensors[0].IntAt(i), b = max.tensors[1].IntAt(i);
      ASSERT_EQ(greatest[0].IntAt(i), std::max(a, b));
      ASSERT_EQ(least[0].IntAt(i), std::min(a, b));
    }
  }
}

TEST(SimdKernels, QuantizeRoundsTiesToEvenAndTakesNanToZero) {
  constexpr ir::OpDef kQuantize{.name = "Quantize", .domain = "octavo", .since = ir::kNotInOnnx};
  const ir::Type real{DType::kF32, {2, 3, 4, 8}, {}, {}};
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    const ir::Type quantized = QuantType(dtype, real.shape, 0.5f, 3);
    KernelCase test(kQuantize, {{real}}, {}, {quantized});
    const float special[] = {0.25f,
                             0.75f,
                             -0.25f,
                             -0.75f,
                             1e30f,
                             -1e30f,
                             std::numeric_limits<float>::quiet_NaN(),
                             std::numeric_limits<float>::infinity()};
    std::ranges::copy(special, test.tensors[0].mutable_values<float>().begin());
    const auto results = RunFirst(test, "simd-quantize");
    for (int64_t i = 0; i < quantized.elements(); ++i) {
      ASSERT_EQ(results[0].IntAt(i), QuantizedAs(test.tensors[0].values<float>()[i], quantized))
          << i;
    }
  }
}

TEST(SimdKernels, DequantizeIsExact) {
  constexpr ir::OpDef kDequantize{
      .name = "Dequantize", .domain = "octavo", .since = ir::kNotInOnnx};
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    const ir::Type quantized = QuantType(dtype, {2, 3, 4, 8}, 0.3f, 5);
    const KernelCase test(kDequantize, {{quantized}}, {}, {{DType::kF32, quantized.shape, {}, {}}});
    const auto results = RunFirst(test, "simd-dequantize");
    for (int64_t i = 0; i < quantized.elements(); ++i) {
      ASSERT_EQ(results[0].values<float>()[i], RealAt(test.tensors[0], i, quantized));
    }
  }
}

TEST(SimdKernels, MaxPoolTakesTheMaximum) {
  constexpr ir::OpDef kMaxPool{.name = "MaxPool", .since = ir::kNotInOnnx};
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    const ir::Type x = QuantType(dtype, {2, 37, 6, 7}, 0.5f, 3);
    const ir::Type y = QuantType(dtype, {2, 37, 3, 4}, 0.5f, 3);
    const KernelCase test(
        kMaxPool, {{x}},
        {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 0, 1}}, {"strides", Ints{2, 2}}}, {y});
    const auto results = RunFirst(test, "simd-max-pool");
    for (int64_t i = 0; i < y.elements(); ++i) {
      int64_t best = -1000;
      for (int64_t k = 0; k < 9; ++k) {
        const int64_t row = i / 4 % 3 * 2 - 1 + k / 3, column = i % 4 * 2 - 1 + k % 3;
        if (row < 0 || row >= 6 || column < 0 || column >= 7) continue;
        best = std::max(best, test.tensors[0].IntAt((i / 12 * 6 + row) * 7 + column));
      }
      ASSERT_EQ(results[0].IntAt(i), best) << i;
    }
  }
}

const ir::OpDef& DataOp(std::string_view name) { return *ops::FindOp(name); }

TEST(SimdKernels, MovementEqualsItsFloatMeaning) {
  const ir::Type x = QuantType(DType::kI8, {2, 3, 4, 5}, 0.5f, 3);
  const auto result = [&](Shape shape) { return QuantType(DType::kI8, std::move(shape), 0.5f, 3); };
  const std::vector<std::pair<std::string_view, KernelCase>> cases = {
      {"concat", {DataOp("Concat"), {{x}, {x}}, {{"axis", int64_t{-3}}}, {result({2, 6, 4, 5})}}},
      {"concat", {DataOp("Concat"), {{x}, {x}}, {{"axis", int64_t{3}}}, {result({2, 3, 4, 10})}}},
      {"move-data", {DataOp("Transpose"), {{x}}, {}, {result({5, 4, 3, 2})}}},
      {"move-data", {DataOp("Flatten"), {{x}}, {}, {result({2, 60})}}},
      {"depth-to-space",
       {DataOp("DepthToSpace"),
        {{QuantType(DType::kI8, {1, 8, 2, 2}, 0.5f, 3)}},
        {{"blocksize", int64_t{2}}},
        {result({1, 2, 4, 4})}}},
  };
  for (const auto& [name, test] : cases) {
    const auto results = RunFirst(test, name);
    const Kernel& definition = *MatchingKernels(test.View()).back();
    ThreadPool pool(1);
    EXPECT_EQ(results, RunKernel(test, definition, Layout::kPlain, pool)) << name;
  }
}

TEST(SimdKernels, PadFillsWithItsQuantizedValue) {
  const ir::Type x = QuantType(DType::kI8, {3}, 0.5f, 3), y = QuantType(DType::kI8, {5}, 0.5f, 3);
  KernelCase test(DataOp("Pad"),
                  {{x}, {{DType::kI64, {2}, {}, {}}, true}, {{DType::kF32, {}, {}, {}}, true}}, {},
                  {y});
  const auto set = [&](size_t input, const Tensor& tensor) {
    test.tensors[input] = tensor;
    test.fixed[test.graph.node(test.node).inputs[input]] = tensor;
  };
  set(1, Tensor::Ints({1, 1}));
  set(2, Tensor::Scalar<float>(4.5f));
  const auto results = RunFirst(test, "pad");
  EXPECT_EQ(results[0].IntAt(0), 12);
  EXPECT_EQ(results[0].IntAt(4), 12);
  EXPECT_EQ(results[0].IntAt(1), test.tensors[0].IntAt(0));
}

TEST(SimdKernels, EveryKernelHasANameOfItsOwn) {
  std::vector<std::string_view> names;
  for (const Kernel* kernel : AllKernels()) names.push_back(kernel->name);
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_EQ(AllKernels().back()->name, "definition");
}

}  // namespace
}  // namespace octavo::runtime
