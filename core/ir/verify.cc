// SPDX-License-Identifier: Apache-2.0
#include "core/ir/verify.h"

#include <algorithm>
#include <cmath>

#include "core/ir/blocks.h"
#include "core/ir/canonical_quant.h"
#include "core/ir/infer.h"
#include "core/ir/map_quant.h"
#include "core/ir/output_channels.h"

namespace octavo::ir {
namespace {

template <class... Args>
Failure Broken(std::string_view invariant, const Node& node, fmt::format_string<Args...> format,
               Args&&... args) {
  return Fail(Code::kInternal, "({}) {} '{}': {}", invariant, node.op->name, node.name,
              fmt::format(format, std::forward<Args>(args)...))
      .Node(node.name);
}

// Looks up whether a value lists a use; avoids a linear search in long use lists.
class Uses {
 public:
  explicit Uses(const Graph& graph) : graph_(graph) {}

  bool List(ValueId id, Use use) {
    constexpr size_t kFew = 32;
    const std::vector<Use>& uses = graph_.value(id).uses;
    if (uses.size() <= kFew) return std::ranges::find(uses, use) != uses.end();
    const auto [many, added] = sorted_.try_emplace(id);
    if (added) {
      many->second = uses;
      std::ranges::sort(many->second, Before);
    }
    return std::ranges::binary_search(many->second, use, Before);
  }

 private:
  static bool Before(const Use& a, const Use& b) {
    return a.node != b.node ? a.node < b.node : a.input < b.input;
  }

  const Graph& graph_;
  std::unordered_map<ValueId, std::vector<Use>> sorted_;
};

Status CheckLinks(const Graph& graph, NodeId id, const std::vector<bool>& defined, Uses& uses) {
  const Node& node = graph.node(id);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId input = node.inputs[i];
    if (!input) continue;
    const Value& value = graph.value(input);
    if (value.erased)
      return Broken("G1", node, "input {} is '{}', which was erased", i, value.name);
    if (!uses.List(input, {id, static_cast<int>(i)})) {
      return Broken("G1", node, "'{}' does not list it as a consumer", value.name);
    }
    if (!defined[input.index]) {
      return Broken("G2", node, "reads '{}' before it is computed", value.name);
    }
  }
  for (size_t i = 0; i < node.results.size(); ++i) {
    const Value& value = graph.value(node.results[i]);
    if (value.producer != id || value.result != static_cast<int>(i) || value.constant) {
      return Broken("G1", node, "result '{}' does not name it as its producer", value.name);
    }
  }
  return {};
}

// Whether the inferred type equals the expressed type.
bool Agrees(const Type& type, const Type& inferred) {
  return inferred.dtype == (type.quantized() ? DType::kF32 : type.dtype) &&
         inferred.shape == type.shape;
}

Status CheckTypes(const Graph& graph, NodeId id, Inference& inference) {
  const Node& node = graph.node(id);
  const auto types = inference.Infer(id);
  if (!types) {
    return Fail(Code::kInternal, "(G4) {}", types.error().message).Node(node.name);
  }
  for (size_t i = 0; i < types->size(); ++i) {
    const Value& value = graph.value(node.results[i]);
    const Type& inferred = (*types)[i];
    if (!Agrees(value.type, inferred)) {
      return Broken("G4", node, "result '{}' is {}, but must be {}", value.name,
                    ToString(value.type), ToString(inferred));
    }
  }
  inference.Learn(id);
  return {};
}

Status CheckSameScale(const Graph& graph, const Node& node) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || node.op->RoleOf(i) != Role::kData) continue;
    Type expected = graph.type(node.inputs[i]);
    for (size_t k = 0; k < node.results.size(); ++k) {
      const ValueId result = node.results[k];
      const Type& type = graph.type(result);
      // Results that do not represent real values (the indices of MaxPool) are exempt.
      if (!type.quantized() && type.dtype != DType::kF32) continue;
      if (type.quantized() != expected.quantized()) {
        return Broken("G6", node, "'{}' is {} and '{}' is {}, but both must be quantized or none",
                      graph.name(node.inputs[i]), ToString(expected), graph.name(result),
                      ToString(type));
      }
      if (!type.quantized()) continue;
      if (expected.quant->axis) {
        const auto mapped = MapQuant(graph, node, static_cast<int>(i), k, *expected.quant);
        if (!mapped) {
          return Broken("G6", node, "a per-channel type does not pass through it");
        }
        if (Type{expected.dtype, {}, mapped, {}}.quant != type.quant ||
            expected.dtype != type.dtype) {
          return Broken("G6", node, "result '{}' does not have the channels of '{}'",
                        graph.name(result), graph.name(node.inputs[i]));
        }
      } else if (!expected.SameQuantization(type)) {
        return Broken(
            "G6", node, "'{}' is {} and '{}' is {}, but a same-scale op needs equal types",
            graph.name(node.inputs[i]), ToString(expected), graph.name(result), ToString(type));
      }
    }
  }
  return {};
}

