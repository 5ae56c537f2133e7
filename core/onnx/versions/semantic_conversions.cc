// SPDX-License-Identifier: Apache-2.0
// Operators with changed semantics, removed operators, and operators with a new option.
#include <algorithm>

#include "core/ir/infer.h"
#include "core/onnx/versions/conversions.h"
#include "core/onnx/wire/tensor_proto.h"

namespace octavo::onnx {
namespace {

Upgrade FlattenedToAxis, DropoutForInference, BatchNormForInference, DropoutWithoutMask,
    CastLikeToCast, ImageScalerToMulAdd, ScatterToElements, CastWithoutRoundMode,
    GridSampleNewModes, RoiAlignCoordinateMode;
Downgrade AxisToFlattened, DropoutNoMask, Unchanged, Inexpressible, ElementsToScatter, PoolBefore8,
    PoolBefore10, PoolBefore19, ReshapeWithoutAllowZero, ShapeWithoutRange, ArgOfFirstIndex,
    DepthToSpaceInDepthOrder, CastBefore19, GemmBiasGiven, GridSampleOldModes,
    RoiAlignNoCoordinateMode, ScatterBefore16, ScatterBefore18;

constexpr VersionRow kRows[] = {
    {.ops = {"MaxPool"}, .since = 8, .downgrade = &PoolBefore8},
    // The old Mean did not broadcast; Scatter, which ScatterElements replaced, did not exist yet.
    {.ops = {"Mean"}, .since = 8, .downgrade = &Inexpressible},
    {.ops = {"Scatter"}, .since = 9, .downgrade = &Inexpressible},
    {.ops = {"MaxPool", "AveragePool"}, .since = 10, .downgrade = &PoolBefore10},
    {.ops = {"LpPool"}, .since = 18, .downgrade = &PoolBefore10},
    {.ops = {"AveragePool"}, .since = 19, .downgrade = &PoolBefore19},
    {.ops = {"Dropout"}, .since = 10, .upgrade = &DropoutWithoutMask, .downgrade = &DropoutNoMask},
    {.ops = {"Gather", "Concat", "Flatten", "ArgMax", "ArgMin", "Squeeze", "Unsqueeze", "Split",
             "ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
             "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"},
     .since = 11,
     .downgrade = &PositiveAxes},
    {.ops = {"Scatter"},
     .since = 11,
     .now = "ScatterElements",
     .upgrade = &ScatterToElements,
     .downgrade = &ElementsToScatter},
    {.ops = {"ScatterElements", "ScatterND"}, .since = 16, .downgrade = &ScatterBefore16},
    {.ops = {"ScatterElements", "ScatterND"}, .since = 18, .downgrade = &ScatterBefore18},
    {.ops = {"DepthToSpace"}, .since = 11, .downgrade = &DepthToSpaceInDepthOrder},
    {.ops = {"Gemm"}, .since = 11, .downgrade = &GemmBiasGiven},
    {.ops = {"ArgMax", "ArgMin"}, .since = 12, .downgrade = &ArgOfFirstIndex},
    {.ops = {"Softmax", "LogSoftmax", "Hardmax"},
     .since = 13,
     .upgrade = &FlattenedToAxis,
     .downgrade = &AxisToFlattened},
    {.ops = {"Reshape"}, .since = 14, .downgrade = &ReshapeWithoutAllowZero},
    {.ops = {"Shape"}, .since = 15, .downgrade = &ShapeWithoutRange},
    {.ops = {"RoiAlign"},
     .since = 16,
     .upgrade = &RoiAlignCoordinateMode,
     .downgrade = &RoiAlignNoCoordinateMode},
    {.ops = {"Cast"}, .since = 19, .downgrade = &CastBefore19},
    {.ops = {"GridSample"},
     .since = 20,
     .upgrade = &GridSampleNewModes,
     .downgrade = &GridSampleOldModes},
    {.ops = {"GroupNormalization"}, .since = 21, .upgrade = &UnsupportedVersion},

    {.ops = {"ImageScaler"}, .since = kEveryOpset, .upgrade = &ImageScalerToMulAdd},
    {.ops = {"CastLike"}, .since = kEveryOpset, .upgrade = &CastLikeToCast},
    {.ops = {"Dropout"},
     .since = kEveryOpset,
     .upgrade = &DropoutForInference,
     .downgrade = &Unchanged},
    {.ops = {"BatchNormalization"},
     .since = kEveryOpset,
     .upgrade = &BatchNormForInference,
     .downgrade = &Unchanged},
    {.ops = {"Cast"},
     .since = kEveryOpset,
     .upgrade = &CastWithoutRoundMode,
     .downgrade = &Unchanged},
};

int64_t RankOf(const ir::Graph& graph, const Draft& draft) {
  if (draft.inputs.empty() || !draft.inputs[0].value) return -1;
  return static_cast<int64_t>(graph.type(draft.inputs[0].value).shape.size());
}

bool AllAre(const ir::Shape& shape, size_t from, int64_t extent) {
  return std::all_of(shape.begin() + static_cast<int64_t>(from), shape.end(),
                     [&](int64_t e) { return e == extent; });
}

// Before opset 13, Softmax(x){axis} flattens x to a matrix; the axes before `axis` form its rows.
// This equals Softmax along `axis` if all later axes have extent 1; otherwise it becomes Reshape,
// Softmax, Reshape.
Status FlattenedToAxis(const ir::Graph& graph, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!draft.Has(0) || !draft.inputs[0].value) return Invalid(draft, "input 0 must be given");
  const ir::Shape shape = graph.type(draft.inputs[0].value).shape;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = draft.attributes.Int("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) return Invalid(draft, "axis {} is outside of rank {}", axis, rank);
  if (axis < rank && AllAre(shape, static_cast<size_t>(axis) + 1, 1)) {
    draft.attributes.Set("axis", axis);
    return {};
  }
  const auto middle = shape.begin() + axis;
  const ir::Shape matrix = {ir::NumElements({shape.begin(), middle}),
                            ir::NumElements({middle, shape.end()})};
  const std::string& output = draft.outputs.front();
  Draft flat{.name = draft.name + ".coerced",
             .op = "Reshape",
             .inputs = {draft.inputs[0], Operand::Literal("shape", ir::Tensor::Ints(matrix))},
             .outputs = {output + ".coerced"}};
  Draft inner{.name = draft.name + ".normalized",
              .op = draft.op,
              .inputs = {Operand::Local(flat.outputs[0])},
              .outputs = {output + ".normalized"},
              .attributes = {{"axis", int64_t{1}}}};
  draft.op = "Reshape";
  draft.inputs = {Operand::Local(inner.outputs[0]),
                  Operand::Literal("shape", ir::Tensor::Ints(shape))};
  draft.attributes = {};
  conversion.before = {std::move(flat), std::move(inner)};
  return {};
}

bool AxisToFlattened(const ir::Graph& graph, Draft& draft) {
  const int64_t rank = RankOf(graph, draft);
  if (rank < 0) return false;
  int64_t axis = draft.attributes.Int("axis", -1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return false;
  const ir::Shape& shape = graph.type(draft.inputs[0].value).shape;
  if (!AllAre(shape, static_cast<size_t>(axis) + 1, 1)) return false;
  draft.attributes.Set("axis", axis);
  return true;
}

// At inference, Dropout is the identity and ignores its ratio.
Status DropoutForInference(const ir::Graph& graph, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (draft.Has(2)) {
    // In training mode, it is the identity only if the ratio is 0.
    const ir::Tensor* training = ConstantOf(graph, draft, 2);
    const ir::Tensor* ratio = ConstantOf(graph, draft, 1);
    if (training == nullptr) {
      return Unsupported(draft, "training_mode depends on data")
          .Reason(ir::kDependsOnData)
          .Field(graph.name(draft.inputs[2].value));
    }
    if (training->IntAt(0) != 0 && draft.Has(1) && ratio == nullptr) {
      return Unsupported(draft, "ratio depends on data")
          .Reason(ir::kDependsOnData)
          .Field(graph.name(draft.inputs[1].value));
    }
    if (training->IntAt(0) != 0 && (ratio == nullptr || ratio->FloatAt(0) != 0)) {
      return Unsupported(draft, "training mode is not supported");
    }
  }
  draft.inputs.resize(1);
  draft.attributes = {};
  return {};
}

Status BatchNormForInference(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (draft.outputs.size() > 1) return Unsupported(draft, "its training outputs are used");
  if (draft.attributes.Int("training_mode", 0) != 0) {
    return Unsupported(draft, "training mode is not supported");
  }
  if (draft.attributes.Int("spatial", 1) != 1) {
    return Unsupported(draft, "spatial=0 (a mean for every element) is not supported");
  }
  // These attributes matter only for training.
  for (const auto* name : {"training_mode", "spatial", "momentum"}) draft.attributes.Erase(name);
  return {};
}

// Before opset 10, the mask had the data's type.
Status DropoutWithoutMask(const ir::Graph&, Conversion& conversion) {
  if (conversion.node.outputs.size() == 1) return {};
  return Unsupported(conversion.node, "its mask output is used");
}

bool DropoutNoMask(const ir::Graph&, Draft& draft) { return draft.outputs.size() == 1; }

Status CastLikeToCast(const ir::Graph& graph, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!draft.Has(1) || !draft.inputs[1].value) return Invalid(draft, "must have 2 inputs");
  const int type = WireOf(graph.type(draft.inputs[1].value).dtype);
  draft.op = "Cast";
  draft.attributes.Set("to", static_cast<int64_t>(type));
  draft.inputs.resize(1);
  return {};
}

bool Unchanged(const ir::Graph&, Draft&) { return true; }

// An experimental operator from the time of opset 7: y = x * scale + bias[c].
Status ImageScalerToMulAdd(const ir::Graph& graph, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!draft.Has(0) || !draft.inputs[0].value) return Invalid(draft, "input 0 must be given");
  const int64_t rank = RankOf(graph, draft);
  const std::vector<float> bias = draft.attributes.Floats("bias");
  const auto channels = static_cast<int64_t>(bias.size());
  if (rank < 2 || (channels != 0 && graph.type(draft.inputs[0].value).shape[1] != channels)) {
    return Invalid(draft, "{} biases do not fit input {}", channels,
                   rank < 0 ? "" : ir::ToString(graph.type(draft.inputs[0].value)));
  }
  const float scale = draft.attributes.Float("scale", 1);
  const std::string output = draft.outputs.front();
  Draft scaled{.name = draft.name + ".scaled",
               .op = "Mul",
               .inputs = {draft.inputs[0], Operand::Literal("factor", ir::Tensor::Scalar(scale))},
               .outputs = {output + ".scaled"}};
  ir::Shape shape(static_cast<size_t>(rank), 1);
  shape[1] = std::max<int64_t>(channels, 1);
  ir::Tensor offsets(ir::DType::kF32, shape);
  std::copy(bias.begin(), bias.end(), offsets.mutable_values<float>().begin());
  draft.op = "Add";
  draft.attributes = {};
  draft.inputs = {Operand::Local(scaled.outputs[0]), Operand::Literal("bias", offsets)};
  conversion.before.push_back(std::move(scaled));
  return {};
}

Status ScatterToElements(const ir::Graph&, Conversion&) { return {}; }

bool ElementsToScatter(const ir::Graph& graph, Draft& draft) {
  if (draft.attributes.String("reduction", "none") != "none") return false;
  draft.attributes.Erase("reduction");
  return PositiveAxes(graph, draft);
}

bool Inexpressible(const ir::Graph&, Draft&) { return false; }

bool PoolBefore8(const ir::Graph&, Draft& draft) {
  return draft.outputs.size() == 1 && DropDefault(draft, "storage_order", 0);
}

bool PoolBefore10(const ir::Graph&, Draft& draft) {
  const std::vector<int64_t> dilations = draft.attributes.Ints("dilations");
  if (!AllAre(dilations, 0, 1)) return false;
  draft.attributes.Erase("dilations");
  return DropDefault(draft, "ceil_mode", 0);
}

bool PoolBefore19(const ir::Graph&, Draft& draft) {
  if (!AllAre(draft.attributes.Ints("dilations"), 0, 1)) return false;
  draft.attributes.Erase("dilations");
  return true;
}

bool ReshapeWithoutAllowZero(const ir::Graph&, Draft& draft) {
  return DropDefault(draft, "allowzero", 0);
}

bool ShapeWithoutRange(const ir::Graph&, Draft& draft) {
  return !draft.attributes.Has("end") && DropDefault(draft, "start", 0);
}

bool ArgOfFirstIndex(const ir::Graph&, Draft& draft) {
  return DropDefault(draft, "select_last_index", 0);
}

bool DepthToSpaceInDepthOrder(const ir::Graph&, Draft& draft) {
  if (draft.attributes.String("mode", "DCR") != "DCR") return false;
  draft.attributes.Erase("mode");
  return true;
}

bool CastBefore19(const ir::Graph&, Draft& draft) { return DropDefault(draft, "saturate", 1); }

// round_mode affects only float8e8m0, which Octavo does not support.
Status CastWithoutRoundMode(const ir::Graph&, Conversion& conversion) {
  conversion.node.attributes.Erase("round_mode");
  return {};
}

bool GemmBiasGiven(const ir::Graph&, Draft& draft) {
  if (!draft.Has(2)) draft.Set(2, Operand::Literal("C", ir::Tensor::Scalar(0.0f)));
  return true;
}

// Before opset 20, the modes had their 2D names.
Status GridSampleNewModes(const ir::Graph&, Conversion& conversion) {
  ir::AttrMap& attributes = conversion.node.attributes;
  const std::string mode = attributes.String("mode", "bilinear");
  if (mode == "bilinear") attributes.Set("mode", std::string("linear"));
  if (mode == "bicubic") attributes.Set("mode", std::string("cubic"));
  return {};
}

bool GridSampleOldModes(const ir::Graph& graph, Draft& draft) {
  const std::string mode = draft.attributes.String("mode", "linear");
  if (mode == "linear") draft.attributes.Set("mode", std::string("bilinear"));
  if (mode == "cubic") draft.attributes.Set("mode", std::string("bicubic"));
  return RankOf(graph, draft) == 4;
}

Status RoiAlignCoordinateMode(const ir::Graph&, Conversion& conversion) {
  conversion.node.attributes.Set("coordinate_transformation_mode",
                                 std::string("output_half_pixel"));
  return {};
}

bool RoiAlignNoCoordinateMode(const ir::Graph&, Draft& draft) {
  const std::string_view name = "coordinate_transformation_mode";
  if (draft.attributes.String(name, "half_pixel") != "output_half_pixel") return false;
  draft.attributes.Erase(name);
  return true;
}

bool ScatterBefore16(const ir::Graph&, Draft& draft) {
  if (draft.attributes.String("reduction", "none") != "none") return false;
  draft.attributes.Erase("reduction");
  return true;
}

// The reductions max and min are new in opset 18.
bool ScatterBefore18(const ir::Graph&, Draft& draft) {
  const std::string reduction = draft.attributes.String("reduction", "none");
  return reduction != "max" && reduction != "min";
}

}  // namespace

std::span<const VersionRow> SemanticConversions() { return kRows; }

bool PositiveAxes(const ir::Graph& graph, Draft& draft) {
  int64_t rank = RankOf(graph, draft);
  if (rank < 0) return false;
  std::vector<int64_t> axes = draft.attributes.Ints("axes");
  if (draft.op == "Unsqueeze") rank += static_cast<int64_t>(axes.size());
  for (int64_t& axis : axes) axis += axis < 0 ? rank : 0;
  if (!axes.empty()) draft.attributes.Set("axes", axes);
  if (const int64_t axis = draft.attributes.Int("axis", 0); axis < 0) {
    draft.attributes.Set("axis", axis + rank);
  }
  return true;
}

}  // namespace octavo::onnx
