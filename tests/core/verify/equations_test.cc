// SPDX-License-Identifier: Apache-2.0
// What the equations prove, each with a neighbour that they must not prove.
#include <gtest/gtest.h>

#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "core/verify/compare.h"

namespace octavo::verify {
namespace {

const ir::OpDef* Find(std::string_view name, std::string_view domain) {
  return ops::FindOp(name, domain);
}

// Statements on %x, an u8 value of 1x4 elements with scale 0.5 and zero point 128, that define %y.
struct Pair {
  std::string_view before, after;
};

bool Equal(const Pair& pair, Level level, Mode mode = Mode::kOnnx) {
  const auto graph = [](std::string_view body) {
    const std::string text = fmt::format(
        "graph(%x: tensor<1x4xu8, scale=0.5, zp=128>, %f: tensor<1x4xf32>) -> (%y) {{\n{}\n}}\n",
        body);
    auto parsed = text::Parse(text, {.find_op = &Find});
    EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message) << text;
    return parsed ? *std::move(parsed) : ir::Graph();
  };
  const ir::Graph before = graph(pair.before), after = graph(pair.after);
  return Compare(before, after, level, mode).unproved.empty();
}

constexpr std::string_view kSame = "%y = Identity(%x) : tensor<1x4xu8, scale=0.5, zp=128>";

TEST(Equations, ARescaleThatLosesNothingCancels) {
  EXPECT_TRUE(Equal({"%r = Rescale(%x) : tensor<1x4xi16, scale=0.25, zp=0>\n"
                     "%y = Rescale(%r) : tensor<1x4xu8, scale=0.5, zp=128>",
                     kSame},
                    Level::kExact));
  EXPECT_FALSE(Equal({"%r = Rescale(%x) : tensor<1x4xu8, scale=0.6, zp=128>\n"
                      "%y = Rescale(%r) : tensor<1x4xu8, scale=0.5, zp=128>",
                      kSame},
                     Level::kExact));
}

TEST(Equations, ARoundingMayGoWhereNoClampDoes) {
  const std::string_view once = "%y = Rescale(%x) : tensor<1x4xu8, scale=0.3, zp=100>";
  EXPECT_TRUE(Equal({"%r = Rescale(%x) : tensor<1x4xu8, scale=0.6, zp=128>\n"
                     "%y = Rescale(%r) : tensor<1x4xu8, scale=0.3, zp=100>",
                     once},
                    Level::kRounded));
  EXPECT_FALSE(Equal({"%r = Rescale(%x) : tensor<1x4xu8, scale=0.1, zp=128>\n"
                      "%y = Rescale(%r) : tensor<1x4xu8, scale=0.3, zp=100>",
                      once},
                     Level::kRounded));
  EXPECT_TRUE(Equal({"%r = Rescale(%x) : tensor<1x4xu8, scale=0.1, zp=128>\n"
                     "%y = Rescale(%r) : tensor<1x4xu8, scale=0.3, zp=100>",
                     once},
                    Level::kReal));
}

TEST(Equations, AReluIsTheClampOfItsType) {
  EXPECT_TRUE(Equal({"%r = Rescale(%x) : tensor<1x4xu8, scale=0.5, zp=0>\n"
                     "%y = Relu(%r) : tensor<1x4xu8, scale=0.5, zp=0>",
                     "%y = Rescale(%x) : tensor<1x4xu8, scale=0.5, zp=0>"},
                    Level::kExact));
  for (const Level level : {Level::kExact, Level::kRounded, Level::kReal}) {
    EXPECT_FALSE(Equal({"%y = Relu(%x) : tensor<1x4xu8, scale=0.5, zp=128>", kSame}, level));
  }
}

TEST(Equations, ARescaleMovesThroughMovementAndMonotoneSelection) {
  EXPECT_TRUE(Equal({"%r = Rescale(%x) : tensor<1x4xi8, scale=0.6, zp=1>\n"
                     "%y = Transpose(%r) {perm=[1, 0]} : tensor<4x1xi8, scale=0.6, zp=1>",
                     "%t = Transpose(%x) {perm=[1, 0]} : tensor<4x1xu8, scale=0.5, zp=128>\n"
                     "%y = Rescale(%t) : tensor<4x1xi8, scale=0.6, zp=1>"},
                    Level::kExact));
  EXPECT_TRUE(Equal({"%r = Rescale(%x) : tensor<1x4xi8, scale=0.6, zp=1>\n"
                     "%y = Concat(%r, %r) {axis=1} : tensor<1x8xi8, scale=0.6, zp=1>",
                     "%t = Concat(%x, %x) {axis=1} : tensor<1x8xu8, scale=0.5, zp=128>\n"
                     "%y = Rescale(%t) : tensor<1x8xi8, scale=0.6, zp=1>"},
                    Level::kExact));
  // One operand is rescaled otherwise.
  EXPECT_FALSE(Equal({"%r = Rescale(%x) : tensor<1x4xi8, scale=0.6, zp=1>\n"
                      "%y = Concat(%r, %r) {axis=1} : tensor<1x8xi8, scale=0.6, zp=1>",
                      "%q = Rescale(%x) : tensor<1x4xi8, scale=0.9, zp=1>\n"
                      "%s = Rescale(%q) : tensor<1x4xi8, scale=0.6, zp=1>\n"
                      "%r = Rescale(%x) : tensor<1x4xi8, scale=0.6, zp=1>\n"
                      "%y = Concat(%r, %s) {axis=1} : tensor<1x8xi8, scale=0.6, zp=1>"},
                     Level::kExact));
}

TEST(Equations, OperandsOfCommutativeOpsAloneMayBeSwapped) {
  const std::string_view forward = "%q = Quantize(%f) : tensor<1x4xu8, scale=0.5, zp=128>\n";
  const auto pair = [&](std::string_view op, bool swapped) {
    return fmt::format("{}%y = {}({}) : tensor<1x4xu8, scale=1, zp=128>", forward, op,
                       swapped ? "%q, %x" : "%x, %q");
  };
  EXPECT_TRUE(Equal({pair("Add", false), pair("Add", true)}, Level::kExact));
  EXPECT_FALSE(Equal({pair("Sub", false), pair("Sub", true)}, Level::kExact));
  EXPECT_FALSE(Equal({pair("Sub", false), pair("Sub", true)}, Level::kReal));
}

TEST(Equations, AConstantEqualsItsRounding) {
  const std::string_view pending =
      "const %c = [0.5, -0.25, 1, 0.1] : tensor<1x4xf32>\n"
      "%w = Quantize(%c) : tensor<1x4xi8, scale=0.25, zp=0>\n"
      "%y = Add(%x, %w) : tensor<1x4xu8, scale=1, zp=128>";
  const auto merged = [](std::string_view elements) {
    return fmt::format(
        "const %w = [{}] : tensor<1x4xi8, scale=0.25, zp=0>\n"
        "%y = Add(%x, %w) : tensor<1x4xu8, scale=1, zp=128>",
        elements);
  };
  EXPECT_TRUE(Equal({pending, merged("2, -1, 4, 0")}, Level::kExact));
  EXPECT_FALSE(Equal({pending, merged("2, -1, 4, 1")}, Level::kExact));
  EXPECT_TRUE(Equal({pending, merged("2, -1, 4, 0")}, Level::kRounded));
  EXPECT_FALSE(Equal({merged("2, -1, 4, 0"), merged("2, -1, 4, 1")}, Level::kReal));
}

TEST(Equations, AConstantExpressionEqualsItsElements) {
  const std::string_view computed =
      "const %c = [1, 2, 3, 4] : tensor<1x4xf32>\n"
      "const %d = [0.5, 1, 1.5, 5] : tensor<1x4xf32>\n"
      "%s = Sub(%c, %d) : tensor<1x4xf32>\n"
      "%y = Relu(%s) : tensor<1x4xf32>";
  EXPECT_TRUE(Equal({computed, "const %y = [0.5, 1, 1.5, 0] : tensor<1x4xf32>"}, Level::kExact));
  EXPECT_FALSE(Equal({computed, "const %y = [0.5, 1, 1.5, -1] : tensor<1x4xf32>"}, Level::kExact));
  // The elements of a value between stay known.
  EXPECT_TRUE(Equal({computed,
                     "const %s = [0.5, 1, 1.5, -1] : tensor<1x4xf32>\n"
                     "const %y = [0.5, 1, 1.5, 0] : tensor<1x4xf32>"},
                    Level::kExact));
}

TEST(Equations, ABatchNormalizationFoldsIntoAProduct) {
  const std::string_view apart =
      "const %w = [1, 2, 3, 4, 5, 6, 7, 8] : tensor<4x2xf32>\n"
      "const %s = [2, 3] : tensor<2xf32>\n"
      "%m = MatMul(%f, %w) : tensor<1x2xf32>\n"
      "%y = Mul(%m, %s) : tensor<1x2xf32>";
  const auto folded = [](std::string_view last) {
    return fmt::format(
        "const %w = [2, 6, 6, 12, 10, 18, 14, {}] : tensor<4x2xf32>\n"
        "const %b = [0, 0] : tensor<2xf32>\n"
        "%y = Gemm(%f, %w, %b) : tensor<1x2xf32>",
        last);
  };
  EXPECT_TRUE(Equal({apart, folded("24")}, Level::kReal));
  EXPECT_FALSE(Equal({apart, folded("25")}, Level::kReal));
}

}  // namespace
}  // namespace octavo::verify
