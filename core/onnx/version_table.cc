#include "core/onnx/version_table.h"

#include <algorithm>

#include "core/onnx/forms.h"

namespace octavo::onnx {
namespace {

using namespace forms;  // the table names a dozen of them

// Sorted by `before`, so that walking up or down applies changes in order.
constexpr VersionRow kVersions[] = {
    {.op = "ImageScaler", .before = kNewestOpset + 1, .raise = &ImageScalerToMulAdd},
    {.op = "CastLike", .before = kNewestOpset + 1, .raise = &CastLikeToCast},
    {.op = "Dropout", .before = kNewestOpset + 1, .raise = &DropoutForInference, .lower = &AsItIs},

    {.op = "Pad", .before = 2, .raise = &PadNamesItsPads},
    {.op = "Concat", .before = 4, .raise = &ConcatOnAxis1},
    {.op = "Reshape", .before = 5, .raise = &ShapeToInput},
    {.op = "Cast", .before = 6, .raise = &CastByName},
    {.op = "Tile", .before = 6, .raise = &NotInThisForm},
    {.op = "Add", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Sub", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Mul", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Div", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Pow", .before = 7, .raise = &AlignedBroadcast},
    {.op = "And", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Or", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Xor", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Equal", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Less", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Greater", .before = 7, .raise = &AlignedBroadcast},
    {.op = "Upsample", .before = 7, .raise = &NotInThisForm},
    {.op = "Gemm", .before = 7, .raise = &GemmWithoutBroadcast},
    {.op = "PRelu", .before = 7, .raise = &SlopePerChannel},
    {.op = "BatchNormalization", .before = 7, .raise = &BatchNormIsTest},

    {.op = "MaxPool", .before = 8, .lower = &PoolBefore8},

    {.op = "Upsample", .before = 9, .lower = &UpsampleToAttribute},

    {.op = "Dropout", .before = 10, .raise = &DropoutWithoutMask, .lower = &DropoutMaskless},
    {.op = "Slice", .before = 10, .raise = &SliceToInputs, .lower = &SliceToAttributes},
    {.op = "TopK", .before = 10, .raise = &TopKToInput, .lower = &TopKToAttribute},
    {.op = "MaxPool", .before = 10, .lower = &PoolBefore10},
    {.op = "AveragePool", .before = 10, .lower = &PoolBefore10},
    {.op = "Upsample",
     .before = 10,
     .now = "Resize",
     .raise = &UpsampleToResize,
     .lower = &ResizeToUpsample},

    {.op = "Clip", .before = 11, .raise = &ClipToInputs, .lower = &ClipToAttributes},
    {.op = "Pad", .before = 11, .raise = &PadToInputs, .lower = &PadToAttributes},
    {.op = "Resize", .before = 11, .raise = &ResizeNamesItsGrid, .lower = &ResizeOnOldGrid},
    {.op = "TopK", .before = 11, .lower = &TopKLargestSorted},
    {.op = "Scatter",
     .before = 11,
     .now = "ScatterElements",
     .raise = &ScatterToElements,
     .lower = &ElementsToScatter},
    {.op = "Gather", .before = 11, .lower = &PositiveAxes},
    {.op = "Concat", .before = 11, .lower = &PositiveAxes},
    {.op = "Flatten", .before = 11, .lower = &PositiveAxes},
    {.op = "ArgMax", .before = 11, .lower = &PositiveAxes},
    {.op = "ArgMin", .before = 11, .lower = &PositiveAxes},
    {.op = "Squeeze", .before = 11, .lower = &PositiveAxes},
    {.op = "Unsqueeze", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceSum", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceMean", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceMax", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceMin", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceProd", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceL1", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceL2", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceLogSum", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceLogSumExp", .before = 11, .lower = &PositiveAxes},
    {.op = "ReduceSumSquare", .before = 11, .lower = &PositiveAxes},
    {.op = "Split", .before = 11, .lower = &PositiveAxes},
    {.op = "DepthToSpace", .before = 11, .lower = &DepthToSpaceInDepthOrder},
    {.op = "Gemm", .before = 11, .lower = &GemmWithBias},

    {.op = "ArgMax", .before = 12, .lower = &ArgFirstIndex},
    {.op = "ArgMin", .before = 12, .lower = &ArgFirstIndex},

    {.op = "Squeeze", .before = 13, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "Unsqueeze", .before = 13, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "ReduceSum", .before = 13, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "Split", .before = 13, .raise = &SplitToInput, .lower = &SplitToAttribute},
    {.op = "Softmax", .before = 13, .raise = &CoercedToAxis, .lower = &AxisToCoerced},
    {.op = "LogSoftmax", .before = 13, .raise = &CoercedToAxis, .lower = &AxisToCoerced},
    {.op = "Hardmax", .before = 13, .raise = &CoercedToAxis, .lower = &AxisToCoerced},
    {.op = "Resize", .before = 13, .raise = &ResizeOneOfTwo, .lower = &ResizeBothGiven},

    {.op = "Reshape", .before = 14, .lower = &ReshapeWithoutAllowZero},
    {.op = "BatchNormalization",
     .before = kNewestOpset + 1,
     .raise = &BatchNormForInference,
     .lower = &AsItIs},

    {.op = "Shape", .before = 15, .lower = &ShapeOfAll},

    {.op = "RoiAlign", .before = 16, .raise = &RoiOnOldGrid, .lower = &RoiGridUnsaid},
    {.op = "ScatterElements", .before = 16, .lower = &ScatterPlain16},
    {.op = "ScatterND", .before = 16, .lower = &ScatterPlain16},

    {.op = "ScatterElements", .before = 18, .lower = &ScatterPlain18},
    {.op = "ScatterND", .before = 18, .lower = &ScatterPlain18},
    {.op = "ReduceMean", .before = 18, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "ReduceMax", .before = 18, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "ReduceMin", .before = 18, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "ReduceProd", .before = 18, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "ReduceL1", .before = 18, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "ReduceL2", .before = 18, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "ReduceLogSum", .before = 18, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "ReduceLogSumExp", .before = 18, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "ReduceSumSquare", .before = 18, .raise = &AxesToInput, .lower = &AxesToAttribute},
    {.op = "Split", .before = 18, .raise = &SplitCountOutputs, .lower = &SplitWithoutCount},
    {.op = "Pad", .before = 18, .lower = &PadWithoutAxes},
    {.op = "Resize", .before = 18, .lower = &ResizePlain18},
    {.op = "LpPool", .before = 18, .lower = &PoolBefore10},

    {.op = "Pad", .before = 19, .lower = &PadWithoutWrap},
    {.op = "AveragePool", .before = 19, .lower = &PoolBefore19},
    {.op = "Resize", .before = 19, .lower = &ResizePlain19},
    {.op = "Cast", .before = 19, .lower = &CastSaturating},

    {.op = "DFT", .before = 20, .raise = &DftAxisToInput, .lower = &DftAxisToAttribute},
    {.op = "GridSample", .before = 20, .raise = &GridByNewNames, .lower = &GridByOldNames},
    {.op = "GroupNormalization", .before = 21, .raise = &NotInThisForm},

    {.op = "Cast", .before = kNewestOpset + 1, .raise = &CastWithoutRoundMode, .lower = &AsItIs},
};

// What an opset may lack and says in several operators; false where it has it.
struct WrittenOutRow {
  std::string_view op = {};
  bool (*write_out)(const ir::Graph& graph, int64_t opset, Conversion& conversion) = nullptr;
};

constexpr WrittenOutRow kWrittenOut[] = {
    {"LpNormalization", &NormWithEpsilonToQuotient},
    {"RMSNormalization", &RmsNormToQuotient},
    {"Swish", &SwishToProduct},
};

struct FirstRow {
  std::string_view op = {};
  int64_t opset = 0;
};

// Operators that opset 7 did not have.
constexpr FirstRow kFirst[] = {
    {"Acosh", 9},
    {"Asinh", 9},
    {"Atanh", 9},
    {"BitShift", 11},
    {"BlackmanWindow", 17},
    {"Compress", 9},
    {"HammingWindow", 17},
    {"HannWindow", 17},
    {"MaxUnpool", 9},
    {"MelWeightMatrix", 17},
    {"STFT", 17},
    {"NegativeLogLikelihoodLoss", 12},
    {"SoftmaxCrossEntropyLoss", 12},
    {"Unique", 11},
    {"BitwiseAnd", 18},
    {"BitwiseNot", 18},
    {"BitwiseOr", 18},
    {"BitwiseXor", 18},
    {"CastLike", 15},
    {"Celu", 12},
    {"CenterCropPad", 18},
    {"Col2Im", 18},
    {"ConstantOfShape", 9},
    {"ConvInteger", 10},
    {"Cosh", 9},
    {"CumSum", 11},
    {"DFT", 17},
    {"DequantizeLinear", 10},
    {"Det", 11},
    {"DynamicQuantizeLinear", 11},
    {"Einsum", 12},
    {"Erf", 9},
    {"Expand", 8},
    {"EyeLike", 9},
    {"GatherElements", 11},
    {"GatherND", 11},
    {"Gelu", 20},
    {"GreaterOrEqual", 12},
    {"GridSample", 16},
    {"GroupNormalization", 18},
    {"HardSwish", 14},
    {"IsInf", 10},
    {"IsNaN", 9},
    {"LayerNormalization", 17},
    {"LessOrEqual", 12},
    {"MatMulInteger", 10},
    {"Mean", 8},
    {"MeanVarianceNormalization", 9},
    {"Mish", 18},
    {"Mod", 10},
    {"NonMaxSuppression", 10},
    {"NonZero", 9},
    {"OneHot", 9},
    {"QLinearConv", 10},
    {"QLinearMatMul", 10},
    {"QuantizeLinear", 10},
    {"RMSNormalization", 23},
    {"Range", 11},
    {"Resize", 10},
    {"ReverseSequence", 10},
    {"RoiAlign", 10},
    {"Round", 11},
    {"ScatterElements", 11},
    {"ScatterND", 11},
    {"Shrink", 9},
    {"Sign", 9},
    {"Sinh", 9},
    {"Swish", 24},
    {"ThresholdedRelu", 10},
    {"Trilu", 14},
    {"Where", 9},
};

}  // namespace

std::span<const VersionRow> AllVersions() { return kVersions; }

int64_t FirstVersion(std::string_view op) {
  const auto* row = std::ranges::find(kFirst, op, &FirstRow::op);
  return row == std::end(kFirst) ? 1 : row->opset;
}

Status RaiseToNewest(const ir::Graph& graph, int64_t opset, Conversion& conversion) {
  for (const VersionRow& row : kVersions) {
    if (row.op != conversion.node.op || opset >= row.before) continue;
    if (row.raise) OCTAVO_CHECK(row.raise(graph, conversion));
    if (!row.now.empty()) conversion.node.op = row.now;
  }
  return {};
}

int64_t LowerTo(const ir::Graph& graph, int64_t opset, Conversion& conversion) {
  Draft& draft = conversion.node;
  const auto* out = std::ranges::find(kWrittenOut, draft.op, &WrittenOutRow::op);
  if (out != std::end(kWrittenOut) && out->write_out(graph, opset, conversion)) return 0;
  for (size_t i = std::size(kVersions); i-- > 0;) {
    const VersionRow& row = kVersions[i];
    const std::string_view now = row.now.empty() ? row.op : row.now;
    if (now != draft.op || opset >= row.before) continue;
    if (row.lower == nullptr || !row.lower(graph, draft)) return row.before;
    draft.op = row.op;
  }
  const int64_t least = draft.domain.empty() ? FirstVersion(draft.op) : 1;
  return opset < least ? least : 0;
}

int64_t IrVersionOf(int64_t opset) {
  struct Row {
    int64_t opset, ir_version;
  };
  // ONNX releases: the IR version that came with the newest opset of each.
  constexpr Row kRows[] = {{9, 4}, {10, 5}, {11, 6}, {14, 7}, {18, 8}, {20, 9}, {22, 10}, {23, 11}};
  for (const Row& row : kRows) {
    if (opset <= row.opset) return row.ir_version;
  }
  return kNewestIrVersion;
}

}  // namespace octavo::onnx
