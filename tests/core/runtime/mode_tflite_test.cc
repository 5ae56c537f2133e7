// SPDX-License-Identifier: Apache-2.0
// TFLite's LeakyRelu, HardSwish and products of 16-bit activations, against independently computed
// vectors (tflite_vectors.py) and gemmlowp.
#include <gemmlowp/fixedpoint/fixedpoint.h>
#include <gtest/gtest.h>

#include "core/numerics/fixed_point.h"
#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "tests/core/runtime/kernel_case.h"
#include "tests/core/runtime/tflite_vectors.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Tensor;
using Ints = std::vector<int64_t>;

Result<Ints> RunIn(const KernelCase& test, std::string_view mode,
                   const std::vector<Tensor>& inputs) {
  ThreadPool pool(2);
  OCTAVO_TRY(const Plan plan,
             Plan::Create(test.graph, {.numerics = numerics::FindMode(mode)}, pool));
  OCTAVO_TRY(const std::vector<Tensor> outputs, plan.Run(inputs, pool));
  return outputs[0].ToInts();
}

// Every i8 or u8 value, from the lowest up.
Tensor AllValues(DType dtype) {
  Tensor values(dtype, {256});
  for (int i = 0; i < 256; ++i) {
    values.mutable_raw()[i] = static_cast<std::byte>(dtype == DType::kI8 ? i - 128 : i);
  }
  return values;
}

// The vectors are for i8; those for u8 are 128 higher.
template <class Expected>
void CheckBoth(std::string_view op, std::string_view mode, const ir::AttrMap& attributes,
               const auto& parameters, const Expected& expected) {
  for (const auto& [dtype, up] : {std::pair(DType::kI8, 0), std::pair(DType::kU8, 128)}) {
    const ir::Type x = QuantType(dtype, {256}, parameters.scale, parameters.zero + up);
    const ir::Type y = QuantType(dtype, {256}, parameters.to, parameters.to_zero + up);
    const KernelCase test(*ops::FindOp(op), {{x}}, attributes, {y});
    const auto got = RunIn(test, mode, {AllValues(dtype)});
    ASSERT_TRUE(got) << got.error().message;
    for (int i = 0; i < 256; ++i) {
      ASSERT_EQ((*got)[i] - up, expected[i]) << op << " " << mode << " of " << i - 128;
    }
  }
}

TEST(ModeTflite, LeakyReluIsTheReferenceOperator) {
  for (const tflite_vectors::Leaky& leaky : tflite_vectors::kLeakyRelu) {
    const ir::AttrMap attributes = {{"alpha", leaky.alpha}};
    CheckBoth("LeakyRelu", "tflite", attributes, leaky, leaky.twice);
    CheckBoth("LeakyRelu", "tflite-single", attributes, leaky, leaky.once);
  }
}

TEST(ModeTflite, HardSwishIsTheReferenceOperator) {
  for (const tflite_vectors::Swish& swish : tflite_vectors::kHardSwish) {
    CheckBoth("HardSwish", "tflite", {}, swish, swish.results);
    CheckBoth("HardSwish", "tflite-single", {}, swish, swish.results);
  }
}

TEST(ModeTflite, WhatTheReferenceOperatorsDoNotDefineIsRefused) {
  const auto refused = [&](std::string_view op, const ir::Type& x, const ir::Type& y,
                           ir::AttrMap attributes = {}) {
    const KernelCase test(*ops::FindOp(op), {{x}}, std::move(attributes), {y});
    const auto got = RunIn(test, "tflite", test.tensors);
    return !got && got.error().code == Code::kUnimplemented;
  };
  const ir::Type i8 = QuantType(DType::kI8, {4}, 0.5f, 0), u8 = QuantType(DType::kU8, {4}, 0.5f, 0);
  EXPECT_TRUE(refused("LeakyRelu", i8, u8));
  EXPECT_TRUE(refused("LeakyRelu", i8, i8, {{"alpha", -0.5f}}));
  EXPECT_TRUE(refused("HardSwish", i8, u8));
  EXPECT_TRUE(refused("HardSwish", i8, QuantType(DType::kI8, {4}, 0.001f, 0)));
  EXPECT_TRUE(refused("LogSoftmax", i8, i8));
}

