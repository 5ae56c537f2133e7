// SPDX-License-Identifier: Apache-2.0
#include "core/target/target.h"

#include <algorithm>
#include <cmath>

#include "core/base/nearest_name.h"
#include "core/numerics/mode_table.h"
#include "core/target/builtin.h"
#include "core/target/json_reader.h"
#include "core/target/quirk.h"
#include "core/target/quirk_reader.h"

namespace octavo::target {
namespace {

constexpr Word<SchemeKind> kSchemeKinds[] = {
    {SchemeKind::kAsymmetric, "asymmetric"},
    {SchemeKind::kSymmetric, "symmetric"},
    {SchemeKind::kSymmetricUint8, "symmetric-uint8"},
    {SchemeKind::kPow2, "pow2"},
};

bool Lists(const std::vector<std::string>& list, std::string_view op) {
  return std::ranges::find(list, op) != list.end();
}

Status ReadDTypes(const json& list, std::vector<ir::DType>& dtypes) {
  constexpr std::string_view must = "a list of u8, i8, i16";
  if (!list.is_array() || list.empty()) return Wrong("activations", must);
  dtypes.clear();
  for (const json& item : list) {
    const auto dtype = item.is_string() ? ir::ParseDType(item.get<std::string>()) : std::nullopt;
    if (!dtype ||
        (*dtype != ir::DType::kU8 && *dtype != ir::DType::kI8 && *dtype != ir::DType::kI16)) {
      return Wrong("activations", must);
    }
    dtypes.push_back(*dtype);
  }
  return {};
}

Status ReadWeights(const json& object, WeightRule& rule) {
  if (!object.is_object()) return Wrong("weights", "an object");
  Reader reader(object, "weights.");
  std::string dtype(ir::Name(rule.dtype));
  OCTAVO_CHECK(reader.Read("dtype", dtype, "i8 or i16"));
  OCTAVO_CHECK(reader.Read("per_channel", rule.per_channel, "true or false"));
  OCTAVO_CHECK(reader.Read("symmetric", rule.symmetric, "true or false"));
  OCTAVO_CHECK(reader.Read("narrow_range", rule.narrow_range, "true or false"));
  OCTAVO_CHECK(reader.Read("per_tensor", rule.per_tensor, "a list of op names"));
  if (dtype != "i8" && dtype != "i16") return Wrong("weights.dtype", "i8 or i16");
  rule.dtype = *ir::ParseDType(dtype);
  return reader.RefuseUnknown();
}

// Reads the fixed parameters of results: {"Softmax": {"scale": 0.00390625, "zero_point": 0}}.
Status ReadResults(const json& object, Target& target) {
  if (!object.is_object()) return Wrong("results", "an object of ops");
  target.results.clear();
  for (const auto& [op, value] : object.items()) {
    const std::string key = "results." + op;
    if (!value.is_object()) return Wrong(key, "an object with scale and zero_point");
    Reader reader(value, key + ".");
    FixedResult fixed{.scale = 0};
    OCTAVO_CHECK(reader.Read("scale", fixed.scale, "a number"));
    OCTAVO_CHECK(reader.Read("zero_point", fixed.zero_point, "an integer"));
    OCTAVO_CHECK(reader.RefuseUnknown());
    if (!std::isnormal(fixed.scale) || fixed.scale < 0) {
      return Wrong(key + ".scale", "a positive normal number");
    }
    target.results[op] = fixed;
  }
  return {};
}

// Checks that the keys are possible in combination.
Status CheckTogether(const Target& target) {
  for (const auto& [op, fixed] : target.results) {
    int exponent = 0;
    if (target.pow2_scales && std::frexp(fixed.scale, &exponent) != 0.5f) {
      return Wrong("results." + op + ".scale", "a power of two, as 'scales' says");
    }
    for (const ir::DType dtype : target.activations) {
      const ir::IntegerRange range = ir::IntegerRangeOf(dtype);
      if (fixed.zero_point < range.min || fixed.zero_point > range.max) {
        return Wrong("results." + op + ".zero_point",
                     fmt::format("in the range of {}, one of its activations", ir::Name(dtype)));
      }
    }
  }
  for (const std::string& op : target.keep) {
    if (Lists(target.lower, op)) return Wrong("lower", fmt::format("without {}, a kept op", op));
  }
  for (const std::string& op : target.integer_ops) {
    if (Lists(target.float_ops, op)) {
      return Wrong("integer_ops", fmt::format("without {}, one of float_ops", op));
    }
  }
  return {};
}

// Type inference of an op that Octavo does not know: results have the first input's dtype and
// shape.
Status InferLikeFirst(ir::InferContext& context) {
  for (size_t i = 0; i < context.result_count(); ++i) {
    context.SetResult(i, context.dtype(0), context.shape(0));
  }
  return {};
}

Status ReadRescale(const json& object, ir::RescaleRule& rule) {
  if (!object.is_object()) return Wrong("ops.rescale", "an object");
  Reader reader(object, "ops.rescale.");
  std::vector<std::string> inputs;
  std::string output = "kept";
  OCTAVO_CHECK(reader.Read("inputs", inputs, "a list of kept, absorbed, sunk"));
  OCTAVO_CHECK(reader.Read("output", output, "kept, absorbed or raised"));
  using AtInput = ir::RescaleRule::AtInput;
  using AtOutput = ir::RescaleRule::AtOutput;
  constexpr Word<AtInput> input_words[] = {
      {AtInput::kKeep, "kept"}, {AtInput::kFold, "absorbed"}, {AtInput::kSink, "sunk"}};
  constexpr Word<AtOutput> output_words[] = {
      {AtOutput::kKeep, "kept"}, {AtOutput::kFold, "absorbed"}, {AtOutput::kHoist, "raised"}};
  for (const std::string& word : inputs) {
    const auto at = FindIn<AtInput>(input_words, word);
    if (!at) return Wrong("ops.rescale.inputs", "a list of kept, absorbed, sunk");
    if (word != inputs.front()) return Wrong("ops.rescale.inputs", "one word for all data inputs");
    rule.at_input = *at;
  }
  const auto at = FindIn<AtOutput>(output_words, output);
  if (!at) return Wrong("ops.rescale.output", "kept, absorbed or raised");
  rule.at_output = *at;
  return reader.RefuseUnknown();
}

// Reads the op's attributes and their kinds: {"value": "float"}.
Status ReadAttributes(const json& object, std::vector<std::string>& names,
                      std::vector<ir::AttrSpec>& specs) {
  constexpr std::string_view must = "an object of int, float, string, ints, floats or strings";
  constexpr Word<ir::AttrKind> words[] = {
      {ir::AttrKind::kInt, "int"},       {ir::AttrKind::kFloat, "float"},
      {ir::AttrKind::kString, "string"}, {ir::AttrKind::kInts, "ints"},
      {ir::AttrKind::kFloats, "floats"}, {ir::AttrKind::kStrings, "strings"},
  };
  if (!object.is_object()) return Wrong("ops.attributes", must);
  for (const auto& [name, kind] : object.items()) names.push_back(name);  // before viewing them
  for (const std::string& name : names) {
    const json& kind = object[name];
    const auto word =
        kind.is_string() ? FindIn<ir::AttrKind>(words, kind.get<std::string>()) : std::nullopt;
    if (!word) return Wrong("ops.attributes", must);
    specs.push_back({.name = name, .kind = *word});
  }
  return {};
}

Status ReadOp(const json& object, CustomOp& op) {
  if (!object.is_object()) return Wrong("ops", "a list of objects");
  Reader reader(object, "ops.");
  std::string quant = "free";
  OCTAVO_CHECK(reader.Read("name", op.name, "a string"));
  OCTAVO_CHECK(reader.Read("domain", op.domain, "a string"));
  OCTAVO_CHECK(reader.Read("quant", quant, "same-as-input or free"));
  if (op.name.empty()) return Wrong("ops.name", "given");
  if (quant != "same-as-input" && quant != "free") {
    return Wrong("ops.quant", "same-as-input or free");
  }
  // The strings share their owner with the op definition, so that its views stay valid.
  struct Owned {
    std::string name, domain;
    std::vector<std::string> attribute_names;
    std::vector<ir::AttrSpec> attributes;
    ir::OpDef def{.since = ir::kNotInOnnx};
  };
  auto owned = std::make_shared<Owned>(Owned{op.name, op.domain, {}, {}});
  if (const json* attributes = reader.Child("attributes")) {
    OCTAVO_CHECK(ReadAttributes(*attributes, owned->attribute_names, owned->attributes));
    owned->def.attributes = owned->attributes;
  }
  owned->def.name = owned->name;
  owned->def.domain = owned->domain;
  owned->def.inputs = {1, ir::kManyInputs};
  owned->def.quant = {
      .kind = quant == "free" ? ir::QuantRule::Kind::kFree : ir::QuantRule::Kind::kSameScale,
      .why = {}};
  owned->def.infer = &InferLikeFirst;
  if (const json* rescale = reader.Child("rescale")) {
    OCTAVO_CHECK(ReadRescale(*rescale, owned->def.rescale));
  }
  op.def = std::shared_ptr<const ir::OpDef>(owned, &owned->def);
  return reader.RefuseUnknown();
}

Status ReadInto(const json& object, Target& target) {
  Reader reader(object, "");
  std::string base;
  OCTAVO_CHECK(reader.Read("base", base, "a built-in target's name"));
  if (!base.empty()) {
    OCTAVO_TRY(target, BuiltIn(base));
  }
  OCTAVO_CHECK(reader.Read("name", target.name, "a string"));
  std::string numerics(target.numerics->name);
  OCTAVO_CHECK(reader.Read("numerics", numerics, "a numerics mode"));
  const numerics::Mode* mode = numerics::FindMode(numerics);
  if (!mode) return Wrong("numerics", "a numerics mode");
  target.numerics = mode;
  if (const json* list = reader.Child("activations")) {
    OCTAVO_CHECK(ReadDTypes(*list, target.activations));
  }
  if (const json* weights = reader.Child("weights")) {
    OCTAVO_CHECK(ReadWeights(*weights, target.weights));
  }
  OCTAVO_CHECK(reader.Read("bias_bits", target.bias_bits, "8, 16 or 32"));
  if (target.bias_bits != 8 && target.bias_bits != 16 && target.bias_bits != 32) {
    return Wrong("bias_bits", "8, 16 or 32");
  }
  std::string scales = target.pow2_scales ? "pow2" : "any";
  OCTAVO_CHECK(reader.Read("scales", scales, "any or pow2"));
  if (scales != "any" && scales != "pow2") return Wrong("scales", "any or pow2");
  target.pow2_scales = scales == "pow2";
  if (target.pow2_scales) target.scheme = SchemeKind::kPow2;
  OCTAVO_CHECK(reader.Read("fully_quantized", target.fully_quantized, "true or false"));
  OCTAVO_CHECK(reader.Read("integer_io", target.integer_io, "true or false"));
  OCTAVO_CHECK(reader.Read("float_ops", target.float_ops, "a list of op names"));
  OCTAVO_CHECK(reader.Read("integer_ops", target.integer_ops, "a list of op names"));
  OCTAVO_CHECK(reader.Read("same_type", target.same_type, "a list of op names"));
  if (const json* results = reader.Child("results")) {
    OCTAVO_CHECK(ReadResults(*results, target));
  }
  OCTAVO_CHECK(reader.Read("keep", target.keep, "a list of op names"));
  OCTAVO_CHECK(reader.Read("lower", target.lower, "a list of op names"));
  // Only the export reads these (quirk.h).
  reader.Child("quirks");
  reader.Child("warn_for");
  reader.Child("avoid");
  if (const json* ops = reader.Child("ops")) {
    if (!ops->is_array()) return Wrong("ops", "a list of objects");
    for (const json& item : *ops) OCTAVO_CHECK(ReadOp(item, target.ops.emplace_back()));
  }
  OCTAVO_CHECK(reader.RefuseUnknown());
  if (target.name.empty()) return Wrong("name", "given");
  return CheckTogether(target);
}

}  // namespace

std::string_view Name(SchemeKind kind) { return NameIn(kSchemeKinds, kind); }
std::optional<SchemeKind> ParseSchemeKind(std::string_view name) {
  return FindIn<SchemeKind>(kSchemeKinds, name);
}

std::string Target::WhyFloat(std::string_view op, ir::QuantRule::Kind kind) const {
  if (Lists(float_ops, op)) return fmt::format("target {} keeps {} in float", name, op);
  const bool computes = kind != ir::QuantRule::Kind::kSameScale;
  const bool own = std::ranges::any_of(ops, [&](const CustomOp& each) { return each.name == op; });
  if (!computes || own || integer_ops.empty() || Lists(integer_ops, op)) return {};
  return fmt::format("target {} has no integer form of {}", name, op);
}

ir::QuantRule Target::QuantOf(const ir::Graph& graph, const ir::Node& node) const {
  using Kind = ir::QuantRule::Kind;
  ir::QuantRule rule = node.op->QuantOf(graph, node);
  if (rule.kind != Kind::kFree && rule.kind != Kind::kFixed) return rule;
  if (const FixedResult* fixed = ResultOf(node.op->name)) {
    const ir::IntegerRange range = ir::IntegerRangeOf(activations.front());
    rule.kind = Kind::kFixed;
    rule.range = {static_cast<float>(range.min - fixed->zero_point) * fixed->scale,
                  static_cast<float>(range.max - fixed->zero_point) * fixed->scale};
  } else if (Lists(same_type, node.op->name)) {
    rule.kind = Kind::kSameScale;
  }
  return rule;
}

std::string Target::WhyTypeStays(std::string_view op) const {
  if (ResultOf(op)) return fmt::format("target {} fixes the result type of {}", name, op);
  if (!WantsOneType(op)) return {};
  return fmt::format("target {} requires the same type before and after {}", name, op);
}

bool Target::Lowers(std::string_view op) const { return Lists(lower, op); }

bool Target::Keeps(std::string_view op) const { return Lists(keep, op); }

bool Target::WantsOneType(std::string_view op) const { return Lists(same_type, op); }

const FixedResult* Target::ResultOf(std::string_view op) const {
  const auto at = results.find(op);
  return at == results.end() ? nullptr : &at->second;
}

bool Target::PerChannel(std::string_view op) const {
  return weights.per_channel && !Lists(weights.per_tensor, op);
}

bool Target::glow_zero_points() const { return numerics->glow_zero_points; }

Result<Target> BuiltIn(std::string_view name) {
  for (const BuiltInText& text : BuiltInTexts()) {
    if (text.name == name) return Parse(text.json);
  }
  const std::vector<std::string> names = BuiltInNames();
  return Fail(Code::kUsage, "unknown target '{}'; built in are: {}{}", name, fmt::join(names, ", "),
              DidYouMean(name, names))
      .Field("target");
}

std::vector<std::string> BuiltInNames() {
  std::vector<std::string> names;
  for (const BuiltInText& text : BuiltInTexts()) names.emplace_back(text.name);
  return names;
}

Result<Target> Parse(std::string_view json_text) {
  const json object = json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return Fail(Code::kUsage, "target file: not a JSON object");
  Target target;
  OCTAVO_CHECK(ReadInto(object, target));
  OCTAVO_CHECK(ReadQuirks(object));
  return target;
}

}  // namespace octavo::target
