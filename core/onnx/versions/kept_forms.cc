// SPDX-License-Identifier: Apache-2.0
#include "core/onnx/versions/kept_forms.h"

#include <algorithm>

#include "core/onnx/versions/conversions.h"
#include "core/ops/op_table.h"

namespace octavo::onnx {
namespace {

// Operators without a row in core/ops, and the opset from which on new versions take more types or
// fewer operands and change nothing else.
struct Stable {
  std::string_view op = {};
  int64_t since = 1;
};
constexpr Stable kStable[] = {
    {"Bernoulli", 15},
    {"ConcatFromSequence", 11},
    {"Constant", 1},
    {"If", 1},
    {"ImageDecoder", 20},
    {"Loop", 1},
    {"Multinomial", 7},
    {"Optional", 15},
    {"OptionalGetElement", 15},
    {"OptionalHasElement", 15},
    {"RandomNormal", 1},
    {"RandomNormalLike", 1},
    {"RandomUniform", 1},
    {"RandomUniformLike", 1},
    {"RegexFullMatch", 20},
    {"Scan", 9},
    {"SequenceAt", 11},
    {"SequenceConstruct", 11},
    {"SequenceEmpty", 11},
    {"SequenceErase", 11},
    {"SequenceInsert", 11},
    {"SequenceLength", 11},
    {"SequenceMap", 17},
    {"SplitToSequence", 11},
    {"StringConcat", 20},
    {"StringNormalizer", 10},
    {"StringSplit", 20},
    {"TfIdfVectorizer", 9},
};

}  // namespace

bool KeepsForm(std::string_view op, int64_t from, int64_t to) {
  if (from == to) return true;
  const int64_t low = std::min(from, to), high = std::max(from, to);
  const auto* stable = std::ranges::find(kStable, op, &Stable::op);
  if (stable != std::end(kStable)) return low >= stable->since && from <= to;
  const ir::OpDef* row = ops::FindOp(op, "");
  if (row == nullptr) return (op == "QuantizeLinear" || op == "DequantizeLinear") && from <= to;
  if (low < row->since.opset()) return false;
  return std::ranges::none_of(AllConversions(), [&](const VersionRow& change) {
    if (change.since <= low || change.since > high) return false;
    const bool names =
        change.now == op || std::find(change.ops.begin(), change.ops.end(), op) != change.ops.end();
    const bool accepts = from <= to && change.upgrade == nullptr && change.now.empty();
    return names && !accepts;
  });
}

}  // namespace octavo::onnx
