// SPDX-License-Identifier: Apache-2.0
// Attributes that became inputs (axes, bounds, pads, sizes), and new options of these operators.
#include <limits>

#include "core/onnx/versions/conversions.h"

namespace octavo::onnx {
namespace {

Upgrade AxesToInput, SliceToInputs, ClipToInputs, PadToInputs, SplitToInput, SplitNumOutputs,
    TopKToInput, DftAxisToInput;
Downgrade AxesToAttribute, SliceToAttributes, ClipToAttributes, PadToAttributes, PadWithoutAxes,
    PadWithoutWrap, SplitToAttribute, SplitWithoutNumOutputs, TopKToAttribute, TopKLargestSorted,
    DftAxisToAttribute;

constexpr VersionRow kRows[] = {
    {.ops = {"Slice"}, .since = 10, .upgrade = &SliceToInputs, .downgrade = &SliceToAttributes},
    {.ops = {"TopK"}, .since = 10, .upgrade = &TopKToInput, .downgrade = &TopKToAttribute},
    {.ops = {"TopK"}, .since = 11, .downgrade = &TopKLargestSorted},
    {.ops = {"Clip"}, .since = 11, .upgrade = &ClipToInputs, .downgrade = &ClipToAttributes},
    {.ops = {"Pad"}, .since = 11, .upgrade = &PadToInputs, .downgrade = &PadToAttributes},
    {.ops = {"Pad"}, .since = 18, .downgrade = &PadWithoutAxes},
    {.ops = {"Pad"}, .since = 19, .downgrade = &PadWithoutWrap},
    {.ops = {"Squeeze", "Unsqueeze", "ReduceSum"},
     .since = 13,
     .upgrade = &AxesToInput,
     .downgrade = &AxesToAttribute},
    {.ops = {"ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
             "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"},
     .since = 18,
     .upgrade = &AxesToInput,
     .downgrade = &AxesToAttribute},
    {.ops = {"Split"}, .since = 13, .upgrade = &SplitToInput, .downgrade = &SplitToAttribute},
    {.ops = {"Split"},
     .since = 18,
     .upgrade = &SplitNumOutputs,
     .downgrade = &SplitWithoutNumOutputs},
    {.ops = {"DFT"}, .since = 20, .upgrade = &DftAxisToInput, .downgrade = &DftAxisToAttribute},
};

using ir::Tensor;

// Moves an integer list from an attribute, if present, to an input.
void ListToInput(Draft& draft, std::string_view name, size_t input) {
  if (!draft.attributes.Has(name)) return;
  const std::vector<int64_t> list = draft.attributes.Ints(name);
  draft.Set(input, Operand::Literal(std::string(name), Tensor::Ints(list)));
  draft.attributes.Erase(name);
}

// The inverse; false if the input is present but not constant.
bool ListToAttribute(const ir::Graph& graph, Draft& draft, std::string_view name, size_t input) {
  if (!draft.Has(input)) return true;
  const Tensor* list = ConstantOf(graph, draft, input);
  if (list == nullptr || !ir::IsInteger(list->dtype())) return false;
  draft.attributes.Set(name, list->ToInts());
  draft.inputs[input] = {};
  return true;
}

void FloatToInput(Draft& draft, std::string_view name, size_t input) {
  if (!draft.attributes.Has(name)) return;
  const float value = draft.attributes.Float(name, 0);
  draft.Set(input, Operand::Literal(std::string(name), Tensor::Scalar(value)));
  draft.attributes.Erase(name);
}

bool FloatToAttribute(const ir::Graph& graph, Draft& draft, std::string_view name, size_t input) {
  if (!draft.Has(input)) return true;
  const Tensor* value = ConstantOf(graph, draft, input);
  if (value == nullptr || value->dtype() != ir::DType::kF32 || value->size() != 1) return false;
  draft.attributes.Set(name, value->values<float>()[0]);
  draft.inputs[input] = {};
  return true;
}

Status AxesToInput(const ir::Graph&, Conversion& conversion) {
  ListToInput(conversion.node, "axes", 1);
  return {};
}

bool AxesToAttribute(const ir::Graph& graph, Draft& draft) {
  const bool over_nothing = draft.attributes.Int("noop_with_empty_axes", 0) != 0;
  if (over_nothing && !draft.Has(1)) return false;
  if (!ListToAttribute(graph, draft, "axes", 1)) return false;
  // Empty axes mean all axes here; the old version has no attribute value for that.
  if (draft.attributes.Has("axes") && draft.attributes.Ints("axes").empty()) {
    if (over_nothing || draft.op == "Unsqueeze") return false;
    draft.attributes.Erase("axes");
  }
  draft.attributes.Erase("noop_with_empty_axes");
  draft.DropAbsentTail();
  return true;
}

Status SliceToInputs(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!draft.attributes.Has("starts") || !draft.attributes.Has("ends")) {
    return Invalid(draft, "attributes 'starts' and 'ends' must be given");
  }
  ListToInput(draft, "starts", 1);
  ListToInput(draft, "ends", 2);
  ListToInput(draft, "axes", 3);
  return {};
}

bool SliceToAttributes(const ir::Graph& graph, Draft& draft) {
  if (draft.Has(4)) {
    const Tensor* steps = ConstantOf(graph, draft, 4);
    if (steps == nullptr) return false;
    for (const int64_t step : steps->ToInts()) {
      if (step != 1) return false;
    }
    draft.inputs[4] = {};
  }
  for (const auto& [name, input] :
       {std::pair<const char*, size_t>{"starts", 1}, {"ends", 2}, {"axes", 3}}) {
    if (!ListToAttribute(graph, draft, name, input)) return false;
  }
  draft.DropAbsentTail();
  return true;
}

Status ClipToInputs(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  // Old exporters write the limits of float32 for an absent bound.
  const float lowest = std::numeric_limits<float>::lowest();
  if (draft.attributes.Float("min", lowest) == lowest) draft.attributes.Erase("min");
  if (draft.attributes.Float("max", -lowest) == -lowest) draft.attributes.Erase("max");
  FloatToInput(draft, "min", 1);
  FloatToInput(draft, "max", 2);
  return {};
}

bool ClipToAttributes(const ir::Graph& graph, Draft& draft) {
  if (!FloatToAttribute(graph, draft, "min", 1)) return false;
  if (!FloatToAttribute(graph, draft, "max", 2)) return false;
  draft.DropAbsentTail();
  return true;
}

Status PadToInputs(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!draft.attributes.Has("pads")) return Invalid(draft, "attribute 'pads' is missing");
  ListToInput(draft, "pads", 1);
  if (draft.attributes.Float("value", 0) == 0) draft.attributes.Erase("value");
  FloatToInput(draft, "value", 2);
  return {};
}