Status CheckQuantized(const Graph& graph, const Node& node) {
  bool any = false;
  for (const ValueId id : node.inputs) any |= id && graph.type(id).quantized();
  for (const ValueId id : node.results) any |= graph.type(id).quantized();
  if (!any) return {};
  const QuantRule rule = node.op->QuantOf(graph, node);
  if (rule.kind == QuantRule::Kind::kFloatOnly) {
    return Broken("G7", node, "is quantized, but {}", rule.why);
  }
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (!node.inputs[i] || node.op->RoleOf(i) != Role::kParameter) continue;
    if (graph.type(node.inputs[i]).quantized()) {
      return Broken("G7", node, "input {} is quantized, but must not be", i);
    }
  }
  if (rule.kind == QuantRule::Kind::kSameScale) return CheckSameScale(graph, node);
  return {};
}

// Octavo's own ops that convert: which of operand and result is quantized.
struct ConversionRow {
  std::string_view op;
  bool from_quantized, to_quantized;
};
constexpr ConversionRow kConversions[] = {{"Quantize", false, true},
                                          {"Dequantize", true, false},
                                          {"Rescale", true, true},
                                          {"Reinterpret", false, true}};

// (G10); passes and kernels read the data of each side as that says.
Status CheckConversion(const Graph& graph, const Node& node) {
  if (node.op->domain != "octavo") return {};
  for (const ConversionRow& row : kConversions) {
    if (row.op != node.op->name) continue;
    const auto differs = [&](ValueId value, bool quantized) {
      return value && graph.type(value).quantized() != quantized;
    };
    const bool operand = differs(node.input(0), row.from_quantized);
    if (!operand && !differs(node.result(), row.to_quantized)) continue;
    const ValueId value = operand ? node.input(0) : node.result();
    const bool quantized = operand ? row.from_quantized : row.to_quantized;
    return Broken("G10", node, "{} '{}' is {}, but must {}be quantized",
                  operand ? "operand" : "result", graph.name(value), ToString(graph.type(value)),
                  quantized ? "" : "not ");
  }
  return {};
}

