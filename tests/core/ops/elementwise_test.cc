// SPDX-License-Identifier: Apache-2.0
// Elementwise ops: values computed by hand from ONNX's definitions.
#include <limits>

#include "tests/core/ops/compute_case.h"

namespace octavo::ops {
namespace {

using ir::Tensor;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

TEST(Elementwise, PiecewiseLinearFunctions) {
  const Tensor x = Row({-2, -0.5f, 0, 0.5f, 3});
  Check({
      {{"Relu", {x}}, {5}, {0, 0, 0, 0.5, 3}},
      {{"LeakyRelu", {x}, {{"alpha", 0.5f}}}, {5}, {-1, -0.25, 0, 0.5, 3}},
      {{"PRelu", {x, Row({0.25f})}}, {5}, {-0.5, -0.125, 0, 0.5, 3}},
      {{"ThresholdedRelu",
        {
            x,
        },
        {{"alpha", 0.5f}}},
       {5},
       {0, 0, 0, 0, 3}},
      {{"HardSigmoid", {x}, {{"alpha", 0.25f}, {"beta", 0.5f}}}, {5}, {0, 0.375, 0.5, 0.625, 1}},
      {{"HardSwish", {Row({-4, -3, -1.5f, 0, 1.5f, 3, 4})}}, {7}, {0, 0, -0.375, 0, 1.125, 3, 4}},
      {{"Abs", {x}}, {5}, {2, 0.5, 0, 0.5, 3}},
      {{"Neg", {x}}, {5}, {2, 0.5, 0, -0.5, -3}},
      {{"Sign", {x}}, {5}, {-1, -1, 0, 1, 1}},
      {{"Reciprocal", {Row({2, -4})}}, {2}, {0.5, -0.25}},
      {{"Softsign", {Row({-1, 0, 3})}}, {3}, {-0.5, 0, 0.75}},
  });
}

TEST(Elementwise, RoundingToIntegersTakesTiesToEven) {
  const Tensor x = Row({-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 2.25f});
  Check({
      {{"Round", {x}}, {7}, {-2, -2, 0, 0, 2, 2, 2}},
      {{"Floor", {x}}, {7}, {-3, -2, -1, 0, 1, 2, 2}},
      {{"Ceil", {x}}, {7}, {-2, -1, 0, 1, 2, 3, 3}},
  });
}

TEST(Elementwise, TranscendentalFunctionsAreRoundedOnce) {
  const Tensor x = Row({-1, 0, 1});
  const double near = 1e-7;
  Check({
      {{"Exp", {x}}, {3}, {0.36787944117144233, 1, 2.718281828459045}, 2e-7},
      {{"Log", {Row({1, 2, 0.5f})}}, {3}, {0, 0.6931471805599453, -0.6931471805599453}, near},
      {{"Sqrt", {Row({0, 2, 9})}}, {3}, {0, 1.4142135623730951, 3}, near},
      {{"Sigmoid", {x}}, {3}, {0.2689414213699951, 0.5, 0.7310585786300049}, near},
      {{"Tanh", {x}}, {3}, {-0.7615941559557649, 0, 0.7615941559557649}, near},
      {{"Erf", {x}}, {3}, {-0.8427007929497149, 0, 0.8427007929497149}, near},
      {{"Sin", {x}}, {3}, {-0.8414709848078965, 0, 0.8414709848078965}, near},
      {{"Cos", {x}}, {3}, {0.5403023058681398, 1, 0.5403023058681398}, near},
      {{"Gelu", {x}}, {3}, {-0.15865525393145707, 0, 0.8413447460685429}, near},
      {{"Gelu", {x}, {{"approximate", std::string("tanh")}}},
       {3},
       {-0.15880800939172324, 0, 0.8411919906082768},
       near},
      {{"Elu", {x}, {{"alpha", 2.0f}}}, {3}, {-1.2642411176571153, 0, 1}, near * 2},
      {{"Celu", {x}, {{"alpha", 2.0f}}}, {3}, {-0.7869386805747332, 0, 1}, near},
      {{"Selu", {x}, {{"alpha", 2.0f}, {"gamma", 3.0f}}}, {3}, {-3.7927233529713456, 0, 3}, 3e-7},
      {{"Softplus", {x}}, {3}, {0.31326168751822286, 0.6931471805599453, 1.3132616875182228}, near},
      {{"Swish", {x}}, {3}, {-0.2689414213699951, 0, 0.7310585786300049}, near},
      {{"Swish", {x}, {{"alpha", 2.0f}}}, {3}, {-0.11920292202211755, 0, 0.8807970779778823}, near},
      {{"Mish", {x}}, {3}, {-0.30340146137410895, 0, 0.8650983882673103}, near},
  });
}

TEST(Elementwise, LargeArgumentsGiveTheLimits) {
  Check({
      {{"Sigmoid", {Row({-1000, 1000, kNan})}}, {3}, {0, 1, kNan}},
      {{"Tanh", {Row({-1000, 1000, kNan})}}, {3}, {-1, 1, kNan}},
      {{"Softplus", {Row({-1000, 1000})}}, {2}, {0, 1000}},
      {{"Exp", {Row({-1000, 1000})}}, {2}, {0, kInf}},
      {{"Log", {Row({0, -1})}}, {2}, {-kInf, kNan}},
      {{"Sqrt", {Row({-1})}}, {1}, {kNan}},
      {{"Relu", {Row({kNan, -kInf, kInf})}}, {3}, {kNan, 0, kInf}},
  });
}

TEST(Elementwise, ClipTakesEitherBoundAndTheUpperOneWins) {
  const Tensor x = Row({-2, 0, 5, kNan});
  const Tensor low = Tensor::Scalar<float>(-1), high = Tensor::Scalar<float>(3);
  Check({
      {{"Clip", {x, low, high}}, {4}, {-1, 0, 3, kNan}},
      {{"Clip", {x, low}}, {4}, {-1, 0, 5, kNan}},
      {{"Clip", {x, std::nullopt, high}}, {4}, {-2, 0, 3, kNan}},
      {{"Clip", {x}}, {4}, {-2, 0, 5, kNan}},
      {{"Clip", {x, high, low}}, {4}, {-1, -1, -1, kNan}},
      {{"Clip", {Tensor::Ints({-7, 7}), Tensor::Scalar<int64_t>(0)}}, {2}, {0, 7}},
  });
}

TEST(Elementwise, OperandsBroadcastFromEitherSide) {
  const Tensor column = Counting({2, 1}), row = Counting({3}, 10), cube = Counting({2, 1, 2});
  Check({
      {{"Add", {column, row}}, {2, 3}, {11, 12, 13, 12, 13, 14}},
      {{"Sub", {row, column}}, {2, 3}, {9, 10, 11, 8, 9, 10}},
      {{"Mul", {cube, column}}, {2, 2, 2}, {1, 2, 2, 4, 3, 4, 6, 8}},
      {{"Div", {row, Tensor::Scalar<float>(2)}}, {3}, {5, 5.5, 6}},
      {{"Add", {Filled({0, 3}, 0), row}}, {0, 3}, {}},
      {{"Add", {Tensor::Scalar<float>(1), Filled({1, 1}, 2)}}, {1, 1}, {3}},
      {{"PRelu", {Filled({1, 2, 2}, -1), Tensor::Of<float>({2, 1}, {2, 3})}},
       {1, 2, 2},
       {-2, -2, -3, -3}},
  });
}

TEST(Elementwise, VariadicOpsTakeOneToManyOperands) {
  const Tensor a = Row({1, 5, kNan}), b = Row({4, 2, 0}), c = Tensor::Scalar<float>(3);
  Check({
      {{"Max", {a, b, c}}, {3}, {4, 5, kNan}},
      {{"Max", {b, a}}, {3}, {4, 5, kNan}},
      {{"Min", {a, b, c}}, {3}, {1, 2, kNan}},
      {{"Sum", {a, b, c}}, {3}, {8, 10, kNan}},
      {{"Mean", {b, Row({2, 4, 3}), c}}, {3}, {3, 3, 2}},
      {{"Max", {b}}, {3}, {4, 2, 0}},
      {{"Max", {Tensor::Ints({kMax - 1}), Tensor::Ints({kMax})}}, {1}, {double(kMax)}},
  });
}

TEST(Elementwise, IntegersAreComputedAsIntegers) {
  const Tensor a = Tensor::Ints({7, -7, 7, -7}), b = Tensor::Ints({2, 2, -2, -2});
  Check({
      {{"Add", {a, b}}, {4}, {9, -5, 5, -9}},
      {{"Sub", {a, b}}, {4}, {5, -9, 9, -5}},
      {{"Mul", {a, b}}, {4}, {14, -14, -14, 14}},
      {{"Div", {a, b}}, {4}, {3, -3, -3, 3}},
      {{"Mod", {a, b}}, {4}, {1, 1, -1, -1}},
      {{"Mod", {a, b}, {{"fmod", int64_t{1}}}}, {4}, {1, -1, 1, -1}},
      {{"Mod", {Row({5.5f, -5.5f}), Row({2, 2})}, {{"fmod", int64_t{1}}}}, {2}, {1.5, -1.5}},
      {{"Neg", {a}}, {4}, {-7, 7, -7, 7}},
      {{"Abs", {a}}, {4}, {7, 7, 7, 7}},
      {{"Add", {Tensor::Of<int32_t>({1}, {1 << 30}), Tensor::Of<int32_t>({1}, {1})}},
       {1},
       {1073741825}},
      {{"Mul", {Tensor::Of<double>({1}, {0.1}), Tensor::Of<double>({1}, {3})}}, {1}, {0.1 * 3}},
  });
}

TEST(Elementwise, IntegersThatOverflowWrapAround) {
  const auto run = [](std::string_view op, const Ints& a, const Ints& b) {
    DataCase test{op, {Tensor::Ints(a)}};
    if (!b.empty()) test.inputs.emplace_back(Tensor::Ints(b));
    const auto results = RunCase(test);
    return results ? (*results)[0].ToInts() : Ints{};
  };
  EXPECT_EQ(run("Add", {kMax}, {1}), Ints{kMin});
  EXPECT_EQ(run("Sub", {kMin}, {1}), Ints{kMax});
  EXPECT_EQ(run("Mul", {kMax}, {2}), Ints{-2});
  EXPECT_EQ(run("Div", {kMin}, {-1}), Ints{kMin});
  EXPECT_EQ(run("Mod", {kMin}, {-1}), Ints{0});
  EXPECT_EQ(run("Neg", {kMin}, {}), Ints{kMin});
  EXPECT_EQ(run("Abs", {kMin}, {}), Ints{kMin});
  EXPECT_EQ(run("Div", {5}, {0}), Ints{0});
  EXPECT_EQ(run("Mod", {5}, {0}), Ints{0});
}

// The largest unsigned integer was once interpreted as -1.
TEST(Elementwise, UnsignedModuloTheLargestIntegerIsTheOperand) {
  const Tensor a = Tensor::Of<uint8_t>({2}, {7, 255}), b = Tensor::Of<uint8_t>({2}, {255, 255});
  Check({{{"Mod", {a, b}}, {2}, {7, 0}}});
}

TEST(Elementwise, PowOfIntegersIsExact) {
  const auto ints = RunCase({"Pow", {Tensor::Ints({3, -3, 2, 0}), Tensor::Ints({39, 3, -1, 0})}});
  ASSERT_TRUE(ints);
  EXPECT_EQ((*ints)[0].ToInts(), (Ints{4052555153018976267, -27, 0, 1}));
  Check({
      {{"Pow", {Row({2, 3, -2}), Row({3, 2, 3})}}, {3}, {8, 9, -8}},
      {{"Pow", {Row({4, 9}), Tensor::Scalar<float>(0.5f)}}, {2}, {2, 3}},
      {{"Pow", {Row({2, 4}), Tensor::Scalar<int64_t>(-1)}}, {2}, {0.5, 0.25}},
      {{"Pow", {Tensor::Ints({2, 10}), Tensor::Scalar<float>(0.5f)}}, {2}, {1, 3}},
      {{"Pow", {Tensor::Of<int32_t>({2}, {10, -10}), Tensor::Scalar<float>(11)}},
       {2},
       {2147483647, -2147483648.0}},
  });
}

TEST(Elementwise, ErrorsNameTheOpAndWhatIsWrong) {
  EXPECT_EQ(Refusal({"Add", {Counting({2}), Counting({3})}}),
            "Add 'test': shapes 2 and 3 do not broadcast");
  EXPECT_EQ(Refusal({"Mul", {Counting({2}), Tensor::Ints({1, 2})}}),
            "Mul 'test': operands are f32 and i64, but must have one type");
  EXPECT_EQ(Refusal({"Sigmoid", {Tensor::Ints({1})}}),
            "Sigmoid 'test': operand is i64, but must be a float type");
  EXPECT_EQ(Refusal({"PRelu", {Counting({2}), Counting({2, 2})}}),
            "PRelu 'test': slope of shape 2x2 does not broadcast to 2");
  EXPECT_EQ(Refusal({"Mod", {Row({1}), Row({1})}}), "Mod 'test': fmod must be 1 for f32");
}

}  // namespace
}  // namespace octavo::ops
