// Kernels in the numerics modes beside `onnx`: each mode's own ties, the same bits for all numbers
// of threads, and refusal of what a mode does not define.
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
  OCTAVO_TRY(const Plan plan, Plan::Create(test.graph, {.numerics = std::string(mode)}, pool));
  return plan.Run(inputs, pool);
}

std::vector<int64_t> Codes(const KernelCase& test, std::string_view mode,
                           const std::vector<Tensor>& inputs) {
  const auto alone = RunIn(test, mode, inputs, 1);
  if (!alone) throw std::runtime_error(alone.error().message);
  EXPECT_EQ(*RunIn(test, mode, inputs, 3), *alone) << mode;
  return (*alone)[0].ToInts();
}

const ir::Type kReal{DType::kF32, {6}, {}, {}};

TEST(ModeKernels, QuantizeTiesAsTheModeSays) {
  const KernelCase test(*ops::FindOp("Quantize", "octavo"), {{kReal}}, {},
                        {CodesType(DType::kI8, {6}, 0.5f, 1)});
  const Tensor x = Tensor::Of<float>({6}, {-0.75f, -0.25f, 0.25f, 0.75f, 1e9f, -1e9f});
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(Codes(test, "onnx", {x}), (Ints{-1, 1, 1, 3, 127, -128}));
  EXPECT_EQ(Codes(test, "tflite", {x}), (Ints{-1, 0, 2, 3, 127, -128}));
  EXPECT_EQ(Codes(test, "glow-interpreter", {x}), (Ints{0, 0, 2, 2, 127, -128}));
}

TEST(ModeKernels, RescaleTiesAsTheModeSays) {
  const KernelCase test(*ops::FindOp("Rescale", "octavo"), {{CodesType(DType::kI8, {6}, 0.25f, 0)}},
                        {}, {CodesType(DType::kI8, {6}, 0.5f, 0)});
  const Tensor x = Tensor::Of<int8_t>({6}, {-3, -1, 1, 3, 127, -128});
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(Codes(test, "onnx", {x}), (Ints{-2, 0, 0, 2, 64, -64}));
  EXPECT_EQ(Codes(test, "tflite", {x}), (Ints{-1, 0, 1, 2, 64, -64}));
  EXPECT_EQ(Codes(test, "tflite-single", {x}), (Ints{-1, 0, 1, 2, 64, -64}));
  EXPECT_EQ(Codes(test, "glow-interpreter", {x}), (Ints{-2, 0, 0, 2, 64, -64}));
  EXPECT_EQ(Codes(test, "glow-cpu", {x}), (Ints{-1, 0, 1, 2, 64, -64}));
  EXPECT_EQ(Codes(test, "pow2", {x}), (Ints{-1, 0, 1, 2, 64, -64}));
}

KernelCase Product(std::string_view op, float scale) {
  return {
      *ops::FindOp(op),
      {{CodesType(DType::kI8, {3, 8}, scale, 0)}, {CodesType(DType::kI8, {8, 5}, 0.5f, 0), true}},
      {},
      {CodesType(DType::kI8, {3, 5}, 64.0f, 7)}};
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
      EXPECT_EQ(Codes(test, mode, {a}), upwards) << op << " " << mode;
    }
    EXPECT_EQ(Codes(test, "glow-interpreter", {a}), op == "Gemm" ? after : away);
  }
}

TEST(ModeKernels, WhatAModeDoesNotDefineIsRefusedByName) {
  const auto pow2 = RunIn(Product("Gemm", 0.3f), "pow2", {}, 1);
  ASSERT_FALSE(pow2);
  EXPECT_EQ(pow2.error().code, Code::kUnimplemented);
  EXPECT_NE(pow2.error().message.find("numerics mode 'pow2'"), std::string::npos);
  const ir::Type codes = CodesType(DType::kI8, {6}, 0.5f, 1);
  const KernelCase softmax(*ops::FindOp("Softmax"), {{codes}}, {}, {codes});
  const auto refused = RunIn(softmax, "tflite", {}, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::kUnimplemented);
  EXPECT_FALSE(RunIn(softmax, "abacus", {}, 1));
}

}  // namespace
}  // namespace octavo::runtime