// (G9): the bias has one element per channel of the result; its scale c is float(s_x) *
// float(s_w) of output channel c.
Status CheckBias(const Graph& graph, const Node& node) {
  const ProductOperands operands = ProductOperandsOf(node);
  const auto& [data, weight, bias, weight_input, bias_input] = operands;
  if (!bias || !weight || !data || !graph.type(bias).quantized()) return {};
  const Type& x = graph.type(data);
  const Type& b = graph.type(bias);
  if (!x.quantized() || !graph.type(weight).quantized()) {
    return Broken("G9", node, "bias is quantized, but '{}' or '{}' is not", graph.name(data),
                  graph.name(weight));
  }
  if (!x.quant->per_tensor() || !HasOutputChannels(graph, node, operands)) {
    return Broken("G9", node,
                  "bias '{}' is quantized, but '{}' has several scales or '{}' has them along an "
                  "axis other than its output channels",
                  graph.name(bias), graph.name(data), graph.name(weight));
  }
  const int64_t channels = graph.type(node.result()).shape[kOutputChannelAxis];
  const size_t scales = b.quant->scales.size();
  if (!HasPlainBias(graph, node) || (scales != 1 && static_cast<int64_t>(scales) != channels)) {
    return Broken("G9", node, "bias '{}' is {}, but the result has {} channels", graph.name(bias),
                  ToString(b), channels);
  }
  for (int64_t c = 0; c < channels; ++c) {
    const size_t own = scales == 1 ? 0 : static_cast<size_t>(c);
    const float expected = AccumulatorScale(*x.quant, *graph.type(weight).quant, c);
    if (b.quant->scales[own] != expected || b.quant->zero_points[own] != 0) {
      return Broken("G9", node,
                    "bias '{}' has scale {} and zero point {} at channel {}, but must "
                    "have {} and 0",
                    graph.name(bias), b.quant->scales[own], b.quant->zero_points[own], c, expected);
    }
  }
  return {};
}

// (G11)
Status CheckBlocks(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  const auto broken = [&](std::string_view must) {
    return Fail(Code::kInternal, "(G11) '{}' is {}, so {}", value.name, ToString(value.type), must);
  };
  if (!value.type.blocked()) {
    if (!IsFourBit(value.type.dtype)) return {};
    return broken("it must be quantized in blocks");
  }
  const Node* producer = graph.Producer(id);
  const bool pending = producer != nullptr && producer->op->domain == "octavo" &&
                       producer->op->name == "Quantize" && graph.IsConstant(producer->input(0));
  if (!value.constant && !pending) return broken("it must be a constant, or a Quantize of one");
  if (graph.IsOutput(id)) return broken("it must not be an output");
  for (const Use& use : value.uses) {
    const Node& consumer = graph.node(use.node);
    if (consumer.op->domain == "octavo" && consumer.op->name == "Dequantize") continue;
    return broken(fmt::format("{} '{}' must not read it, only a Dequantize may", consumer.op->name,
                              consumer.name));
  }
  return {};
}

// Looking up each name must find the value or node that has it.
Status CheckNames(const Graph& graph) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const ValueId id{static_cast<int32_t>(i)};
    const Value& value = graph.value(id);
    if (value.erased) continue;
    if (value.name.empty()) return Fail(Code::kInternal, "(G3) a value has no name");
    if (graph.Find(value.name) != id) {
      return Fail(Code::kInternal, "(G3) two values are named '{}'", value.name);
    }
  }
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (graph.FindNode(node.name) != id) {
      return Fail(Code::kInternal, "(G3) two nodes are named '{}'", node.name).Node(node.name);
    }
  }
  return {};
}

Status CheckValues(const Graph& graph) {
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const Value& value = graph.value(ValueId{static_cast<int32_t>(i)});
    if (value.erased) continue;
    if (const Status quant = CheckQuant(value.name, value.type); !quant) {
      return Fail(Code::kInternal, "(G5) {}", quant.error().message);
    }
    if (value.type.quant && !IsCanonical(*value.type.quant)) {
      return Fail(Code::kInternal, "(G5) '{}' has one scale, so it must not have an axis",
                  value.name);
    }
    OCTAVO_CHECK(CheckBlocks(graph, ValueId{static_cast<int32_t>(i)}));
    if (!value.constant) continue;
    const Tensor& tensor = value.constant->tensor;
    if (tensor.dtype() != value.type.dtype || tensor.shape() != value.type.shape) {
      return Fail(Code::kInternal, "(G8) constant '{}' holds {}x{}, but its type is {}", value.name,
                  ToString(tensor.shape()), Name(tensor.dtype()), ToString(value.type));
    }
  }
  return {};
}

