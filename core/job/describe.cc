// The tables of laws, ops and targets, from the code that applies them.
#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "core/ops/op_table.h"
#include "core/passes/pass.h"
#include "core/target/target.h"

namespace octavo::job {
namespace {

using nlohmann::ordered_json;

std::string_view NameOf(ir::QuantRule::Kind kind) {
  switch (kind) {
    case ir::QuantRule::Kind::kFloatOnly:
      return "float";
    case ir::QuantRule::Kind::kNotReal:
      return "not-real";
    case ir::QuantRule::Kind::kFree:
      return "free";
    case ir::QuantRule::Kind::kSameAsInput:
      return "same-as-input";
    case ir::QuantRule::Kind::kFixed:
      return "fixed-range";
  }
  return "";
}

std::string_view NameOf(ir::RescaleRule::AtInput rule) {
  switch (rule) {
    case ir::RescaleRule::AtInput::kKept:
      return "kept";
    case ir::RescaleRule::AtInput::kAbsorbed:
      return "absorbed";
    case ir::RescaleRule::AtInput::kSunk:
      return "sunk";
  }
  return "";
}

std::string_view NameOf(ir::RescaleRule::AtOutput rule) {
  switch (rule) {
    case ir::RescaleRule::AtOutput::kKept:
      return "kept";
    case ir::RescaleRule::AtOutput::kAbsorbed:
      return "absorbed";
    case ir::RescaleRule::AtOutput::kRaised:
      return "raised";
  }
  return "";
}

}  // namespace

std::string PassesTable() {
  std::string lines;
  for (const passes::Pass* pass : passes::AllPasses()) {
    if (pass->rules.empty()) {
      lines += ordered_json{{"pass", pass->name}, {"promise", pass->promise}}.dump() + "\n";
    }
    for (const passes::Rule& rule : pass->rules) {
      lines += ordered_json{{"pass", pass->name},
                            {"rule", rule.name},
                            {"law", rule.law},
                            {"effect", passes::Name(rule.effect)},
                            {"condition", rule.condition}}
                   .dump() +
               "\n";
    }
  }
  return lines;
}

std::string OpsTable() {
  std::string lines;
  for (const ir::OpDef* op : ops::AllOps()) {
    const bool depends = op->quant_of != nullptr;
    ordered_json line = {{"op", op->name},
                         {"domain", op->domain},
                         {"quant", depends ? "depends-on-node" : NameOf(op->quant.kind)},
                         {"rescale_input", NameOf(op->rescale.at_input)},
                         {"rescale_output", NameOf(op->rescale.at_output)}};
    if (!depends && op->quant.kind == ir::QuantRule::Kind::kFloatOnly) {
      line["reason"] = op->quant.why;
    }
    lines += line.dump() + "\n";
  }
  return lines;
}

std::string TargetsTable() {
  std::string lines;
  for (const std::string& name : target::BuiltInNames()) {
    const auto target = target::BuiltIn(name);
    if (!target) continue;  // a test reads every built-in
    std::vector<std::string_view> activations;
    for (const ir::DType dtype : target->activations) activations.push_back(ir::Name(dtype));
    lines += ordered_json{{"target", name},
                          {"numerics", target::Name(target->numerics)},
                          {"activations", activations},
                          {"weights", ir::Name(target->weights.dtype)},
                          {"per_channel", target->weights.per_channel},
                          {"symmetric_weights", target->weights.symmetric},
                          {"schema", target::Name(target->schema)},
                          {"scales", target->pow2_scales ? "pow2" : "any"},
                          {"bias_bits", target->bias_bits},
                          {"fully_quantized", target->fully_quantized},
                          {"integer_io", target->integer_io}}
                 .dump() +
             "\n";
  }
  return lines;
}

}  // namespace octavo::job