bool PadToAttributes(const ir::Graph& graph, Draft& draft) {
  if (!ListToAttribute(graph, draft, "pads", 1)) return false;
  if (!FloatToAttribute(graph, draft, "value", 2)) return false;
  draft.DropAbsentTail();
  return true;
}

bool PadWithoutAxes(const ir::Graph& graph, Draft& draft) {
  if (!draft.Has(3)) return true;
  const Tensor* axes = ConstantOf(graph, draft, 3);
  const Tensor* pads = ConstantOf(graph, draft, 1);
  if (axes == nullptr || pads == nullptr || !draft.inputs[0].value) return false;
  const auto rank = static_cast<int64_t>(graph.type(draft.inputs[0].value).shape.size());
  const std::vector<int64_t> some = pads->ToInts(), which = axes->ToInts();
  std::vector<int64_t> all(static_cast<size_t>(2 * rank), 0);
  if (some.size() != 2 * which.size()) return false;
  for (size_t i = 0; i < which.size(); ++i) {
    const int64_t axis = which[i] < 0 ? which[i] + rank : which[i];
    all[static_cast<size_t>(axis)] = some[i];
    all[static_cast<size_t>(axis + rank)] = some[i + which.size()];
  }
  draft.inputs[1] = Operand::Literal("pads", Tensor::Ints(all));
  draft.inputs[3] = {};
  draft.DropAbsentTail();
  return true;
}

