// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "core/data/npy.h"

namespace octavo::data {
namespace {

using testing::ElementsAre;

std::string Header(const std::string& descr, const std::string& order, const std::string& shape) {
  const std::string text =
      "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(text.size()) + '\0' + text;
}

TEST(Npy, WhatIsWrittenIsRead) {
  for (const ir::Tensor& tensor :
       {ir::Tensor::Of<float>({2, 3}, {1, 2, 3, 4, 5, 6}), ir::Tensor::Of<int8_t>({3}, {-1, 0, 1}),
        ir::Tensor::Scalar<int64_t>(7), ir::Tensor(ir::DType::kU16, {0, 4})}) {
    const auto read = ReadNpy("a", Blob(WriteNpy(tensor)));
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, tensor);
  }
}

TEST(Npy, HeaderIsPaddedAsNumpyDoes) {
  EXPECT_EQ(WriteNpy(ir::Tensor::Of<float>({1}, {1})).size(), 128u + 4);
}

TEST(Npy, FortranOrderIsBroughtIntoRows) {
  const std::string bytes = Header("|u1", "True", "(2, 3)") + std::string("\1\2\3\4\5\6", 6);
  const auto read = ReadNpy("a", Blob(bytes));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->ToInts(), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST(Npy, BigEndianIsSwapped) {
  const auto read =
      ReadNpy("a", Blob(Header(">i2", "False", "(2,)") + std::string("\1\2\xff\xfe", 4)));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(read->ToInts(), ElementsAre(258, -2));
}

TEST(Npy, HostileHeadersAreRefused) {
  const std::string good = Header("<f4", "False", "(2,)") + std::string(8, '\0');
  ASSERT_TRUE(ReadNpy("a", Blob(good)));
  for (size_t size = 0; size < good.size(); ++size) {
    EXPECT_FALSE(ReadNpy("a", Blob(good.substr(0, size)))) << size;
  }
  for (const std::string shape :
       {"(1099511627776,)", "(4611686018427387904, 4)",
        "(0, 9223372036854775807, 9223372036854775807)", "(-2,)", "(2", "2", "(2, x)", "((2,),)"}) {
    const auto read = ReadNpy("a", Blob(Header("<f4", "False", shape) + std::string(8, '\0')));
    ASSERT_FALSE(read) << shape;
    EXPECT_EQ(read.error().code, Code::kInvalidArgument) << shape;
  }
  EXPECT_EQ(ReadNpy("a", Blob(Header("|O", "False", "(2,)"))).error().code, Code::kUnimplemented);
}

}  // namespace
}  // namespace octavo::data
