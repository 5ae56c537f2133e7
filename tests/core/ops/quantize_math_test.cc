// SPDX-License-Identifier: Apache-2.0
// Quantization and dequantization in mode `onnx`.
#include "core/ops/quantize_math.h"

#include <gtest/gtest.h>

#include <limits>

namespace octavo::ops {
namespace {

using ir::DType;
using ir::Quant;
using ir::Tensor;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr ir::IntegerRange kI8 = {-128, 127};
constexpr ir::IntegerRange kU8 = {0, 255};

TEST(QuantizeOne, RoundsTiesToEvenBeforeTheZeroPointIsAdded) {
  struct Row {
    float x;
    int32_t zero_point, code;
  };
  for (const Row& row : std::vector<Row>{{0.5f, 0, 0},
                                         {1.5f, 0, 2},
                                         {-0.5f, 0, 0},
                                         {-1.5f, 0, -2},
                                         {2.5f, 0, 2},
                                         {0.5f, 1, 1},
                                         {1.5f, 1, 3},
                                         {-0.5f, -3, -3}}) {
    EXPECT_EQ(QuantizeOne(row.x, 1.0f, row.zero_point, kI8), row.code) << row.x;
  }
}

// In float32, 2.25 / 0.3 is below 7.5, but 2.25 * (1 / 0.3) is 7.5.
TEST(QuantizeOne, DividesByTheScale) { EXPECT_EQ(QuantizeOne(2.25f, 0.3f, 0, kI8), 7); }

TEST(QuantizeOne, SaturatesAndSendsNanToTheZeroPoint) {
  EXPECT_EQ(QuantizeOne(kInf, 0.5f, 7, kI8), 127);
  EXPECT_EQ(QuantizeOne(-kInf, 0.5f, 7, kI8), -128);
  EXPECT_EQ(QuantizeOne(std::numeric_limits<float>::quiet_NaN(), 0.5f, 7, kI8), 7);
  EXPECT_EQ(QuantizeOne(3e38f, 1e-38f, 200, kU8), 255);
  EXPECT_EQ(QuantizeOne(-3e38f, 1e-38f, 200, kU8), 0);
  const ir::IntegerRange i32 = ir::IntegerRangeOf(DType::kI32);
  EXPECT_EQ(QuantizeOne(3e9f, 1.0f, 0, i32), std::numeric_limits<int32_t>::max());
  EXPECT_EQ(QuantizeOne(-3e9f, 1.0f, 0, i32), std::numeric_limits<int32_t>::min());
}

TEST(DequantizeOne, KeepsDifferencesThatInt32CannotHold) {
  EXPECT_EQ(DequantizeOne(-128, 0.5f, 127), -127.5f);
  EXPECT_EQ(DequantizeOne(std::numeric_limits<int32_t>::max(), 1.0f, -1), 2147483648.0f);
}

TEST(QuantizeTensor, RestoresEveryStoredInteger) {
  for (const DType dtype : {DType::kI8, DType::kU8, DType::kI16, DType::kU16}) {
    const ir::IntegerRange range = ir::IntegerRangeOf(dtype);
    for (const float scale : {1.0f, 0.1f, 0.0123f, 3.7e-5f}) {
      for (const auto zero : {range.min, (range.min + range.max) / 2, range.max}) {
        for (int64_t value = range.min; value <= range.max; ++value) {
          const auto zero_point = static_cast<int32_t>(zero);
          const float real = DequantizeOne(static_cast<int32_t>(value), scale, zero_point);
          ASSERT_EQ(QuantizeOne(real, scale, zero_point, range), value)
              << Name(dtype) << " scale " << scale << " zero point " << zero;
        }
      }
    }
  }
}

TEST(QuantizeTensor, UsesTheParametersAlongTheAxis) {
  const Tensor x = Tensor::Of<float>({2, 3, 2}, {1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1});
  const struct {
    int axis;
    std::vector<float> scales;
    std::vector<int32_t> zero_points;
    std::vector<int8_t> quantized;
  } cases[] = {
      {0, {1, 0.5f}, {0, 10}, {1, 1, 1, 1, 1, 1, 8, 8, 8, 8, 8, 8}},
      {1, {1, 0.5f, 0.25f}, {0, 0, 1}, {1, 1, 2, 2, 5, 5, -1, -1, -2, -2, -3, -3}},
      {2, {1, 0.1f}, {0, 0}, {1, 10, 1, 10, 1, 10, -1, -10, -1, -10, -1, -10}},
  };
  for (const auto& test : cases) {
    const Quant quant = Quant::PerAxis(test.axis, test.scales, test.zero_points);
    const Tensor quantized = QuantizeTensor(x, {DType::kI8, x.shape(), quant, {}});
    EXPECT_EQ(quantized, Tensor::Of<int8_t>(x.shape(), test.quantized)) << "axis " << test.axis;
    EXPECT_EQ(DequantizeTensor(quantized, quant), x) << "axis " << test.axis;
  }
}

TEST(QuantizeTensor, OfAnEmptyTensorIsEmpty) {
  const Quant quant = Quant::PerAxis(0, {1, 2}, {0, 0});
  const Tensor quantized =
      QuantizeTensor(Tensor(DType::kF32, {2, 0}), {DType::kU8, {2, 0}, quant, {}});
  EXPECT_EQ(quantized, Tensor(DType::kU8, {2, 0}));
  EXPECT_EQ(DequantizeTensor(quantized, quant), Tensor(DType::kF32, {2, 0}));
}

// Each element by its own scale, for an axis in the middle, the first and the last one.
TEST(Blocks, HaveTheScaleOfTheirElements) {
  const ir::Shape shape = {3, 5, 4};
  std::vector<float> values;
  for (int i = 0; i < 60; ++i) values.push_back(static_cast<float>(i * 37 % 61 - 30));
  const Tensor real = Tensor::Of<float>(shape, values);
  ThreadPool pool(3);
  for (int axis = 0; axis < 3; ++axis) {
    for (const int block : {1, 2, 3, 7}) {
      ir::Type type{DType::kI4, shape, Quant{{}, {}, axis, block}, {}};
      const int64_t count = (shape[axis] + block - 1) / block;
      const int64_t scales = 60 / shape[axis] * count;
      for (int64_t i = 0; i < scales; ++i) {
        type.quant->scales.push_back((i % 2 == 0 ? 1.0f : -1.0f) * static_cast<float>(i + 1));
        type.quant->zero_points.push_back(static_cast<int32_t>(i % 5 - 2));
      }
      const Tensor quantized = QuantizeTensor(real, type, &pool);
      EXPECT_EQ(quantized, QuantizeTensor(real, type));
      const Tensor again = DequantizeTensor(quantized, *type.quant, &pool);
      for (int64_t i = 0; i < 60; ++i) {
        int64_t at[3] = {i / 20, i / 4 % 5, i % 4};
        at[axis] /= block;
        const int64_t extents[3] = {axis == 0 ? count : 3, axis == 1 ? count : 5,
                                    axis == 2 ? count : 4};
        const auto own = static_cast<size_t>((at[0] * extents[1] + at[1]) * extents[2] + at[2]);
        const float scale = type.quant->scales[own];
        const int32_t zero = type.quant->zero_points[own];
        const int32_t expected = QuantizeOne(values[static_cast<size_t>(i)], scale, zero, {-8, 7});
        ASSERT_EQ(quantized.IntAt(i), expected) << axis << " " << block << " " << i;
        ASSERT_EQ(again.FloatAt(i), DequantizeOne(expected, scale, zero)) << axis << " " << block;
      }
    }
  }
}

TEST(Blocks, OfScaleZeroAreZero) {
  const ir::Type type{DType::kI4, {2}, Quant{{0}, {0}, 0, 2}, {}};
  const Tensor quantized = QuantizeTensor(Tensor::Of<float>({2}, {0, 1}), type);
  EXPECT_EQ(quantized.ToInts(), (std::vector<int64_t>{0, 7}));
  EXPECT_EQ(DequantizeTensor(quantized, *type.quant), Tensor::Of<float>({2}, {0, 0}));
}

}  // namespace
}  // namespace octavo::ops
