// SPDX-License-Identifier: Apache-2.0
// A target: what a device can run, as a JSON description (the built-in ones are files of this
// folder) or a base with changes.  Passes query the target, never a device name.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/graph.h"
#include "core/ir/op_def.h"
#include "core/numerics/mode.h"

namespace octavo::target {

using ir::Name;
using numerics::Mode;

// How quantization parameters are chosen for a range.
enum class SchemeKind { kAsymmetric, kSymmetric, kSymmetricUint8, kPow2 };
std::string_view Name(SchemeKind kind);
std::optional<SchemeKind> ParseSchemeKind(std::string_view name);

struct WeightRule {
  ir::DType dtype = ir::DType::kI8;
  bool per_channel = true;
  bool symmetric = true;
  bool narrow_range = true;
  std::vector<std::string> per_tensor = {};  // ops whose weights have one scale even so
};

// The parameters that an op's result always has.
struct FixedResult {
  float scale = 1;
  int32_t zero_point = 0;

  bool operator==(const FixedResult&) const = default;
};

// An op of the target's own, with the rules that let Rescales move through it.
struct CustomOp {
  std::string name = {};
  std::string domain = {};
  std::shared_ptr<const ir::OpDef> def = {};  // its strings are owned by this object's `name`s
};

struct Target {
  std::string name = {};
  const numerics::Mode* numerics = &numerics::kOnnx;
  std::vector<ir::DType> activations = {ir::DType::kU8};  // the first is the default
  SchemeKind scheme = SchemeKind::kAsymmetric;            // of activations
  WeightRule weights = {};
  int bias_bits = 32;
  bool pow2_scales = false;
  bool fully_quantized = false;
  bool integer_io = false;
  std::vector<std::string> float_ops = {};    // ops that stay float
  std::vector<std::string> integer_ops = {};  // if any: the only ones that compute in integers
  std::vector<std::string> same_type = {};    // ops whose result has the type of their operand
  std::map<std::string, FixedResult, std::less<>> results = {};  // by op
  std::vector<std::string> keep = {};                            // ops not lowered
  std::vector<std::string> lower = {};  // ops lowered though the default keeps them
  std::vector<CustomOp> ops = {};

  // Why the target keeps the op in float; empty if it does not.  Ops that copy quantized values
  // (`kind` kSameScale) need no arithmetic of the target.
  std::string WhyFloat(std::string_view op, ir::QuantRule::Kind kind) const;
  // How a node takes part in integer arithmetic on this target: the op's rule, narrowed by
  // `same_type` and `results`.
  ir::QuantRule QuantOf(const ir::Graph& graph, const ir::Node& node) const;
  // Why a Rescale next to the op cannot be folded into it on this target; empty: it can.
  std::string WhyTypeStays(std::string_view op) const;
  bool Lowers(std::string_view op) const;
  bool Keeps(std::string_view op) const;  // not lowered
  bool WantsOneType(std::string_view op) const;
  const FixedResult* ResultOf(std::string_view op) const;
  // Whether the weights of the op have a scale for each channel.
  bool PerChannel(std::string_view op) const;
  // Whether zero points are chosen as in Glow, which its numerics modes require.
  bool glow_zero_points() const;
};

// A built-in by name; kUsage with the list of names for an unknown one.
Result<Target> BuiltIn(std::string_view name);
std::vector<std::string> BuiltInNames();
// A target file's text; unknown keys and wrong values are kUsage naming the key.
Result<Target> Parse(std::string_view json_text);

}  // namespace octavo::target
