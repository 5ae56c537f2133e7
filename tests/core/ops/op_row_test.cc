// SPDX-License-Identifier: Apache-2.0
// Compares the traits of a row with the op's definition and with ONNX's schemas.  A missing or
// wrong trait and an unlisted row fail here.

#include <algorithm>
#include <bit>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <regex>
#include <set>

#include "tests/core/ops/compute_case.h"

namespace octavo::ops {
namespace {

using ir::Tensor;
using Kind = ir::QuantRule::Kind;
using Movement = ir::Movement;

constexpr float kInf = std::numeric_limits<float>::infinity();

Tensor RandomRow(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>(random() % 4096) / 512.0f - 4;
  return Row(values);
}

std::vector<uint32_t> BitsOf(const Tensor& tensor) {
  std::vector<uint32_t> bits;
  for (const float value : tensor.values<float>()) bits.push_back(std::bit_cast<uint32_t>(value));
  return bits;
}

TEST(OpRow, EveryRowOfTheFolderIsListed) {
  std::set<std::string> defined, listed;
  const std::regex row(R"(extern constexpr (?:ir::)?OpDef k(\w+))");
  for (const auto& file : std::filesystem::directory_iterator(OCTAVO_SOURCE_DIR "/core/ops")) {
    if (file.path().extension() != ".cc") continue;
    std::ifstream stream(file.path());
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
      EXPECT_TRUE(defined.insert((*at)[1]).second) << (*at)[1] << " is defined twice";
    }
  }
  for (const ir::OpDef* op : AllOps()) listed.emplace(op->name);
  for (const std::string& name : defined) {
    EXPECT_TRUE(listed.contains(name)) << "the list in op_table.cc lacks " << name;
  }
  EXPECT_EQ(defined.size(), listed.size()) << "a row's variable is not kNAME";
}

// The output of `python3 -c SCRIPT`; nullopt if it fails.
std::optional<std::string> OutputOfPython(const std::string& script) {
  const std::string command = fmt::format("/usr/bin/python3 -c '{}' 2>/dev/null", script);
  // NOLINTNEXTLINE(bugprone-command-processor,cert-env33-c): the command is a constant.
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string text;
  char buffer[4096];
  for (size_t count = 0; (count = fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    text.append(buffer, count);
  }
  return pclose(pipe) == 0 && !text.empty() ? std::optional(text) : std::nullopt;
}

TEST(OpRow, SinceIsTheFirstOpsetOfOnnxsSchemas) {
  const auto schemas = OutputOfPython(
      "import onnx.defs\n"
      "first = {}\n"
      "for s in onnx.defs.get_all_schemas_with_history():\n"
      "  if s.domain == \"\": first[s.name] = min(s.since_version, first.get(s.name, 99))\n"
      "for name in first: print(name, first[name])");
  if (!schemas) GTEST_SKIP() << "/usr/bin/python3 has no module onnx (Debian: python3-onnx)";
  // Debian's onnx 1.12 ends with opset 17.  The following are from ONNX's list of operators,
  // https://onnx.ai/onnx/operators, as of opset 24.
  std::map<std::string, int, std::less<>> first = {{"BitwiseAnd", 18},
                                                   {"BitwiseNot", 18},
                                                   {"BitwiseOr", 18},
                                                   {"BitwiseXor", 18},
                                                   {"Col2Im", 18},
                                                   {"CenterCropPad", 18},
                                                   {"Gelu", 20},
                                                   {"Mish", 18},
                                                   {"GroupNormalization", 18},
                                                   {"RMSNormalization", 23},
                                                   {"Swish", 24}};
  std::istringstream lines(*schemas);
  for (std::string name; lines >> name;) lines >> first[name];
  for (const ir::OpDef* op : AllOps()) {
    if (!op->domain.empty()) {
      EXPECT_EQ(op->since.opset(), 0) << op->name << " is not an op of ONNX";
      continue;
    }
    const auto at = first.find(op->name);
    ASSERT_NE(at, first.end()) << op->name << " is in no schema: add its first opset to the test";
    EXPECT_EQ(op->since.opset(), at->second) << op->name;
  }
}

TEST(OpRow, EverySameScaleOpSaysHowItMovesData) {
  for (const ir::OpDef* op : AllOps()) {
    if (op->quant.kind != Kind::kSameScale) continue;
    EXPECT_NE(op->moves_data, Movement::kNone) << op->name;
  }
}

// Whether each result element depends only on the operand's element at the same position: computed
// alone, it is the same.  nullopt if the op cannot run on a single float vector.
std::optional<bool> WorksPointwise(const ir::OpDef& op) {
  const Tensor x = RandomRow(24, 7);
  const auto all = RunCase({op.name, {x}});
  if (!all || (*all)[0].dtype() != ir::DType::kF32) return std::nullopt;
  if ((*all)[0].shape() != x.shape()) return false;
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto one = RunCase({op.name, {Row({x.values<float>()[static_cast<size_t>(i)]})}});
    if (!one || (*one)[0].size() != 1) return false;
    if (BitsOf((*one)[0])[0] != BitsOf((*all)[0])[static_cast<size_t>(i)]) return false;
  }
  return true;
}

TEST(OpRow, PointwiseIsWhatWorksElementByElement) {
  int found = 0;
  for (const ir::OpDef* op : AllOps()) {
    // Skip ops that move their operand and ops of several operands: tables do not apply to them.
    if (op->moves_data >= Movement::kCopy || op->inputs.min > 1) continue;
    if (op->inputs.max == ir::kManyInputs || !op->domain.empty()) continue;
    const auto pointwise = WorksPointwise(*op);
    if (!pointwise) continue;
    EXPECT_EQ(op->pointwise, *pointwise) << op->name;
    found += *pointwise ? 1 : 0;
  }
  EXPECT_GT(found, 30);
}

TEST(OpRow, ANeutralSecondOperandChangesNoBitOfTheFirst) {
  const Tensor x = Row({-0.0f, 0.0f, 1.0f, -1.5f, 1e-40f, 3e38f, kInf, -kInf});
  int found = 0;
  for (const ir::OpDef* op : AllOps()) {
    if (!op->neutral) continue;
    const auto results = RunCase({op->name, {x, Tensor::Scalar<float>(*op->neutral)}});
    ASSERT_TRUE(results) << op->name;
    EXPECT_EQ(BitsOf((*results)[0]), BitsOf(x)) << op->name;
    ++found;
  }
  EXPECT_EQ(found, 6);
}

TEST(OpRow, OrderOnlyOpsDoNotSeeAnIncreasingMap) {
  const Tensor x = RandomRow(24, 9);
  Tensor y = RandomRow(24, 10);
  std::ranges::copy(x.values<float>().first(12), y.mutable_values<float>().begin());
  const auto mapped = [](const Tensor& tensor) {
    Tensor result = tensor.Clone();
    for (float& value : result.mutable_values<float>()) value = value * value * value * 3 + 5;
    return result;
  };
  int found = 0;
  for (const ir::OpDef* op : AllOps()) {
    // Others also have parameters (NonMaxSuppression) or return elements of the operand (TopK).
    const bool indices_only = op->moves_data == ir::Movement::kNone;
    if (!op->depends_on_order || !indices_only || op->RoleOf(0) != ir::Role::kData) continue;
    std::vector<std::optional<Tensor>> operands = {x}, after_map = {mapped(x)};
    if (op->inputs.min == 2) {
      operands.push_back(y);
      after_map.push_back(mapped(y));
    }
    const auto plain = RunCase({op->name, operands}), after = RunCase({op->name, after_map});
    ASSERT_TRUE(plain && after) << op->name;
    EXPECT_TRUE(std::ranges::equal((*plain)[0].raw_bytes(), (*after)[0].raw_bytes())) << op->name;
    ++found;
  }
  EXPECT_EQ(found, 8);
}

}  // namespace
}  // namespace octavo::ops