TEST(ModeTflite, A64BitSumIsMultipliedBy16Bits) {
  for (const tflite_vectors::Wide& wide : tflite_vectors::kWide) {
    EXPECT_EQ(numerics::MultiplyWide(wide.x, {wide.multiplier, wide.shift}), wide.y)
        << wide.x << " " << wide.multiplier << " " << wide.shift;
  }
}

// Sums of i16 times i8; each channel has its own multiplier.
TEST(ModeTflite, AProductOf16BitActivationsIsSummedIn64Bits) {
  const std::vector<float> scales = {0.01f, 0.02f, 0.003f};
  const ir::Type x = QuantType(DType::kI16, {2, 40}, 0.001f, 0);
  const ir::Type w{DType::kI8, {40, 3}, ir::Quant::PerAxis(1, scales, {0, 0, 0}), {}};
  const ir::Type y = QuantType(DType::kI16, {2, 3}, 0.0005f, 0);
  std::vector<float> bias_scales;
  for (const float scale : scales) bias_scales.push_back(0.001f * scale);
  const ir::Type b{DType::kI32, {3}, ir::Quant::PerAxis(0, bias_scales, {0, 0, 0}), {}};
  const KernelCase test(*ops::FindOp("Gemm"), {{x}, {w, true}, {b, true, 1000000}}, {}, {y});
  for (const std::string_view mode : {"tflite", "tflite-single"}) {
    const auto got = RunIn(test, mode, {test.tensors[0]});
    ASSERT_TRUE(got) << got.error().message;
    for (int64_t i = 0; i < 6; ++i) {
      int64_t sum = test.tensors[2].IntAt(i % 3);
      for (int64_t k = 0; k < 40; ++k) {
        sum += test.tensors[0].IntAt(i / 3 * 40 + k) * test.tensors[1].IntAt(k * 3 + i % 3);
      }
      const double real = double{0.001f} * double{scales[i % 3]} / double{0.0005f};
      int shift = 0;
      const double fraction = std::frexp(real, &shift);
      const auto multiplier = static_cast<int64_t>(std::round(fraction * 0x1p31));
      const int64_t cut = std::min<int64_t>((multiplier + (1 << 15)) >> 16, 0x7FFF);
      const double steps = std::floor(std::ldexp(static_cast<double>(sum * cut), shift - 15) + 0.5);
      EXPECT_EQ((*got)[i], std::clamp<int64_t>(static_cast<int64_t>(steps), -32768, 32767));
    }
  }
  EXPECT_FALSE(RunIn(test, "glow-cpu", {test.tensors[0]}));
}

TEST(ModeTflite, A16BitProductTakesWhatTfliteHasAFormFor) {
  const auto runs = [](const ir::Type& x, const ir::Type& w, const ir::Type& y) {
    const KernelCase test(*ops::FindOp("MatMul"), {{x}, {w}}, {}, {y});
    return RunIn(test, "tflite", test.tensors).has_value();
  };
  const ir::Type i16 = QuantType(DType::kI16, {3, 3}, 0.001f, 0);
  EXPECT_TRUE(runs(i16, i16, i16));
  EXPECT_TRUE(runs(i16, QuantType(DType::kI8, {3, 3}, 0.01f, 0), i16));
  EXPECT_FALSE(runs(i16, QuantType(DType::kI8, {3, 3}, 0.01f, 5), i16));
  EXPECT_FALSE(runs(QuantType(DType::kI16, {3, 3}, 0.001f, 7), i16, i16));
  EXPECT_FALSE(runs(QuantType(DType::kU16, {3, 3}, 0.001f, 0), i16, i16));
  EXPECT_FALSE(runs(i16, i16, QuantType(DType::kI8, {3, 3}, 0.01f, 0)));
}

}  // namespace
}  // namespace octavo::runtime
