// SPDX-License-Identifier: Apache-2.0
// Turns a model in QDQ form into a graph whose ops run on quantized operands (qdq_rules.h has the
// rules).  It runs only once, on the graph that import built: in a saved graph of a later stage,
// some ops are float on purpose.
#include "core/ir/qdq_notes.h"
#include "core/ops/op_table.h"
#include "core/passes/float/plain_bias.h"
#include "core/passes/passes.h"
#include "core/passes/qdq/add_to_bias.h"
#include "core/passes/qdq/integer_graph.h"
#include "core/passes/qdq/max_to_clip.h"
#include "core/passes/qdq/name_list.h"
#include "core/passes/qdq/qdq_rules.h"
#include "core/passes/qdq/recognize_op.h"
#include "core/passes/qdq/sink_dequantize.h"
#include "core/passes/quantize/float_choice.h"

namespace octavo::passes {
namespace {

constexpr Rule kRules[] = {kSinkDequantize, kRecognizeOp,  kAddToBias,     kMaxToClip,
                           kTypedConstant,  kDropPair,     kPairToRescale, kSameScaleOp,
                           kQuantizeBias,   kMatMulToGemm, kIntegerOp,     kFloatResult};

constexpr Rule kOthersRules[] = {kPlainBias};

// Removes import's notes from the graph and returns them; nullopt if there are none.
Result<std::optional<QdqOrigin>> TakeNotes(ir::Graph& graph) {
  const auto writer = graph.metadata.find(ir::kQdqWriterKey);
  if (writer == graph.metadata.end()) return std::nullopt;
  QdqOrigin origin{.own = writer->second == ir::kQdqWriterOctavo};
  graph.metadata.erase(writer);
  OCTAVO_TRY(origin.pending, TakeNames(graph, ir::kPendingBiasKey));
  OCTAVO_TRY(origin.float_biases, TakeNames(graph, ir::kFloatBiasKey));
  OCTAVO_TRY(origin.kept_float, NamesIn(graph, ir::kKeptFloatKey));
  OCTAVO_TRY(origin.float_result, TakeNames(graph, ir::kFloatResultKey));
  OCTAVO_TRY(origin.written_out, TakeNames(graph, ir::kWrittenOutKey));
  return origin;
}

// Whether a float op reads a dequantized value.
bool HasFloatsLeft(const ir::Graph& graph) {
  const ir::OpDef* dequantize = ops::FindOp("Dequantize", "octavo");
  for (const ir::NodeId id : graph.nodes()) {
    if (graph.node(id).op != dequantize) continue;
    if (!graph.value(graph.node(id).result()).uses.empty()) return true;
  }
  return false;
}

void NoteReasons(const ir::Graph& graph, const std::set<std::string>& kept, Context& context) {
  if (kept.empty()) return;
  for (const ir::NodeId id : graph.nodes()) {
    const std::string& name = graph.node(id).name;
    if (kept.contains(name)) {
      context.KeepFloat(name, "the model's metadata lists it as kept in float");
    }
  }
}

void WarnOfSubnormalScales(const ir::Graph& graph, Context& context) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ir::Value& value = graph.value(ir::ValueId{static_cast<int32_t>(i)});
    if (value.erased || !value.type.quant) continue;
    for (const float scale : value.type.quant->scales) {
      if (std::fpclassify(scale) != FP_SUBNORMAL) continue;
      context.Warn("subnormal_scale",
                   fmt::format("'{}' has the subnormal scale {}", value.name, scale));
      break;
    }
  }
}

Status Run(ir::Graph& graph, Context& context) {
  OCTAVO_TRY(std::optional<QdqOrigin> origin, TakeNotes(graph));
  if (!origin) return {};
  OCTAVO_TRY(const FloatChoice choice, FloatChoice::Of(graph, context.settings()));
  origin->kept_float.merge(NamesOfChosen(graph, choice));
  // First exposes ops that are hidden between Dequantize and Quantize.
  SinkDequantize(graph, origin->kept_float, context);
  RecognizeOps(graph, *origin, context);
  std::set<std::string> apart = origin->kept_float;
  apart.insert(origin->float_result.begin(), origin->float_result.end());
  AddToBias(graph, apart, context);
  for (const ir::NodeId id : graph.nodes()) PlainBias(graph, id, context);
  MaxToClip(graph, origin->kept_float, context);
  OCTAVO_TRY(graph, BuildIntegerGraph(graph, *origin, context));
  WarnOfSubnormalScales(graph, context);
  if (HasFloatsLeft(graph)) {
    graph.metadata[ir::kQdqFloatsKey] = origin->own ? ir::kQdqWriterOctavo : ir::kQdqWriterOther;
    NoteReasons(graph, origin->kept_float, context);
  } else {
    graph.metadata.erase(ir::kKeptFloatKey);
  }
  return {};
}

}  // namespace

const Pass kFoldQdqPass = {
    .name = "fold-qdq",
    .phase = Phase::kImport,
    .postcondition = "ops of an imported model in QDQ form compute in integers where they can",
    .rules = kRules,
    .also_applies = kOthersRules,
    .run = &Run,
};

}  // namespace octavo::passes
