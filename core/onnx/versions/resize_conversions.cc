// SPDX-License-Identifier: Apache-2.0
// Upsample and Resize from opset 7 to 19.
#include <cmath>

#include "core/onnx/versions/conversions.h"

namespace octavo::onnx {
namespace {

Upgrade UpsampleToResize, ResizeCoordinateMode, ResizeDropEmptyInputs;
Downgrade ResizeToUpsample, UpsampleToAttribute, ResizeAsymmetricOnly, ResizeAllInputs,
    ResizeBefore18, ResizeBefore19;

constexpr VersionRow kRows[] = {
    {.ops = {"Upsample"}, .since = 9, .downgrade = &UpsampleToAttribute},
    {.ops = {"Upsample"},
     .since = 10,
     .now = "Resize",
     .upgrade = &UpsampleToResize,
     .downgrade = &ResizeToUpsample},
    {.ops = {"Resize"},
     .since = 11,
     .upgrade = &ResizeCoordinateMode,
     .downgrade = &ResizeAsymmetricOnly},
    {.ops = {"Resize"},
     .since = 13,
     .upgrade = &ResizeDropEmptyInputs,
     .downgrade = &ResizeAllInputs},
    {.ops = {"Resize"}, .since = 18, .downgrade = &ResizeBefore18},
    {.ops = {"Resize"}, .since = 19, .downgrade = &ResizeBefore19},
};

constexpr std::string_view kCoordinateMode = "coordinate_transformation_mode";

bool IsEmptyConstant(const ir::Graph& graph, const Draft& draft, size_t input) {
  const ir::Tensor* tensor = ConstantOf(graph, draft, input);
  return tensor != nullptr && tensor->size() == 0;
}

// Converts Upsample(X){scales} of opset 7 and Upsample(X, scales) of 9 to Resize(X, scales) of 10.
Status UpsampleToResize(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (draft.Has(1)) return {};
  const std::vector<float> scales = draft.attributes.Floats("scales");
  if (scales.empty()) return Invalid(draft, "attribute 'scales' is missing");
  draft.Set(1, Operand::Literal(
                   "scales", ir::Tensor::Of<float>({static_cast<int64_t>(scales.size())}, scales)));
  draft.attributes.Erase("scales");
  return {};
}

bool ResizeToUpsample(const ir::Graph& graph, Draft& draft) {
  const ir::Tensor* scales = ConstantOf(graph, draft, 1);
  if (scales == nullptr) return false;
  for (int64_t i = 0; i < scales->size(); ++i) {
    if (scales->FloatAt(i) < 1) return false;
  }
  return true;
}

bool UpsampleToAttribute(const ir::Graph& graph, Draft& draft) {
  const ir::Tensor* scales = ConstantOf(graph, draft, 1);
  if (scales == nullptr) return false;
  const auto values = scales->values<float>();
  draft.attributes.Set("scales", std::vector<float>(values.begin(), values.end()));
  draft.inputs.resize(1);
  return true;
}

// Resize(X, scales) of opset 10 equals {coordinate_transformation_mode=asymmetric,
// nearest_mode=floor} of 11.
Status ResizeCoordinateMode(const ir::Graph&, Conversion& conversion) {
  Draft& draft = conversion.node;
  if (!draft.Has(1)) return Invalid(draft, "input 'scales' is missing");
  Operand scales = std::move(draft.inputs[1]);
  draft.inputs.resize(1);
  draft.Set(2, std::move(scales));
  draft.attributes.Set(kCoordinateMode, std::string("asymmetric"));
  if (draft.attributes.String("mode", "nearest") == "nearest") {
    draft.attributes.Set("nearest_mode", std::string("floor"));
  }
  return {};
}

bool ResizeAsymmetricOnly(const ir::Graph& graph, Draft& draft) {
  const std::string mode = draft.attributes.String("mode", "nearest");
  if (mode != "nearest" && mode != "linear") return false;
  if (draft.attributes.String(kCoordinateMode, "half_pixel") != "asymmetric") return false;
  if (mode == "nearest" &&
      draft.attributes.String("nearest_mode", "round_prefer_floor") != "floor") {
    return false;
  }
  if (!draft.Has(2) || IsEmptyConstant(graph, draft, 2)) return false;  // by sizes
  Operand scales = std::move(draft.inputs[2]);
  draft.inputs.resize(1);
  draft.Set(1, std::move(scales));
  ir::AttrMap attributes;
  if (draft.attributes.Has("mode")) attributes.Set("mode", mode);
  draft.attributes = std::move(attributes);
  return true;
}

// tf_half_pixel_for_nn is half_pixel without the final subtraction of 0.5.  With h the half_pixel
// coordinate, floor becomes floor(h + 0.5) (round_prefer_ceil), round_prefer_floor becomes ceil(h).
Status WithoutTfHalfPixel(Draft& draft) {
  if (draft.attributes.String(kCoordinateMode, "half_pixel") != "tf_half_pixel_for_nn") return {};
  const std::string rounding = draft.attributes.String("nearest_mode", "round_prefer_floor");
  const bool nearest = draft.attributes.String("mode", "nearest") == "nearest";
  if (!nearest || (rounding != "floor" && rounding != "round_prefer_floor")) {
    return Unsupported(draft, "tf_half_pixel_for_nn with {} is not supported",
                       nearest ? rounding : "interpolation");
  }
  draft.attributes.Set(kCoordinateMode, std::string("half_pixel"));
  draft.attributes.Set("nearest_mode",
                       std::string(rounding == "floor" ? "round_prefer_ceil" : "ceil"));
  return {};
}

// Before opset 13, an unused roi, scales or sizes could be an empty tensor.
Status ResizeDropEmptyInputs(const ir::Graph& graph, Conversion& conversion) {
  Draft& draft = conversion.node;
  for (size_t input = 1; input < draft.inputs.size(); ++input) {
    if (IsEmptyConstant(graph, draft, input)) draft.inputs[input] = {};
  }
  return WithoutTfHalfPixel(draft);
}

bool ResizeAllInputs(const ir::Graph&, Draft& draft) {
  const ir::Tensor nothing(ir::DType::kF32, {0});
  if (!draft.Has(1)) draft.Set(1, Operand::Literal("roi", nothing));
  if (!draft.Has(2)) draft.Set(2, Operand::Literal("scales", nothing));
  return true;
}

bool ResizeBefore18(const ir::Graph&, Draft& draft) {
  if (draft.attributes.Has("axes")) return false;
  if (draft.attributes.String("keep_aspect_ratio_policy", "stretch") != "stretch") return false;
  draft.attributes.Erase("keep_aspect_ratio_policy");
  return DropDefault(draft, "antialias", 0);
}

bool ResizeBefore19(const ir::Graph&, Draft& draft) {
  return draft.attributes.String(kCoordinateMode, "half_pixel") != "half_pixel_symmetric";
}

}  // namespace

std::span<const VersionRow> ResizeConversions() { return kRows; }

}  // namespace octavo::onnx
