// SPDX-License-Identifier: Apache-2.0
// Graphs that a hostile certificate can describe in little text: long chains, operands that are one
// value many times, wide nodes.  Comparing them takes time in proportion to their size, and no
// recursion follows them down.
#include <gtest/gtest.h>

#include <ctime>
#include <functional>
#include <ostream>

#include "core/ops/op_table.h"
#include "core/text/parse.h"
#include "core/verify/compare.h"
#include "tests/support/sanitized.h"

namespace octavo::verify {
namespace {

constexpr int kNodes = test::kSanitized ? 2000 : 50000;
constexpr double kSeconds = test::kSanitized ? 60 : 10;

constexpr std::string_view kReal = "tensor<1x2x4x4xf32>";
constexpr std::string_view kStored = "tensor<1x2x4x4xu8, scale=0.5, zp=128>";

// A chain of statements `{result} = ..{operand}..`, one for each node.
struct Chain {
  std::string_view name;
  std::string_view type;  // of %x and of %y
  std::string constants;
  std::function<std::string(int i, const std::string& operand)> node;  // with its type
  std::string first = "%x";
  std::function<std::string(int i)> bounds = {};  // constants of node i
};

std::ostream& operator<<(std::ostream& out, const Chain& chain) { return out << chain.name; }

std::string Typed(std::string_view op, std::string_view type) {
  return fmt::format("{} : {}", op, type);
}

// Names between differ, so that no value between is compared; `add` makes the ends differ.
ir::Graph GraphOf(const Chain& chain, std::string_view prefix, float add) {
  std::string text = fmt::format("graph(%x: {}) -> (%y) {{\n{}", chain.type, chain.constants);
  std::string operand = chain.first;
  for (int i = 0; i < kNodes; ++i) {
    if (chain.bounds) text += chain.bounds(i);
    text += fmt::format("%{}{} = {}\n", prefix, i, chain.node(i, operand));
    operand = fmt::format("%{}{}", prefix, i);
  }
  text += fmt::format("const %last{} = splat({}) : {}\n%y = Sub({}, %last{}) : {}\n}}\n", prefix,
                      chain.type == kReal ? fmt::format("{}", add) : fmt::format("{}", 130 + add),
                      chain.type, operand, prefix, chain.type);
  auto parsed = text::Parse(text, {.find_op = [](std::string_view name, std::string_view domain) {
                              return ops::FindOp(name, domain);
                            }});
  EXPECT_TRUE(parsed) << (parsed ? "" : parsed.error().message);
  return parsed ? *std::move(parsed) : ir::Graph();
}

class EveryChain : public testing::TestWithParam<Chain> {};

// Processor time: other programs do not count.
double SecondsOf(const std::function<void()>& work) {
  const std::clock_t start = std::clock();
  work();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

TEST_P(EveryChain, IsComparedInSecondsOnEveryLevel) {
  const ir::Graph before = GraphOf(GetParam(), "v", 1), after = GraphOf(GetParam(), "w", 2);
  for (const Level level : {Level::kExact, Level::kRounded, Level::kReal}) {
    const double seconds = SecondsOf(
        [&] { EXPECT_EQ(Compare(before, after, level, Mode::kOnnx).unproved, Names{"y"}); });
    EXPECT_LT(seconds, kSeconds) << static_cast<int>(level);
  }
  const ir::Graph same = GraphOf(GetParam(), "w", 1);
  EXPECT_EQ(Compare(before, same, Level::kRounded, Mode::kOnnx).unproved, Names{});
}

// The same op in every node.
std::function<std::string(int i, const std::string& operand)> Each(std::string_view pattern,
                                                                   std::string_view type) {
  return [=](int, const std::string& operand) {
    return Typed(fmt::format(fmt::runtime(pattern), operand), type);
  };
}

std::vector<Chain> PlainChains() {
  return {
      {"Relu", kReal, "", Each("Relu({})", kReal)},
      {"ReluOfIntegers", kStored, "", Each("Relu({})", kStored)},
      {"Neg", kReal, "", Each("Neg({})", kReal)},
      {"Transpose", kReal, "", Each("Transpose({}) {{perm=[0, 1, 3, 2]}}", kReal)},
      {"MaxPool", kStored, "",
       Each("MaxPool({}) {{kernel_shape=[3, 3], pads=[1, 1, 1, 1]}}", kStored)},
      {"Add", kReal, "", Each("Add({0}, {0})", kReal)},
      {"MaxOfOne", kReal, "", Each("Max({0}, {0})", kReal)},
      {"MaxOfOneInteger", kStored, "", Each("Max({0}, {0})", kStored)},
      {"MaxOfTwo", kStored, "",
       [](int i, const std::string& operand) {
         return Typed(fmt::format("{}({}, %x)", i % 2 == 0 ? "Max" : "Min", operand), kStored);
       }},
  };
}

std::vector<Chain> ChainsWithConstants() {
  // The elements in reverse order: movement that equations do not merge.
  const std::string reverse =
      "const %from = [-1] : tensor<1xi64>\nconst %to = [-9] : tensor<1xi64>\n"
      "const %axis = [3] : tensor<1xi64>\nconst %step = [-1] : tensor<1xi64>\n";
  static constexpr std::string_view slice = "Slice({}, %from, %to, %axis, %step)";
  return {
      {"Slice", kStored, reverse, Each(slice, kStored)},
      {"SliceOfRelu", kStored, reverse,
       [](int i, const std::string& operand) {
         return i % 2 == 0 ? Typed(fmt::format(fmt::runtime(slice), operand), kStored)
                           : Typed(fmt::format("Relu({})", operand), kStored);
       }},
      {"SliceOfRescale", kStored, reverse,
       [](int i, const std::string& operand) {
         const int pair = (i + 1) / 2;
         const std::string type =
             fmt::format("tensor<1x2x4x4xu8, scale={}, zp=128>", 0.5 - pair * 1e-6);
         if (i + 1 == kNodes) return Typed(fmt::format("Rescale({})", operand), kStored);
         return i % 2 == 0 ? Typed(fmt::format(fmt::runtime(slice), operand), type)
                           : Typed(fmt::format("Rescale({})", operand), type);
       }},
      {"SliceOfClip", kReal, reverse,
       [](int i, const std::string& operand) {
         if (i % 2 == 0) return Typed(fmt::format(fmt::runtime(slice), operand), kReal);
         return Typed(fmt::format("Clip({}, %low{}, %high{})", operand, i, i), kReal);
       },
       "%x",
       [](int i) {
         if (i % 2 == 0) return std::string();
         return fmt::format(
             "const %low{0} = splat({1}) : tensor<f32>\nconst %high{0} = splat({2}) : "
             "tensor<f32>\n",
             i, 1e-5 * i, 100 - 1e-5 * i);
       }},
      {"RescalePerChannel", kStored, "",
       [](int i, const std::string& operand) {
         return Typed(fmt::format("Rescale({})", operand),
                      i % 2 == 0 ? "tensor<1x2x4x4xi8, axis=1, scale=[0.01, 0.5], zp=0>"
                                 : (i + 1 == kNodes
                                        ? std::string(kStored)
                                        : "tensor<1x2x4x4xi8, axis=1, scale=[0.5, 0.01], zp=0>"));
       }},
      {"AddOfConstants", kReal, fmt::format("const %c = splat(0) : {}\n", kReal),
       [](int i, const std::string& operand) {
         if (i + 1 == kNodes) return Typed(fmt::format("Add(%x, {})", operand), kReal);
         return Typed(
             fmt::format(fmt::runtime(i % 2 == 0 ? "Add({0}, {0})" : "Sub({0}, {0})"), operand),
             kReal);
       },
       "%c"},
  };
}

std::string NameOf(const testing::TestParamInfo<Chain>& info) {
  return std::string(info.param.name);
}
INSTANTIATE_TEST_SUITE_P(Plain, EveryChain, testing::ValuesIn(PlainChains()), &NameOf);
INSTANTIATE_TEST_SUITE_P(WithConstants, EveryChain, testing::ValuesIn(ChainsWithConstants()),
                         &NameOf);

}  // namespace
}  // namespace octavo::verify
