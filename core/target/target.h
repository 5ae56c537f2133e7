// What a device can run, as data: a JSON description (built-ins are files of this folder), or a
// base of that kind with changes.  Passes ask the target, never a device name.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/ir/numerics.h"
#include "core/ir/op_def.h"

namespace octavo::target {

using ir::Name;
using ir::Numerics;
using ir::ParseNumerics;

// How parameters follow from a range.
enum class Schema { kAsymmetric, kSymmetric, kSymmetricUint8, kPow2 };
std::string_view Name(Schema schema);
std::optional<Schema> ParseSchema(std::string_view name);

struct WeightRule {
  ir::DType dtype = ir::DType::kI8;
  bool per_channel = true;
  bool symmetric = true;
  bool narrow_range = true;
};

// An op of the target's own, with the rules that let Rescales move through it.
struct CustomOp {
  std::string name = {};
  std::string domain = {};
  std::shared_ptr<const ir::OpDef> def = {};  // its strings are owned by this object's `name`s
};

struct Target {
  std::string name = {};
  Numerics numerics = Numerics::kOnnx;
  std::vector<ir::DType> activations = {ir::DType::kU8};  // the first is the default
  Schema schema = Schema::kAsymmetric;                    // of activations
  WeightRule weights = {};
  int bias_bits = 32;
  bool pow2_scales = false;
  bool fully_quantized = false;
  bool integer_io = false;
  std::vector<std::string> float_ops = {};  // ops that stay float
  std::vector<std::string> keep = {};       // ops not lowered
  std::vector<std::string> lower = {};      // ops lowered though the default keeps them
  std::vector<CustomOp> ops = {};

  bool StaysFloat(std::string_view op) const;
};

// A built-in by name; kUsage with the list of names for an unknown one.
Result<Target> BuiltIn(std::string_view name);
std::vector<std::string> BuiltInNames();
// A target file's text; unknown keys and wrong values are kUsage naming the key.
Result<Target> Parse(std::string_view json_text);

}  // namespace octavo::target
