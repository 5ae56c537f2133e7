// SPDX-License-Identifier: Apache-2.0
// Operator versions before opset 7: attributes that control broadcasting, renamed attributes.
#include <array>

#include "core/onnx/versions/conversions.h"

namespace octavo::onnx {
namespace {

Upgrade BroadcastAtAxis, GemmWithoutBroadcast, PReluSlopePerChannel, BatchNormWithoutIsTest,
    PaddingsToPads, ConcatDefaultAxis, ShapeToInput, CastTypeNameToNumber;

constexpr VersionRow kRows[] = {
    {.ops = {"Pad"}, .since = 2, .upgrade = &PaddingsToPads},
    {.ops = {"Concat"}, .since = 4, .upgrade = &ConcatDefaultAxis},
    {.ops = {"Reshape"}, .since = 5, .upgrade = &ShapeToInput},
    {.ops = {"Cast"}, .since = 6, .upgrade = &CastTypeNameToNumber},
    {.ops = {"Tile"}, .since = 6, .upgrade = &UnsupportedVersion},
    {.ops = {"Upsample"}, .since = 7, .upgrade = &UnsupportedVersion},
    {.ops = {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Less", "Greater"},
     .since = 7,
     .upgrade = &BroadcastAtAxis},
    {.ops = {"Gemm"}, .since = 7, .upgrade = &GemmWithoutBroadcast},
    {.ops = {"PRelu"}, .since = 7, .upgrade = &PReluSlopePerChannel},
    {.ops = {"BatchNormalization"}, .since = 7, .upgrade = &BatchNormWithoutIsTest},
};

// Appends trailing 1s to the shape of input `input`, so that broadcasting aligns it at `axis` of
// `rank`.
void AlignAt(const ir::Graph& graph, Conversion& conversion, size_t input, int64_t axis,
             int64_t rank) {
  Draft& draft = conversion.node;
  ir::Shape shape = graph.type(draft.inputs[input].value).shape;
  const int64_t behind = rank - axis - static_cast<int64_t>(shape.size());
  if (behind <= 0) return;
  shape.insert(shape.end(), static_cast<size_t>(behind), 1);
  const std::string& output = draft.outputs.front();
  Draft aligned{.name = draft.name + ".aligned",
                .op = "Reshape",
                .inputs = {draft.inputs[input], Operand::Literal("shape", ir::Tensor::Ints(shape))},
                .outputs = {output + ".aligned"}};
  draft.inputs[input] = Operand::Local(aligned.outputs[0]);
  conversion.before.push_back(std::move(aligned));
}

bool HasTwoValues(const Draft& draft) {
  return draft.inputs.size() >= 2 && draft.inputs[0].value && draft.inputs[1].value;
}

int64_t RankOf(const ir::Graph& graph, const Draft& draft, size_t input) {
  return static_cast<int64_t>(graph.type(draft.inputs[input].value).shape.size());
}

// Add(a, b){broadcast, axis}: aligns b's shape at axis `axis` of a; by default at the last axes.
Status BroadcastAtAxis(const ir::Graph& graph, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!HasTwoValues(draft)) return Invalid(draft, "must have 2 inputs");
  if (draft.attributes.Int("broadcast", 0) != 0 && draft.attributes.Has("axis")) {
    const int64_t rank = RankOf(graph, draft, 0);
    int64_t axis = draft.attributes.Int("axis", 0);
    if (axis < 0) axis += rank;
    AlignAt(graph, conversion, 1, axis, rank);
  }
  for (const auto* name : {"broadcast", "axis"}) draft.attributes.Erase(name);
  return {};
}

Status GemmWithoutBroadcast(const ir::Graph&, Conversion& conversion) {
  conversion.node.attributes.Erase("broadcast");
  return {};
}

// PRelu's slope had one element per channel (axis 1).
Status PReluSlopePerChannel(const ir::Graph& graph, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!HasTwoValues(draft)) return Invalid(draft, "must have 2 inputs");
  const ir::Shape& slope = graph.type(draft.inputs[1].value).shape;
  if (slope.size() == 1 && slope[0] != 1) {
    AlignAt(graph, conversion, 1, /*axis=*/1, RankOf(graph, draft, 0));
  }
  return {};
}

Status BatchNormWithoutIsTest(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (draft.attributes.Int("is_test", 0) == 0) {
    return Unsupported(draft, "training mode (is_test=0) is not supported");
  }
  draft.attributes.Erase("is_test");
  return {};
}

Status PaddingsToPads(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  draft.attributes.Set("pads", draft.attributes.Ints("paddings"));
  draft.attributes.Erase("paddings");
  return {};
}

Status ConcatDefaultAxis(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!draft.attributes.Has("axis")) draft.attributes.Set("axis", int64_t{1});
  return {};
}

Status ShapeToInput(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  draft.Set(1, Operand::Literal("shape", ir::Tensor::Ints(draft.attributes.Ints("shape"))));
  draft.attributes.Erase("shape");
  return {};
}

// Cast{to="FLOAT"} -> Cast{to=1}: the numbers are those of TensorProto.DataType.
Status CastTypeNameToNumber(const ir::Graph&, Conversion& conversion) {
  constexpr std::array<std::string_view, 14> kNames = {
      "UNDEFINED", "FLOAT",  "UINT8", "INT8",    "UINT16", "INT16",  "INT32",
      "INT64",     "STRING", "BOOL",  "FLOAT16", "DOUBLE", "UINT32", "UINT64"};
  Draft& draft = conversion.node;
  const std::string name = draft.attributes.String("to", "");
  for (size_t i = 1; i < kNames.size(); ++i) {
    if (kNames[i] != name) continue;
    draft.attributes.Set("to", static_cast<int64_t>(i));
    return {};
  }
  return Invalid(draft, "to='{}' is not a type name", name);
}

}  // namespace

std::span<const VersionRow> EarlyConversions() { return kRows; }

Status UnsupportedVersion(const ir::Graph&, Conversion& conversion) {
  return Unsupported(conversion.node, "its version in the model's opset is not supported");
}

}  // namespace octavo::onnx
