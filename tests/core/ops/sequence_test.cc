// SPDX-License-Identifier: Apache-2.0
// Ops along sequences and grids, losses, and functions with their inverses.
#include <gtest/gtest.h>

#include <limits>
#include <numbers>

#include "core/base/cpu.h"
#include "core/base/math.h"
#include "tests/core/ops/compute_case.h"

namespace octavo::ops {
namespace {

using ir::Tensor;
constexpr double kPi = std::numbers::pi;
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(Functions, InversesReachTheirEnds) {
  Check({{{"Asin", {Row({-1, 0, 1, 2})}}, {4}, {-kPi / 2, 0, kPi / 2, kNan}, 1e-6},
         {{"Acos", {Row({-1, 0, 1, 2})}}, {4}, {kPi, kPi / 2, 0, kNan}, 1e-6},
         {{"Asinh", {Row({-1e30f, 0, 1e-20f})}}, {3}, {-69.7707, 0, 1e-20}, 1e-4},
         {{"Acosh", {Row({1, 2, 0})}}, {3}, {0, 1.3169579, kNan}, 1e-6},
         {{"Atanh", {Row({0.5f, 2})}}, {2}, {0.5493061, kNan}, 1e-6},
         {{"Tan", {Row({0, 1})}}, {2}, {0, 1.5574077}, 1e-6},
         {{"Cosh", {Row({0, 1})}}, {2}, {1, 1.5430806}, 1e-6}});
}

TEST(Functions, NumbersThatAreNone) {
  const Tensor x = Row({1, -kInfinity, kInfinity, kNan});
  Check({{{"IsNaN", {x}}, {4}, {0, 0, 0, 1}},
         {{"IsInf", {x}}, {4}, {0, 1, 1, 0}},
         {{"IsInf", {x}, {{"detect_negative", int64_t{0}}}}, {4}, {0, 0, 1, 0}}});
}

TEST(Functions, ALogSumDoesNotOverflow) {
  Check({{{"ReduceLogSumExp", {Row({1000, 1000})}, {{"keepdims", int64_t{0}}}},
          {},
          {1000 + std::numbers::ln2},
          1e-4},
         {{"ReduceLogSumExp", {Row({-kInfinity, -kInfinity})}, {{"keepdims", int64_t{0}}}},
          {},
          {-kInfinity}}});
}

TEST(Losses, IgnoredLabelsDoNotCount) {
  const Tensor logs = Tensor::Of<float>({3, 2}, {-1, -2, -3, -4, -5, -6});
  const Tensor labels = Tensor::Ints({0, 1, 0}), weights = Row({1, 3});
  const auto loss = [&](const char* reduction) {
    return DataCase{"NegativeLogLikelihoodLoss",
                    {logs, labels, weights},
                    {{"reduction", std::string(reduction)}}};
  };
  Check({{loss("none"), {3}, {1, 12, 5}},
         {loss("sum"), {}, {18}},
         {loss("mean"), {}, {18.0 / 5}, 1e-6},
         {{"NegativeLogLikelihoodLoss", {logs, labels}, {{"ignore_index", int64_t{1}}}}, {}, {3}},
         {{"SoftmaxCrossEntropyLoss", {Filled({1, 4}, 7), Tensor::Ints({2})}},
          {},
          {math::Log(4)},
          1e-6}});
  EXPECT_NE(Refusal({"NegativeLogLikelihoodLoss", {logs, Tensor::Ints({0, 2, 0})}})
                .find("label 2 is outside of 2 classes"),
            std::string::npos);
}

TEST(Recurrent, OneStepByHand) {
  const auto weights = [](int64_t gates) { return Filled({1, gates, 1}, 1); };
  const Tensor x = Tensor::Of<float>({1, 1, 1}, {0.5f});
  const Tensor h = Tensor::Of<float>({1, 1, 1}, {0.25f});
  const double gate = math::Sigmoid(0.75), candidate = math::Tanh(0.5 + gate * 0.25);
  const double state = gate * math::Tanh(0.75);
  Check({{{"RNN", {x, weights(1), weights(1), {}, {}, h}}, {1, 1, 1, 1}, {math::Tanh(0.75)}, 1e-6},
         {{"GRU", {x, weights(3), weights(3), {}, {}, h}},
          {1, 1, 1, 1},
          {(1 - gate) * candidate + gate * 0.25},
          1e-6},
         {{"LSTM", {x, weights(4), weights(4), {}, {}, h}},
          {1, 1, 1, 1},
          {gate * math::Tanh(state)},
          1e-6}});
}

TEST(Recurrent, ReverseReadsOnlyTheSequencesLength) {
  const Tensor x = Tensor::Of<float>({3, 1, 1}, {1, 2, 100});
  const Tensor one = Filled({1, 1, 1}, 1), length = Tensor::Of<int32_t>({1}, {2});
  const ir::AttrMap attributes = {{"direction", std::string("reverse")},
                                  {"activations", std::vector<std::string>{"Affine"}}};
  Check({{{"RNN", {x, one, one, {}, length}, attributes}, {3, 1, 1, 1}, {3, 2, 0}}});
}

// Weights with an odd number of rows, so that the last tile is partial.
std::vector<std::optional<Tensor>> RecurrentOperands(ir::DType dtype, int64_t gates) {
  const auto waves = [&](const ir::Shape& shape, double step) {
    Tensor tensor(dtype, shape);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      const double value = math::Sin(step * static_cast<double>(i));
      if (dtype == ir::DType::kF64) {
        tensor.mutable_values<double>()[i] = value;
      } else {
        tensor.mutable_values<float>()[i] = static_cast<float>(value);
      }
    }
    return tensor;
  };
  const int64_t hidden = 37, inputs = 5;
  return {waves({6, 3, inputs}, 0.7), waves({2, gates * hidden, inputs}, 0.9),
          waves({2, gates * hidden, hidden}, 1.1), waves({2, 2 * gates * hidden}, 1.3)};
}

TEST(Recurrent, HasEqualBitsOnEveryInstructionSet) {
  const std::pair<const char*, int64_t> kinds[] = {{"RNN", 1}, {"GRU", 3}, {"LSTM", 4}};
  for (const auto& [op, gates] : kinds) {
    for (const ir::DType dtype : {ir::DType::kF32, ir::DType::kF64}) {
      const DataCase test{
          op, RecurrentOperands(dtype, gates), {{"direction", std::string("bidirectional")}}};
      std::optional<Tensor> first;
      for (const Isa isa : MachineIsas()) {
        const ScopedIsaLimit limit(isa);
        const auto results = RunCase(test);
        ASSERT_TRUE(results) << results.error().message;
        if (!first) first = (*results)[0].Clone();
        EXPECT_TRUE(std::ranges::equal(first->raw_bytes(), (*results)[0].raw_bytes()))
            << op << " " << IsaName(isa);
      }
    }
  }
}

TEST(Sequences, OnlyTheFirstPlacesAreReversed) {
  Check({{{"ReverseSequence", {Counting({3, 2}), Tensor::Ints({3, 2})}},
          {3, 2},
          {5, 4, 3, 2, 1, 6}}});
}

TEST(Grids, SamplesByModeAndPadding) {
  const Tensor x = Tensor::Of<float>({1, 1, 1, 2}, {2, 4});
  const auto at = [&](float place, const char* mode, const char* padding) {
    return DataCase{"GridSample",
                    {x, Tensor::Of<float>({1, 1, 1, 2}, {place, 0})},
                    {{"mode", std::string(mode)}, {"padding_mode", std::string(padding)}}};
  };
  Check({{at(0, "linear", "zeros"), {1, 1, 1, 1}, {3}},
         {at(1, "linear", "zeros"), {1, 1, 1, 1}, {2}},
         {at(1, "linear", "border"), {1, 1, 1, 1}, {4}},
         {at(2, "nearest", "reflection"), {1, 1, 1, 1}, {4}},
         {at(9, "nearest", "zeros"), {1, 1, 1, 1}, {0}}});
}

TEST(Grids, UnpooledPlacesKeepTheirCoordinates) {
  const Tensor x = Counting({1, 1, 1, 2}), places = Tensor::Of<int64_t>({1, 1, 1, 2}, {1, 6});
  const ir::AttrMap attributes = {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  Check({{{"MaxUnpool", {x, places}, attributes}, {1, 1, 2, 4}, {0, 1, 0, 0, 0, 0, 2, 0}},
         {{"MaxUnpool", {x, places, Tensor::Ints({1, 1, 2, 5})}, attributes},
          {1, 1, 2, 5},
          {0, 1, 0, 0, 0, 0, 0, 2, 0, 0}}});
}

TEST(Products, EinsumNamesAxes) {
  const Tensor a = Counting({2, 2}), b = Counting({2, 2}, 5);
  const auto run = [&](const char* equation, std::vector<std::optional<Tensor>> operands) {
    return DataCase{"Einsum", std::move(operands), {{"equation", std::string(equation)}}};
  };
  Check({{run("ij,jk->ik", {a, b}), {2, 2}, {19, 22, 43, 50}},
         {run("ij,jk", {a, b}), {2, 2}, {19, 22, 43, 50}},
         {run("ii->i", {a}), {2}, {1, 4}},
         {run("...j->...", {a}), {2}, {3, 7}},
         {{"Det", {a}}, {}, {-2}, 1e-6}});
  EXPECT_NE(Refusal(run("ij->k", {a})).find("a letter that only the result uses"),
            std::string::npos);
}

TEST(Spectra, ALineOfOnesIsItsMean) {
  const Tensor ones = Filled({1, 4, 1}, 1);
  const Tensor line = Tensor::Of<float>({1, 4, 1}, {0, 1, 0, -1});
  Check({{{"DFT", {ones}}, {1, 4, 2}, {4, 0, 0, 0, 0, 0, 0, 0}, 1e-6},
         {{"DFT", {line}, {{"onesided", int64_t{1}}}}, {1, 3, 2}, {0, 0, 0, -2, 0, 0}, 1e-6},
         {{"DFT", {ones}, {{"inverse", int64_t{1}}}}, {1, 4, 2}, {1, 0, 0, 0, 0, 0, 0, 0}, 1e-6},
         {{"STFT", {ones, Tensor::Scalar<int64_t>(2), Row({1, 1})}},
          {1, 2, 2, 2},
          {2, 0, 0, 0, 2, 0, 0, 0},
          1e-6}});
}

TEST(Norms, OfRowsWindowsAndGroups) {
  const Tensor x = Tensor::Of<float>({1, 2, 2}, {3, 4, 0, 0});
  Check({{{"LpNormalization", {x}}, {1, 2, 2}, {0.6, 0.8, 0, 0}, 1e-6},
         {{"LpNormalization", {x}, {{"p", int64_t{1}}}}, {1, 2, 2}, {3.0 / 7, 4.0 / 7, 0, 0}, 1e-6},
         {{"LpNormalization", {x}, {{"epsilon", 10.0f}}}, {1, 2, 2}, {0.3, 0.4, 0, 0}, 1e-6},
         {{"LpNormalization", {x}, {{"epsilon", 5.0f}, {"epsilon_mode", std::string("add")}}},
          {1, 2, 2},
          {0.3, 0.4, 0, 0},
          1e-6},
         {{"LpNormalization", {x}, {{"epsilon", 75.0f}, {"epsilon_mode", std::string("inside")}}},
          {1, 2, 2},
          {0.3, 0.4, 0, 0},
          1e-6},
         {{"LpPool", {x}, {{"kernel_shape", Ints{2}}}}, {1, 2, 1}, {5, 0}, 1e-6},
         {{"GlobalLpPool", {x}, {{"p", int64_t{1}}}}, {1, 2, 1}, {7, 0}, 1e-6},
         {{"GroupNormalization",
           {Counting({1, 2, 2}), Row({1, 2}), Row({0, 1})},
           {{"num_groups", int64_t{2}}, {"epsilon", 0.0f}}},
          {1, 2, 2},
          {-1, 1, -1, 3},
          1e-6}});
}

TEST(Grids, ColumnsAddUpAndMiddlesAreCroppedOrPadded) {
  Check(
      {{{"Col2Im", {Filled({1, 2, 2}, 1), Tensor::Ints({1, 3}), Tensor::Ints({1, 2})}},
        {1, 1, 1, 3},
        {1, 2, 1}},
       {{"CenterCropPad", {Counting({2, 4}), Tensor::Ints({3, 2})}}, {3, 2}, {2, 3, 6, 7, 0, 0}}});
}

}  // namespace
}  // namespace octavo::ops
