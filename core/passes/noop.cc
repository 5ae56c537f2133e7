#include "core/passes/noop.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/ops/code_rescale.h"
#include "core/ops/mode_quantize.h"
#include "core/ops/quantize_math.h"
#include "core/passes/rewrite.h"
#include "core/passes/type_range.h"

namespace octavo::passes {
namespace {

using ir::Graph;
using ir::Node;
using ir::Numerics;
using ir::ValueId;

bool AllEqual(const std::optional<std::vector<int64_t>>& list, int64_t expected) {
  return list && std::all_of(list->begin(), list->end(), [&](int64_t x) { return x == expected; });
}

// The caller has compared the types, so a shape that stays is known.
bool Always(const Graph&, const Node&, Numerics) { return true; }

bool ResultsUnread(const Graph& graph, const Node& node, Numerics = {}) {
  for (size_t i = 1; i < node.results.size(); ++i) {
    if (graph.CountUses(node.results[i]) > 0) return false;
  }
  return true;
}

// Axes longer than 1 stay in order.
bool KeepsOrder(const Graph& graph, const Node& node, Numerics) {
  const ir::Shape& shape = graph.type(node.input(0)).shape;
  std::vector<int64_t> reversed;
  for (size_t i = shape.size(); i-- > 0;) reversed.push_back(static_cast<int64_t>(i));
  int64_t last = -1;
  for (const int64_t axis : node.attributes.Ints("perm", reversed)) {
    if (shape[axis] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

// With the shape kept, only a backward step changes anything.
bool StepsForward(const Graph& graph, const Node& node, Numerics) {
  if (!node.input(4)) return true;
  const auto steps = IntsOf(graph, node.input(4));
  return steps && std::all_of(steps->begin(), steps->end(), [](int64_t s) { return s > 0; });
}

bool PadsNothing(const Graph& graph, const Node& node, Numerics) {
  return AllEqual(IntsOf(graph, node.input(1)), 0);
}

bool OneInput(const Graph&, const Node& node, Numerics = {}) { return node.inputs.size() == 1; }
bool OneResult(const Graph&, const Node& node, Numerics) { return node.results.size() == 1; }

bool WindowOfOne(const Graph& graph, const Node& node, Numerics) {
  const ir::AttrMap& attributes = node.attributes;
  return AllEqual(attributes.Ints("kernel_shape", {0}), 1) &&
         AllEqual(attributes.Ints("strides"), 1) && AllEqual(attributes.Ints("pads"), 0) &&
         ResultsUnread(graph, node);
}

// The other operand is one repeated element, which the op leaves every x as it is with.
template <class Neutral>
bool NeutralSecond(const Graph& graph, const Node& node, Neutral neutral) {
  if (node.inputs.size() != 2 || graph.type(node.input(0)).quantized()) return false;
  const ir::Tensor* tensor = ConstantOf(graph, node.input(1));
  if (tensor == nullptr || tensor->dtype() != ir::DType::kF32) return false;
  const auto values = tensor->values<float>();
  return std::all_of(values.begin(), values.end(), neutral);
}

bool SecondIsOne(const Graph& graph, const Node& node, Numerics) {
  return NeutralSecond(graph, node, [](float x) { return x == 1.0f; });
}
// x + 0 turns -0 into 0; x + -0 and x - 0 are x.
bool SecondIsMinusZero(const Graph& graph, const Node& node, Numerics) {
  return NeutralSecond(graph, node, [](float x) { return x == 0.0f && std::signbit(x); });
}
bool SecondIsPlusZero(const Graph& graph, const Node& node, Numerics) {
  return NeutralSecond(graph, node, [](float x) { return x == 0.0f && !std::signbit(x); });
}
// The elements of the second operand, a constant, as they are stored: codes of its type, rounded by
// the mode where they are pending.
std::optional<ir::Tensor> SecondConstant(const Graph& graph, const Node& node, Numerics mode) {
  if (node.inputs.size() != 2) return std::nullopt;
  const Node* quantize = graph.Producer(node.input(1));
  const bool pending = IsOwn(quantize, "Quantize");
  const ir::PayloadPtr& payload =
      graph.value(pending ? quantize->inputs[0] : node.input(1)).constant;
  if (payload == nullptr || payload->tensor.size() == 0) return std::nullopt;
  const ir::Type& type = graph.type(node.input(1));
  if (pending) return ops::QuantizeTensorIn(mode, payload->tensor, type);
  return payload->tensor.Clone();
}

// What both sides become where the mode compares them: reals where a Rescale is Quantize of
// Dequantize, which no rounding puts in another order; else codes of the first one's type.
bool ComparesReals(Numerics mode) {
  return mode == Numerics::kOnnx || mode == Numerics::kGlowInterpreter;
}

// Whether no code of the first operand that occurs is past any element of the second one, upwards
// (+1) or downwards.
bool SecondIsPastCodes(const Graph& graph, const Node& node, int direction, Numerics mode) {
  const ir::Type& type = graph.type(node.input(0));
  if (!type.quantized() || !type.quant->per_tensor()) return false;
  const std::optional<ir::Tensor> second = SecondConstant(graph, node, mode);
  const ir::Type& other = second ? graph.type(node.input(1)) : type;
  if (!second || !other.quantized() || !other.quant->per_tensor()) return false;
  const ir::CodeRange codes = OccurringCodes(type, 0, mode);
  const int64_t end = direction > 0 ? codes.max : codes.min;
  const ops::CodePair from = {other.quant->scale(), other.quant->zero_point()};
  const ops::CodePair to = {type.quant->scale(), type.quant->zero_point()};
  const auto rescale = ops::CodeRescale::Of(mode, from, to);
  if (!rescale) return false;
  const float end_real = ops::DequantizeOne(static_cast<int32_t>(end), to.scale, to.zero_point);
  for (int64_t i = 0; i < second->size(); ++i) {
    const int64_t code = second->IntAt(i);
    double past = 0;
    if (ComparesReals(mode)) {
      past = double{ops::DequantizeOne(static_cast<int32_t>(code), from.scale, from.zero_point)} -
             double{end_real};
    } else {
      const ir::CodeRange most = ir::CodesOf(type.dtype);
      past = static_cast<double>(std::clamp(rescale->BeforeClamp(code), most.min, most.max) - end);
    }
    if (past * direction < 0) return false;
  }
  return true;
}

bool SecondIsLeast(const Graph& graph, const Node& node, Numerics mode) {
  return OneInput(graph, node) || SecondIsPastCodes(graph, node, -1, mode) ||
         NeutralSecond(graph, node, [](float x) { return x == -INFINITY; });
}
bool SecondIsGreatest(const Graph& graph, const Node& node, Numerics mode) {
  return OneInput(graph, node) || SecondIsPastCodes(graph, node, +1, mode) ||
         NeutralSecond(graph, node, [](float x) { return x == INFINITY; });
}
// The operand that a Where with the same answer everywhere takes.
ValueId ChosenOperand(const Graph& graph, const Node& node) {
  if (!Is(node, "Where")) return node.input(0);
  const ir::Tensor* condition = ConstantOf(graph, node.input(0));
  if (condition == nullptr || condition->size() == 0) return {};
  const auto answers = condition->values<bool>();
  const bool uniform =
      std::ranges::all_of(answers, [&](bool answer) { return answer == answers[0]; });
  return uniform ? node.input(answers[0] ? 1 : 2) : ValueId{};
}
bool NoBounds(const Graph&, const Node& node, Numerics) { return !node.input(1) && !node.input(2); }

struct Row {
  std::string_view op;
  bool (*changes_nothing)(const Graph& graph, const Node& node, Numerics mode);
};

constexpr std::array kRows = {
    Row{"Add", &SecondIsMinusZero}, Row{"AveragePool", &WindowOfOne},
    Row{"Cast", &Always},           Row{"Clip", &NoBounds},
    Row{"Concat", &OneInput},       Row{"Div", &SecondIsOne},
    Row{"Dropout", &ResultsUnread}, Row{"Expand", &Always},
    Row{"Flatten", &Always},        Row{"Identity", &Always},
    Row{"Max", &SecondIsLeast},     Row{"MaxPool", &WindowOfOne},
    Row{"Mean", &OneInput},         Row{"Min", &SecondIsGreatest},
    Row{"Mul", &SecondIsOne},       Row{"Pad", &PadsNothing},
    Row{"Reshape", &Always},        Row{"Slice", &StepsForward},
    Row{"Split", &OneResult},       Row{"Squeeze", &Always},
    Row{"Sub", &SecondIsPlusZero},  Row{"Sum", &OneInput},
    Row{"Tile", &Always},           Row{"Transpose", &KeepsOrder},
    Row{"Unsqueeze", &Always},      Row{"Where", &Always},
};

const Row* RowOf(const Node& node) {
  if (!node.op->domain.empty() || !node.input(0)) return nullptr;
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.op == node.op->name; });
  return row == kRows.end() ? nullptr : &*row;
}

ir::DType ExpressedDType(const ir::Type& type) {
  return type.quantized() ? ir::DType::kF32 : type.dtype;
}

}  // namespace

ValueId SameRealsAs(const Graph& graph, const Node& node, Numerics mode) {
  const Row* row = RowOf(node);
  if (row == nullptr) return {};
  const ValueId operand = ChosenOperand(graph, node);
  if (!operand) return {};
  const ir::Type &from = graph.type(operand), &to = graph.type(node.result());
  if (ExpressedDType(from) != ExpressedDType(to) || from.shape != to.shape) return {};
  return row->changes_nothing(graph, node, mode) ? operand : ValueId{};
}

ValueId SameAs(const Graph& graph, const Node& node, Numerics mode) {
  const ValueId operand = SameRealsAs(graph, node, mode);
  if (!operand) return {};
  const ir::Type &from = graph.type(operand), &to = graph.type(node.result());
  return from.dtype == to.dtype && from.quant == to.quant ? operand : ValueId{};
}

Effect EffectOfNoop(const Graph& graph, const Node& node) {
  const bool codes = graph.type(node.result()).quantized();
  return Is(node, "AveragePool") && !codes ? Effect::kRealExact : Effect::kExact;
}

}  // namespace octavo::passes