bool PadWithoutWrap(const ir::Graph&, Draft& draft) {
  return draft.attributes.String("mode", "constant") != "wrap";
}

Status SplitToInput(const ir::Graph&, Conversion& conversion) {
  ListToInput(conversion.node, "split", 1);
  return {};
}

bool SplitToAttribute(const ir::Graph& graph, Draft& draft) {
  if (!ListToAttribute(graph, draft, "split", 1)) return false;
  draft.DropAbsentTail();
  return true;
}

// Since opset 18, a Split without sizes must have num_outputs.
Status SplitNumOutputs(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (draft.Has(1)) return {};
  draft.attributes.Set("num_outputs", static_cast<int64_t>(draft.outputs.size()));
  return {};
}

bool SplitWithoutNumOutputs(const ir::Graph& graph, Draft& draft) {
  if (!draft.attributes.Has("num_outputs")) return true;
  if (!draft.inputs[0].value) return false;
  const ir::Shape& shape = graph.type(draft.inputs[0].value).shape;
  int64_t axis = draft.attributes.Int("axis", 0);
  if (axis < 0) axis += static_cast<int64_t>(shape.size());
  const auto parts = static_cast<int64_t>(draft.outputs.size());
  // Before opset 18, the parts had to be equal; since then, the last one may be smaller.
  const int64_t extent = shape[static_cast<size_t>(axis)];
  if (extent % parts != 0) {
    const int64_t part = (extent + parts - 1) / parts;
    std::vector<int64_t> sizes(static_cast<size_t>(parts), part);
    sizes.back() = extent - part * (parts - 1);
    draft.Set(1, Operand::Literal("split", Tensor::Ints(sizes)));
  }
  draft.attributes.Erase("num_outputs");
  return true;
}

Status TopKToInput(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!draft.attributes.Has("k")) return Invalid(draft, "attribute 'k' is missing");
  draft.Set(1, Operand::Literal("k", Tensor::Ints({draft.attributes.Int("k", 0)})));
  draft.attributes.Erase("k");
  return {};
}

bool TopKToAttribute(const ir::Graph& graph, Draft& draft) {
  const Tensor* k = ConstantOf(graph, draft, 1);
  if (k == nullptr || k->size() != 1) return false;
  draft.attributes.Set("k", k->IntAt(0));
  draft.inputs.resize(1);
  return true;
}

bool TopKLargestSorted(const ir::Graph&, Draft& draft) {
  return DropDefault(draft, "largest", 1) && DropDefault(draft, "sorted", 1);
}

Status DftAxisToInput(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  draft.Set(2, Operand::Literal("axis", Tensor::Scalar(draft.attributes.Int("axis", 1))));
  draft.attributes.Erase("axis");
  return {};
}

bool DftAxisToAttribute(const ir::Graph& graph, Draft& draft) {
  if (!draft.inputs[0].value) return false;
  const auto rank = static_cast<int64_t>(graph.type(draft.inputs[0].value).shape.size());
  const Tensor* axis = ConstantOf(graph, draft, 2);
  if (draft.Has(2) && (axis == nullptr || axis->size() != 1)) return false;
  const int64_t along = axis ? axis->IntAt(0) : -2;
  draft.attributes.Set("axis", along < 0 ? along + rank : along);
  draft.inputs.resize(std::min<size_t>(draft.inputs.size(), 2));
  draft.DropAbsentTail();
  return true;
}

}  // namespace

std::span<const VersionRow> AttributeConversions() { return kRows; }

bool DropDefault(Draft& draft, std::string_view name, int64_t fallback) {
  if (draft.attributes.Int(name, fallback) != fallback) return false;
  draft.attributes.Erase(name);
  return true;
}

}  // namespace octavo::onnx
