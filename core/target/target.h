// SPDX-License-Identifier: Apache-2.0
// The capabilities of a device as data: a JSON description.  Built-in descriptions are files in
// this folder; a description may also be a base with changes.  Passes query the target and never
// compare device names.
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

// How quantization parameters follow from a range.
enum class SchemeKind { kAsymmetric, kSymmetric, kSymmetricUint8, kPow2 };
std::string_view Name(SchemeKind kind);
std::optional<SchemeKind> ParseSchemeKind(std::string_view name);

struct WeightRule {
  ir::DType dtype = ir::DType::kI8;
  bool per_channel = true;
  bool symmetric = true;
  bool narrow_range = true;
  std::vector<std::string> per_tensor = {};  // ops whose weights have one scale regardless
};

// The parameters that an op's result always has.
struct FixedResult {
  float scale = 1;
  int32_t zero_point = 0;

  bool operator==(const FixedResult&) const = default;
};

// An op that only the target has, with the rules that let Rescales move through it.
struct CustomOp {
  std::string name = {};
  std::string domain = {};
  std::shared_ptr<const ir::OpDef> def = {};  // also owns the strings that its views refer to
};

struct Target {
  std::string name = {};
  const numerics::Mode* numerics = &numerics::kOnnx;
  std::vector<ir::DType> activations = {ir::DType::kU8};  // the first one is the default
  SchemeKind scheme = SchemeKind::kAsymmetric;            // of activations
  WeightRule weights = {};
  int bias_bits = 32;
  bool pow2_scales = false;
  bool fully_quantized = false;
  bool integer_io = false;
  std::vector<std::string> float_ops = {};    // ops that stay float
  std::vector<std::string> integer_ops = {};  // if not empty: the only ops that compute in integers
  std::vector<std::string> same_type = {};    // ops whose result has its operand's type
  std::map<std::string, FixedResult, std::less<>> results = {};  // by op
  std::vector<std::string> keep = {};                            // ops that are not lowered
  std::vector<std::string> lower = {};  // ops that are lowered although the default keeps them
  std::vector<CustomOp> ops = {};

  // Returns the reason why the target computes the op in float.  Empty if the target does not
  // require float.  A same-scale op (`kind` kSameScale) needs no integer arithmetic, so only
  // `float_ops` can keep it in float.
  std::string WhyFloat(std::string_view op, ir::QuantRule::Kind kind) const;
  // How a node takes part in integer arithmetic on this target: the op's rule, restricted by
  // `same_type` and `results`.
  ir::QuantRule QuantOf(const ir::Graph& graph, const ir::Node& node) const;
  // Returns the reason why the types of the op's operands and results must not change.  Empty if
  // the target permits changes.
  std::string WhyTypeStays(std::string_view op) const;
  bool Lowers(std::string_view op) const;
  bool Keeps(std::string_view op) const;  // not lowered
  bool WantsOneType(std::string_view op) const;
  const FixedResult* ResultOf(std::string_view op) const;
  // Whether the op's weights have one scale per channel.
  bool PerChannel(std::string_view op) const;
  // Whether zero points follow Glow's own choice, which is part of its numerics.
  bool glow_zero_points() const;
};

// Returns a built-in target; kUsage with the list of names if the name is unknown.
Result<Target> BuiltIn(std::string_view name);
std::vector<std::string> BuiltInNames();
// Parses a target file; kUsage, with the key, for an unknown key or a wrong value.
Result<Target> Parse(std::string_view json_text);

}  // namespace octavo::target
