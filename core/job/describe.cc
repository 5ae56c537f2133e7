// SPDX-License-Identifier: Apache-2.0
// The tables of rules, ops, targets, options and warnings as JSON lines.
#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "core/job/execute.h"
#include "core/job/ops_legend.h"
#include "core/ops/op_table.h"
#include "core/options/option_table.h"
#include "core/passes/pass.h"
#include "core/target/target.h"
#include "fmt/format.h"

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
    case ir::QuantRule::Kind::kSameScale:
      return "same-as-input";
    case ir::QuantRule::Kind::kFixed:
      return "fixed-range";
  }
  return "";
}

std::string_view NameOf(ir::RescaleRule::AtInput rule) {
  switch (rule) {
    case ir::RescaleRule::AtInput::kKeep:
      return "kept";
    case ir::RescaleRule::AtInput::kFold:
      return "absorbed";
    case ir::RescaleRule::AtInput::kSink:
      return "sunk";
  }
  return "";
}

std::string_view NameOf(ir::RescaleRule::AtOutput rule) {
  switch (rule) {
    case ir::RescaleRule::AtOutput::kKeep:
      return "kept";
    case ir::RescaleRule::AtOutput::kFold:
      return "absorbed";
    case ir::RescaleRule::AtOutput::kHoist:
      return "raised";
  }
  return "";
}

// The quantization of an op whose rule depends on the node.
constexpr std::string_view kDependsOnNode = "depends-on-node";

std::vector<std::string_view> OtherPassesThatApply(const passes::Rule& rule) {
  std::vector<std::string_view> names;
  for (const passes::Pass* pass : passes::AllPasses()) {
    if (std::ranges::count(pass->also_applies, rule.id, &passes::Rule::id)) {
      names.push_back(pass->name);
    }
  }
  return names;
}

}  // namespace

std::string PassesTable() {
  std::string lines;
  for (const passes::Pass* pass : passes::AllPasses()) {
    for (const passes::Rule& rule : pass->rules) {
      lines += ordered_json{{"pass", pass->name},
                            {"postcondition", pass->postcondition},
                            {"rule", rule.id},
                            {"pattern", rule.pattern},
                            {"replacement", rule.replacement},
                            {"effect", passes::Name(rule.effect)},
                            {"condition", rule.condition},
                            {"also_applied_by", OtherPassesThatApply(rule)}}
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
                         {"quant", depends ? kDependsOnNode : NameOf(op->quant.kind)},
                         {"rescale_input", NameOf(op->rescale.at_input)},
                         {"rescale_output", NameOf(op->rescale.at_output)}};
    if (!depends && op->quant.kind == ir::QuantRule::Kind::kFloatOnly) {
      line["reason"] = op->quant.why;
    }
    lines += line.dump() + "\n";
  }
  return lines;
}

std::string OpsLegend() {
  using Quant = ir::QuantRule::Kind;
  using AtInput = ir::RescaleRule::AtInput;
  using AtOutput = ir::RescaleRule::AtOutput;
  struct Line {
    std::string_view word, meaning;
  };
  std::string text;
  const auto add = [&](std::string_view title, std::initializer_list<Line> lines) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", title);
    for (const Line& line : lines) text += fmt::format("  {:<15}  {}\n", line.word, line.meaning);
  };
  add("quant: the quantization of the result",
      {{NameOf(Quant::kFree), "calibration chooses scale and zero point"},
       {NameOf(Quant::kSameScale), "data inputs and result have one scale and zero point"},
       {NameOf(Quant::kFixed), "the range is known without calibration"},
       {NameOf(Quant::kFloatOnly), "none: the op computes in float; the last column says why"},
       {NameOf(Quant::kNotReal), "none: the result is a shape, an index or a bool"},
       {kDependsOnNode, "one of these, by the node's attributes and inputs"}});
  add("rescale input: what can become of a Rescale of a data input",
      {{NameOf(AtInput::kFold), "folded into the op:  Op(Rescale(x)) -> Op(x)"},
       {NameOf(AtInput::kSink), "moved below the op:  Op(Rescale(x)) -> Rescale(Op(x))"},
       {NameOf(AtInput::kKeep), "it stays"}});
  add("rescale output: what can become of a Rescale of the result",
      {{NameOf(AtOutput::kFold), "folded into the op:  Rescale(Op(x)) -> Op(x)"},
       {NameOf(AtOutput::kHoist), "moved above the op:  Rescale(Op(x)) -> Op(Rescale(x))"},
       {NameOf(AtOutput::kKeep), "it stays"}});
  return text;
}

std::string TargetsTable() {
  std::string lines;
  for (const std::string& name : target::BuiltInNames()) {
    const auto target = target::BuiltIn(name);
    if (!target) continue;  // a test reads every built-in target
    std::vector<std::string_view> activations;
    for (const ir::DType dtype : target->activations) activations.push_back(ir::Name(dtype));
    lines += ordered_json{{"target", name},
                          {"numerics", target->numerics->name},
                          {"activations", activations},
                          {"weights", ir::Name(target->weights.dtype)},
                          {"per_channel", target->weights.per_channel},
                          {"symmetric_weights", target->weights.symmetric},
                          {"schema", target::Name(target->scheme)},
                          {"scales", target->pow2_scales ? "pow2" : "any"},
                          {"bias_bits", target->bias_bits},
                          {"fully_quantized", target->fully_quantized},
                          {"integer_io", target->integer_io}}
                 .dump() +
             "\n";
  }
  return lines;
}

std::string OptionsTable() {
  std::string lines;
  for (const OptionRow& row : OptionTable()) {
    std::vector<std::string_view> choices;
    if (row.choices != nullptr) {
      for (const OptionChoice& choice : row.choices()) choices.push_back(choice.name);
    }
    lines += ordered_json{{"name", row.name},
                          {"flags", row.Flags()},
                          {"type", Name(row.type)},
                          {"choices", choices},
                          {"bounds", BoundsText(row)},
                          {"default", DefaultText(row)},
                          {"changes_result", row.changes_result},
                          {"help", row.help}}
                 .dump() +
             "\n";
  }
  return lines;
}

std::string WarningsTable() {
  std::string lines;
  for (const ir::WarningRow& row : ir::kWarningRows) {
    lines += ordered_json{{"code", row.code}, {"meaning", row.text}}.dump() + "\n";
  }
  return lines;
}

}  // namespace octavo::job
