// The conversions that version_table.cc lists, by kind of change.
#pragma once

#include "core/onnx/draft.h"

namespace octavo::onnx::forms {

// Attributes that became inputs (forms_inputs.cc).
Status AxesToInput(const ir::Graph& graph, Conversion& conversion);
bool AxesToAttribute(const ir::Graph& graph, Draft& draft);
Status SliceToInputs(const ir::Graph& graph, Conversion& conversion);
bool SliceToAttributes(const ir::Graph& graph, Draft& draft);
Status ClipToInputs(const ir::Graph& graph, Conversion& conversion);
bool ClipToAttributes(const ir::Graph& graph, Draft& draft);
Status PadToInputs(const ir::Graph& graph, Conversion& conversion);
bool PadToAttributes(const ir::Graph& graph, Draft& draft);
bool PadWithoutAxes(const ir::Graph& graph, Draft& draft);
bool PadWithoutWrap(const ir::Graph& graph, Draft& draft);
Status DftAxisToInput(const ir::Graph& graph, Conversion& conversion);
bool DftAxisToAttribute(const ir::Graph& graph, Draft& draft);
Status SplitToInput(const ir::Graph& graph, Conversion& conversion);
bool SplitToAttribute(const ir::Graph& graph, Draft& draft);
Status SplitCountOutputs(const ir::Graph& graph, Conversion& conversion);
bool SplitWithoutCount(const ir::Graph& graph, Draft& draft);
Status TopKToInput(const ir::Graph& graph, Conversion& conversion);
bool TopKToAttribute(const ir::Graph& graph, Draft& draft);
bool TopKLargestSorted(const ir::Graph& graph, Draft& draft);

// Resizing (forms_resize.cc).
Status UpsampleToResize(const ir::Graph& graph, Conversion& conversion);
bool ResizeToUpsample(const ir::Graph& graph, Draft& draft);
bool UpsampleToAttribute(const ir::Graph& graph, Draft& draft);
Status ResizeNamesItsGrid(const ir::Graph& graph, Conversion& conversion);
bool ResizeOnOldGrid(const ir::Graph& graph, Draft& draft);
Status ResizeOneOfTwo(const ir::Graph& graph, Conversion& conversion);
bool ResizeBothGiven(const ir::Graph& graph, Draft& draft);
bool ResizePlain18(const ir::Graph& graph, Draft& draft);
bool ResizePlain19(const ir::Graph& graph, Draft& draft);

// The forms before opset 7 (forms_oldest.cc).
Status AlignedBroadcast(const ir::Graph& graph, Conversion& conversion);
Status GemmWithoutBroadcast(const ir::Graph& graph, Conversion& conversion);
Status SlopePerChannel(const ir::Graph& graph, Conversion& conversion);
Status BatchNormIsTest(const ir::Graph& graph, Conversion& conversion);
Status PadNamesItsPads(const ir::Graph& graph, Conversion& conversion);
Status ConcatOnAxis1(const ir::Graph& graph, Conversion& conversion);
Status ShapeToInput(const ir::Graph& graph, Conversion& conversion);
Status CastByName(const ir::Graph& graph, Conversion& conversion);
Status NotInThisForm(const ir::Graph& graph, Conversion& conversion);

// Normalization and what else changed its meaning (forms_meaning.cc).
Status CoercedToAxis(const ir::Graph& graph, Conversion& conversion);
bool AxisToCoerced(const ir::Graph& graph, Draft& draft);
Status DropoutForInference(const ir::Graph& graph, Conversion& conversion);
Status DropoutWithoutMask(const ir::Graph& graph, Conversion& conversion);
bool DropoutMaskless(const ir::Graph& graph, Draft& draft);
Status CastLikeToCast(const ir::Graph& graph, Conversion& conversion);
Status BatchNormForInference(const ir::Graph& graph, Conversion& conversion);
bool AsItIs(const ir::Graph& graph, Draft& draft);
Status ImageScalerToMulAdd(const ir::Graph& graph, Conversion& conversion);
Status ScatterToElements(const ir::Graph& graph, Conversion& conversion);
bool ElementsToScatter(const ir::Graph& graph, Draft& draft);
bool PoolBefore8(const ir::Graph& graph, Draft& draft);
bool PoolBefore10(const ir::Graph& graph, Draft& draft);
bool PoolBefore19(const ir::Graph& graph, Draft& draft);
bool ReshapeWithoutAllowZero(const ir::Graph& graph, Draft& draft);
bool ShapeOfAll(const ir::Graph& graph, Draft& draft);
bool ArgFirstIndex(const ir::Graph& graph, Draft& draft);
bool PositiveAxes(const ir::Graph& graph, Draft& draft);
bool DepthToSpaceInDepthOrder(const ir::Graph& graph, Draft& draft);
bool CastSaturating(const ir::Graph& graph, Draft& draft);
Status CastWithoutRoundMode(const ir::Graph& graph, Conversion& conversion);
Status GridByNewNames(const ir::Graph& graph, Conversion& conversion);
bool GridByOldNames(const ir::Graph& graph, Draft& draft);
Status RoiOnOldGrid(const ir::Graph& graph, Conversion& conversion);
bool RoiGridUnsaid(const ir::Graph& graph, Draft& draft);
bool ScatterPlain16(const ir::Graph& graph, Draft& draft);
bool ScatterPlain18(const ir::Graph& graph, Draft& draft);
bool GemmWithBias(const ir::Graph& graph, Draft& draft);

// Operators that an older version writes out in several (forms_written_out.cc).
bool RmsNormToQuotient(const ir::Graph& graph, int64_t opset, Conversion& conversion);
bool SwishToProduct(const ir::Graph& graph, int64_t opset, Conversion& conversion);
bool NormWithEpsilonToQuotient(const ir::Graph& graph, int64_t opset, Conversion& conversion);

// Shared by the files above: drops an attribute if it has its default; false if it has another.
bool DropDefault(Draft& draft, std::string_view name, int64_t fallback);

}  // namespace octavo::onnx::forms
