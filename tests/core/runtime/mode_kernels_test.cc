// SPDX-License-Identifier: Apache-2.0
// Kernels in the numerics modes except `onnx`: each mode's ties, equal bits for all thread counts,
// and refusal of nodes that a mode does not define.
#include <gtest/gtest.h>

#include "core/ops/op_table.h"
#include "core/runtime/plan.h"
#include "tests/core/runtime/kernel_case.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Tensor;

Result<std::vector<Tensor>> RunIn(const KernelCase& test, std::string_view mode,
                                  const std::vector<Tensor>& inputs, int threads) {
  ThreadPool pool(threads);
  OCTAVO_TRY(const Plan plan,
             Plan::Create(test.graph, {.numerics = numerics::FindMode(mode)}, pool));
  return plan.Run(inputs, pool);
}

std::vector<int64_t> Stored(const KernelCase& test, std::string_view mode,
                            const std::vector<Tensor>& inputs) {
  const auto alone = RunIn(test, mode, inputs, 1);
  if (!alone) throw std::runtime_error(alone.error().message);
  EXPECT_EQ(*RunIn(test, mode, inputs, 3), *alone) << mode;
  return (*alone)[0].ToInts();
}

const ir::Type kReal{DType::kF32, {6}, {}, {}};

TEST(ModeKernels, QuantizeTiesAsTheModeSays) {
  const KernelCase test(*ops::FindOp("Quantize", "octavo"), {{kReal}}, {},
                        {QuantType(DType::kI8, {6}, 0.5f, 1)});
  const Tensor x = Tensor::Of<float>({6}, {-0.75f, -0.25f, 0.25f, 0.75f, 1e9f, -1e9f});
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(Stored(test, "onnx", {x}), (Ints{-1, 1, 1, 3, 127, -128}));
  EXPECT_EQ(Stored(test, "tflite", {x}), (Ints{-1, 0, 2, 3, 127, -128}));
  EXPECT_EQ(Stored(test, "glow-interpreter", {x}), (Ints{0, 0, 2, 2, 127, -128}));
}

TEST(ModeKernels, RescaleTiesAsTheModeSays) {
  const KernelCase test(*ops::FindOp("Rescale", "octavo"), {{QuantType(DType::kI8, {6}, 0.25f, 0)}},
                        {}, {QuantType(DType::kI8, {6}, 0.5f, 0)});
  const Tensor x = Tensor::Of<int8_t>({6}, {-3, -1, 1, 3, 127, -128});
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(Stored(test, "onnx", {x}), (Ints{-2, 0, 0, 2, 64, -64}));
  EXPECT_EQ(Stored(test, "tflite", {x}), (Ints{-1, 0, 1, 2, 64, -64}));
  EXPECT_EQ(Stored(test, "tflite-single", {x}), (Ints{-1, 0, 1, 2, 64, -64}));
  EXPECT_EQ(Stored(test, "glow-interpreter", {x}), (Ints{-2, 0, 0, 2, 64, -64}));
  EXPECT_EQ(Stored(test, "glow-cpu", {x}), (Ints{-1, 0, 1, 2, 64, -64}));
  EXPECT_EQ(Stored(test, "pow2", {x}), (Ints{-1, 0, 1, 2, 64, -64}));
}

// Each channel gives the results of a separate value, on either side of the Rescale and along any
// axis.
void CheckChannels(const ir::Type& from, const ir::Type& to, int axis) {
  const ir::OpDef& rescale = *ops::FindOp("Rescale", "octavo");
  const KernelCase whole(rescale, {{from}}, {}, {to});
  const int64_t channels = from.shape[axis], stride = ir::StridesOf(from.shape)[axis];
  for (const std::string_view mode :
       {"onnx", "tflite", "tflite-single", "glow-interpreter", "glow-cpu", "pow2"}) {
    const std::vector<int64_t> results = Stored(whole, mode, {whole.tensors[0]});
    for (int64_t c = 0; c < channels; ++c) {
      const auto alone = [&](const ir::Type& type) {
        return QuantType(type.dtype, {1}, type.quant->scale(c), type.quant->zero_point(c));
      };
      const KernelCase one(rescale, {{alone(from)}}, {}, {alone(to)});
      for (int64_t i = 0; i < whole.tensors[0].size(); ++i) {
        if (i / stride % channels != c) continue;
        const auto x = static_cast<int8_t>(whole.tensors[0].IntAt(i));
        EXPECT_EQ(results[i], Stored(one, mode, {Tensor::Of<int8_t>({1}, {x})})[0])
            << mode << ", channel " << c << ", quantized value " << int{x};
      }
    }
  }
}

