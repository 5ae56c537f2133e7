// SPDX-License-Identifier: Apache-2.0
// What one version of a runtime computes differently from what a model says, as data: a row of a
// target's key `quirks`.  The rows name conditions and remedies of the closed sets below; the
// export (core/onnx/export) implements both and knows no runtime.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/status.h"

namespace octavo::target {

// When a node of one of the row's ops meets the quirk.  "Between" includes a float op whose operand
// is dequantized and whose result is quantized, which runtimes fuse too.
enum class QuirkCondition {
  kAlways,
  kOpsetBelow,            // an 8-bit operand, and the model's opset is below `limit`
  kFineResultScale,       // result scale * `limit` * (extent of attribute `axis`) < 1
  kInexactReciprocal,     // 1 - scale * floor(1 / scale) > `limit`, of the result
  kDilated,               // a dilation other than 1
  kCeilCountsPadding,     // ceil_mode with count_include_pad
  kCeilCountsWindow,      // ceil_mode, whose formula counts a window that begins in the padding
  kBiasOfAnotherScale,    // the bias is not one int32 for each channel at the product of the scales
  kFloatParameters,       // constant weights or bias in float between quantized values, with only
                          // clamps and data movement between them and the op
  kDequantizedWeights,    // a float product whose constant matrix alone is dequantized, with one
                          // scale or one for each column, and whose result is neither
                          // quantized nor only clamped
  kEqualDTypes,           // the operand's and the result's dtype are equal
  kPerChannelActivation,  // a quantized operand that is not constant, or the result, has an axis
  kComputedOperand,       // the first operand is not constant
  kNegativeOperand,       // the first operand may be below 0
  kZeroDivisor,           // the second operand may be 0
  kDifferenceOfSums,      // a sum in float, and a Sub in float of two such sums
  kOddZeroPoint,          // an odd zero point of the result
};
std::string_view Name(QuirkCondition condition);

// What the export writes instead.
enum class QuirkRemedy {
  kRaiseOpset,      // the model at opset `limit`
  kUnfuse,          // a Max of one operand, which is the operand, in front of QuantizeLinear
  kBiasPerChannel,  // the bias as one int32 for each channel, at the product of the scales
  kReplaceNan,      // zeros for NaN in front of QuantizeLinear
  kExplicitPads,    // a pool without ceil_mode, padded so that it has the same windows
  kSumInDouble,     // the sum in double, between two Casts
  kSessionOption,   // the model as it is, with a warning: only the session option that `does` names
                    // helps
};
std::string_view Name(QuirkRemedy remedy);

struct Quirk {
  std::string id = {};
  std::vector<std::string> ops = {};
  QuirkCondition when = QuirkCondition::kAlways;
  double limit = 0;  // of `when` and of kRaiseOpset
  QuirkRemedy instead = QuirkRemedy::kUnfuse;
  std::string does = {};               // what the runtime does, as the end of a sentence
  std::string source = {};             // where the runtime's source does so
  std::string code = "runtime_quirk";  // of the warning for targets that only warn
  bool warns = true;                   // false: no reason to warn of every model
};

// What a target description says about quirks.  Only the export reads it: passes see the Target.
struct TargetQuirks {
  // Of the target's runtime (key `quirks`), or those rows of `warn_for` whose ids the key `avoid`
  // lists, because their remedy costs next to nothing.
  std::vector<Quirk> avoided = {};
  std::string warn_for = {};  // a built-in target whose other quirks are only warned of
};
// Of a built-in by name, and of a target file's text; errors as of BuiltIn and Parse (target.h).
Result<TargetQuirks> BuiltInQuirks(std::string_view name);
Result<TargetQuirks> ParseQuirks(std::string_view json_text);

}  // namespace octavo::target