// What is wrong with the axis, the block or the number of scales; empty if nothing is.
std::string AxisProblem(const Quant& quant, const Shape& shape) {
  const size_t scales = quant.scales.size();
  if (quant.block < 0) return fmt::format("block {} must be at least 1", quant.block);
  if (!quant.axis) {
    if (quant.blocked()) return fmt::format("block {} without an axis", quant.block);
    return scales == 1 ? "" : fmt::format("{} scales without an axis", scales);
  }
  const int axis = *quant.axis;
  if (axis < 0 || axis >= static_cast<int>(shape.size())) {
    return fmt::format("axis {} is outside of shape {}", axis, ToString(shape));
  }
  const int64_t expected = quant.blocked() ? Blocks::Of(quant, shape).scales() : shape[axis];
  if (static_cast<int64_t>(scales) == expected) return "";
  if (!quant.blocked()) {
    return fmt::format("{} scales, but axis {} has {} channels", scales, axis, expected);
  }
  return fmt::format("{} scales, but shape {} has {} blocks of {} along axis {}", scales,
                     ToString(shape), expected, quant.block, axis);
}

}  // namespace

Status CheckQuant(std::string_view value_name, const Type& type) {
  if (!type.quant) return {};
  const auto wrong = [&](std::string message) {
    return Fail(Code::kInvalidArgument, "'{}': {}", value_name, message)
        .Field(value_name)
        .Reason("INVALID_QUANTIZATION");
  };
  const Quant& quant = *type.quant;
  if (!IsInteger(type.dtype) || SizeOf(type.dtype) > 4) {
    return wrong(fmt::format("{} cannot store quantized values", Name(type.dtype)));
  }
  if (quant.scales.size() != quant.zero_points.size()) {
    return wrong(
        fmt::format("{} scales but {} zero points", quant.scales.size(), quant.zero_points.size()));
  }
  if (std::string problem = AxisProblem(quant, type.shape); !problem.empty()) {
    return wrong(std::move(problem));
  }
  const IntegerRange integers = IntegerRangeOf(type.dtype);
  for (size_t c = 0; c < quant.scales.size(); ++c) {
    if (!std::isfinite(quant.scales[c]) || (quant.scales[c] <= 0 && !quant.blocked())) {
      return wrong(fmt::format("scale {} must be {}finite", quant.scales[c],
                               quant.blocked() ? "" : "positive and "));
    }
    if (quant.zero_points[c] < integers.min || quant.zero_points[c] > integers.max) {
      return wrong(
          fmt::format("zero point {} is outside of {}", quant.zero_points[c], Name(type.dtype)));
    }
  }
  return {};
}

Status Verify(const Graph& graph) {
  OCTAVO_CHECK(CheckNames(graph));
  OCTAVO_CHECK(CheckValues(graph));
  std::vector<bool> defined(graph.value_bound(), false);
  for (size_t i = 0; i < graph.value_bound(); ++i) {
    const Value& value = graph.value(ValueId{static_cast<int32_t>(i)});
    defined[i] = !value.erased && (value.is_input || value.constant);
  }
  Inference inference(graph);
  Uses uses(graph);
  for (const NodeId id : graph.nodes()) {
    OCTAVO_CHECK(CheckLinks(graph, id, defined, uses));
    for (const ValueId result : graph.node(id).results) defined[result.index] = true;
    OCTAVO_CHECK(CheckTypes(graph, id, inference));
    OCTAVO_CHECK(CheckQuantized(graph, graph.node(id)));
    OCTAVO_CHECK(CheckBias(graph, graph.node(id)));
    OCTAVO_CHECK(CheckConversion(graph, graph.node(id)));
  }
  for (const ValueId output : graph.outputs()) {
    if (graph.value(output).erased || !defined[output.index]) {
      return Fail(Code::kInternal, "(G1) output '{}' is not computed", graph.name(output));
    }
  }
  return {};
}

}  // namespace octavo::ir