TEST(ModeKernels, ARescalePerChannelIsOneOfEachChannel) {
  const ir::Shape shape = {3, 4, 5};
  const auto along = [&](int axis, std::vector<float> scales, std::vector<int32_t> zeros) {
    return ir::Type{
        DType::kI8, shape, ir::Quant::PerAxis(axis, std::move(scales), std::move(zeros)), {}};
  };
  const ir::Type plain = QuantType(DType::kI8, shape, 0.5f, 1);
  const ir::Type first = along(0, {0.25f, 0.5f, 1}, {0, -7, 3});
  const ir::Type middle = along(1, {0.25f, 0.125f, 1, 2}, {0, 5, 0, -128});
  CheckChannels(first, plain, 0);
  CheckChannels(plain, first, 0);
  CheckChannels(middle, plain, 1);
  CheckChannels(middle, along(1, {1, 0.5f, 0.25f, 0.5f}, {9, 0, 0, 1}), 1);
}

TEST(ModeKernels, ARescalePerChannelTiesAsTheModeSays) {
  const ir::Type from{DType::kI8, {2, 3}, ir::Quant::PerAxis(0, {0.25f, 0.75f}, {0, 1}), {}};
  const KernelCase test(*ops::FindOp("Rescale", "octavo"), {{from}}, {},
                        {QuantType(DType::kI8, {2, 3}, 0.5f, 0)});
  const Tensor x = Tensor::Of<int8_t>({2, 3}, {-3, -1, 3, 0, 2, 4});  // ratios 1/2 and 3/2
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(Stored(test, "onnx", {x}), (Ints{-2, 0, 2, -2, 2, 4}));
  EXPECT_EQ(Stored(test, "tflite", {x}), (Ints{-1, 0, 2, -1, 2, 5}));
  EXPECT_EQ(Stored(test, "tflite-single", {x}), (Ints{-1, 0, 2, -1, 2, 5}));
  EXPECT_EQ(Stored(test, "glow-interpreter", {x}), (Ints{-2, 0, 2, -2, 2, 4}));
  EXPECT_EQ(Stored(test, "glow-cpu", {x}), (Ints{-1, 0, 2, -1, 2, 5}));
  ThreadPool pool(1);
  const auto refused = Plan::Create(test.graph, {.numerics = &numerics::kPow2}, pool);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnimplemented);
}

KernelCase Product(std::string_view op, float scale) {
  return {
      *ops::FindOp(op),
      {{QuantType(DType::kI8, {3, 8}, scale, 0)}, {QuantType(DType::kI8, {8, 5}, 0.5f, 0), true}},
      {},
      {QuantType(DType::kI8, {3, 5}, 64.0f, 7)}};
}

TEST(ModeKernels, AProductIsTheSumThroughTheModesFormula) {
  for (const std::string_view op : {"Gemm", "MatMul"}) {
    const KernelCase test = Product(op, 0.25f);
    const Tensor& a = test.tensors[0];
    const Tensor& b = test.tensors[1];
    std::vector<int64_t> upwards, away, after;
    for (int64_t i = 0; i < 15; ++i) {
      int64_t sum = 0;
      for (int64_t k = 0; k < 8; ++k) sum += a.IntAt(i / 5 * 8 + k) * b.IntAt(k * 5 + i % 5);
      const double real = static_cast<double>(sum) / 512;
      const auto clamp = [](double x) {
        return static_cast<int64_t>(std::clamp(x, -128.0, 127.0));
      };
      upwards.push_back(clamp(std::floor(real + 0.5) + 7));
      away.push_back(clamp(std::round(real + 7)));
      after.push_back(clamp(std::round(real) + 7));
    }
    for (const std::string_view mode : {"tflite-single", "glow-cpu", "pow2"}) {
      EXPECT_EQ(Stored(test, mode, {a}), upwards) << op << " " << mode;
    }
    EXPECT_EQ(Stored(test, "glow-interpreter", {a}), op == "Gemm" ? after : away);
  }
}

TEST(ModeKernels, WhatAModeDoesNotDefineIsRefusedByName) {
  const auto pow2 = RunIn(Product("Gemm", 0.3f), "pow2", {}, 1);
  ASSERT_FALSE(pow2);
  EXPECT_EQ(pow2.error().code, Code::kUnimplemented);
  EXPECT_NE(pow2.error().message.find("numerics mode 'pow2'"), std::string::npos);
  const ir::Type type = QuantType(DType::kI8, {6}, 0.5f, 1);
  const KernelCase softmax(*ops::FindOp("Softmax"), {{type}}, {}, {type});
  const auto refused = RunIn(softmax, "tflite", {}, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnimplemented);
}

}  // namespace
}  // namespace octavo::runtime
