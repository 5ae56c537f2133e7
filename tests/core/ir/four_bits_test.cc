// SPDX-License-Identifier: Apache-2.0
#include "core/ir/four_bits.h"

#include <gtest/gtest.h>

#include <limits>

#include "core/ir/blocks.h"

namespace octavo::ir {
namespace {

TEST(FourBits, AreTwoInAByteTheFirstInTheLowerHalf) {
  Tensor tensor(DType::kI4, {5});
  const int8_t values[] = {1, -8, -1, 7, 3};
  std::copy_n(values, 5, tensor.mutable_values<int8_t>().begin());
  const Blob stored = ToStored(tensor);
  EXPECT_EQ(stored.text(), "\x81\x7f\x03");
  EXPECT_EQ(FromStored(DType::kI4, {5}, stored), tensor);
  EXPECT_EQ(FromStored(DType::kU4, {5}, stored).ToInts(), (std::vector<int64_t>{1, 8, 15, 7, 3}));
  EXPECT_EQ(StoredBytes(tensor), 3);
}

TEST(FourBits, EveryByteComesBack) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes.push_back(static_cast<char>(i));
  for (const DType dtype : {DType::kI4, DType::kU4}) {
    const Tensor tensor = FromStored(dtype, {512}, Blob(bytes));
    for (const int64_t value : tensor.ToInts()) {
      EXPECT_GE(value, IntegerRangeOf(dtype).min);
      EXPECT_LE(value, IntegerRangeOf(dtype).max);
    }
    EXPECT_EQ(ToStored(tensor).text(), bytes);
  }
}

TEST(FourBits, OtherTypesAreStoredAsTheyAre) {
  const Tensor tensor = Tensor::Of<int16_t>({2}, {1, -2});
  EXPECT_EQ(ToStored(tensor).bytes().data(), tensor.raw());
  EXPECT_EQ(StoredBytes(tensor), 4);
  EXPECT_EQ(StoredBytes(DType::kF64, std::numeric_limits<int64_t>::max()),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(StoredBytes(DType::kI4, std::numeric_limits<int64_t>::max()), int64_t{1} << 62);
}

TEST(FourBits, OfNoElementsAreNoBytes) {
  const Tensor none(DType::kI4, {0, 3});
  EXPECT_TRUE(ToStored(none).empty());
  EXPECT_EQ(FromStored(DType::kI4, {0, 3}, Blob()), none);
}

TEST(Blocks, EveryTypeHasAScaleForAnElement) {
  const Type none{DType::kF32, {2, 3}, {}, {}};
  const Type one{DType::kI8, {2, 3}, Quant::PerTensor(1, 0), {}};
  const Type channels{DType::kI8, {2, 3}, Quant::PerAxis(0, {1, 2}, {0, 0}), {}};
  const Type blocks{DType::kI8, {2, 3}, Quant{{1, 2, 3, 4}, {0, 0, 0, 0}, 1, 2}, {}};
  EXPECT_EQ(ScaleOf(none, 5), 0);
  EXPECT_EQ(ScaleOf(one, 5), 0);
  EXPECT_EQ(ScaleOf(channels, 2), 0);
  EXPECT_EQ(ScaleOf(channels, 3), 1);
  EXPECT_EQ(ScaleOf(blocks, 2), 1);
  EXPECT_EQ(ScaleOf(blocks, 3), 2);
}

TEST(Blocks, ScalesHaveTheShapeOfTheValueWithTheAxisDivided) {
  EXPECT_EQ(ScaleShape(Quant{{}, {}, 1, 32}, {7, 65, 3}), (Shape{7, 3, 3}));
  EXPECT_EQ(ScaleShape(Quant::PerAxis(1, {1, 2}, {0, 0}), {7, 2}), (Shape{2}));
  EXPECT_EQ(ScaleShape(Quant::PerTensor(1, 0), {7, 2}), Shape{});
  const Blocks blocks = Blocks::Of({7, 65, 3}, 1, 32);
  EXPECT_EQ(blocks.scales(), 63);
  EXPECT_EQ(blocks.ScaleOf(0), 0);
  EXPECT_EQ(blocks.ScaleOf(31 * 3 + 2), 2);
  EXPECT_EQ(blocks.ScaleOf(32 * 3), 3);
  EXPECT_EQ(blocks.ScaleOf(64 * 3), 6);
  EXPECT_EQ(blocks.ScaleOf(65 * 3 + 1), 10);
}

}  // namespace
}  // namespace octavo::ir
