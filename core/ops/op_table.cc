// SPDX-License-Identifier: Apache-2.0
#include "core/ops/op_table.h"

#include <algorithm>
#include <vector>

// One line per op, sorted by name; the row kNAME is defined in the op's own file or in that of its
// family.
// clang-format off
#define OCTAVO_OPS(X) \
  X(Abs) \
  X(Acos) \
  X(Acosh) \
  X(Add) \
  X(And) \
  X(ArgMax) \
  X(ArgMin) \
  X(Asin) \
  X(Asinh) \
  X(Atan) \
  X(Atanh) \
  X(AveragePool) \
  X(BatchNormalization) \
  X(BitShift) \
  X(BitwiseAnd) \
  X(BitwiseNot) \
  X(BitwiseOr) \
  X(BitwiseXor) \
  X(BlackmanWindow) \
  X(Cast) \
  X(Ceil) \
  X(Celu) \
  X(CenterCropPad) \
  X(Clip) \
  X(Col2Im) \
  X(Compress) \
  X(Concat) \
  X(ConstantOfShape) \
  X(Conv) \
  X(ConvInteger) \
  X(ConvTranspose) \
  X(Cos) \
  X(Cosh) \
  X(CumSum) \
  X(DepthToSpace) \
  X(Dequantize) \
  X(Det) \
  X(DFT) \
  X(Div) \
  X(Dropout) \
  X(DynamicQuantizeLinear) \
  X(Einsum) \
  X(Elu) \
  X(Equal) \
  X(Erf) \
  X(Exp) \
  X(Expand) \
  X(EyeLike) \
  X(Flatten) \
  X(Floor) \
  X(Gather) \
  X(GatherElements) \
  X(GatherND) \
  X(Gelu) \
  X(Gemm) \
  X(GlobalAveragePool) \
  X(GlobalLpPool) \
  X(GlobalMaxPool) \
  X(Greater) \
  X(GreaterOrEqual) \
  X(GridSample) \
  X(GroupNormalization) \
  X(GRU) \
  X(HammingWindow) \
  X(HannWindow) \
  X(Hardmax) \
  X(HardSigmoid) \
  X(HardSwish) \
  X(Identity) \
  X(InstanceNormalization) \
  X(IsInf) \
  X(IsNaN) \
  X(LayerNormalization) \
  X(LeakyRelu) \
  X(Less) \
  X(LessOrEqual) \
  X(Log) \
  X(LogSoftmax) \
  X(LpNormalization) \
  X(LpPool) \
  X(LRN) \
  X(LSTM) \
  X(MatMul) \
  X(MatMulInteger) \
  X(Max) \
  X(MaxPool) \
  X(MaxUnpool) \
  X(Mean) \
  X(MeanVarianceNormalization) \
  X(MelWeightMatrix) \
  X(Min) \
  X(Mish) \
  X(Mod) \
  X(Mul) \
  X(Neg) \
  X(NegativeLogLikelihoodLoss) \
  X(NonMaxSuppression) \
  X(NonZero) \
  X(Not) \
  X(OneHot) \
  X(Or) \
  X(Pad) \
  X(Pow) \
  X(PRelu) \
  X(Quantize) \
  X(Range) \
  X(Reciprocal) \
  X(ReduceL1) \
  X(ReduceL2) \
  X(ReduceLogSum) \
  X(ReduceLogSumExp) \
  X(ReduceMax) \
  X(ReduceMean) \
  X(ReduceMin) \
  X(ReduceProd) \
  X(ReduceSum) \
  X(ReduceSumSquare) \
  X(Reinterpret) \
  X(Relu) \
  X(Rescale) \
  X(Reshape) \
  X(Resize) \
  X(ReverseSequence) \
  X(RMSNormalization) \
  X(RNN) \
  X(RoiAlign) \
  X(Round) \
  X(ScatterElements) \
  X(ScatterND) \
  X(Selu) \
  X(Shape) \
  X(Shrink) \
  X(Sigmoid) \
  X(Sign) \
  X(Sin) \
  X(Sinh) \
  X(Size) \
  X(Slice) \
  X(Softmax) \
  X(SoftmaxCrossEntropyLoss) \
  X(Softplus) \
  X(Softsign) \
  X(SpaceToDepth) \
  X(Split) \
  X(Sqrt) \
  X(Squeeze) \
  X(STFT) \
  X(Sub) \
  X(Sum) \
  X(Swish) \
  X(Tan) \
  X(Tanh) \
  X(ThresholdedRelu) \
  X(Tile) \
  X(TopK) \
  X(Transpose) \
  X(Trilu) \
  X(Unique) \
  X(Unsqueeze) \
  X(Where) \
  X(Xor)
// clang-format on

namespace octavo::ops {

#define OCTAVO_DECLARE(name) extern const ir::OpDef k##name;
OCTAVO_OPS(OCTAVO_DECLARE)
#undef OCTAVO_DECLARE

namespace {

auto KeyOf(const ir::OpDef* op) { return std::pair(op->domain, op->name); }

std::vector<const ir::OpDef*> SortedOps() {
#define OCTAVO_ADDRESS(name) &k##name,
  std::vector<const ir::OpDef*> all = {OCTAVO_OPS(OCTAVO_ADDRESS)};
#undef OCTAVO_ADDRESS
  std::ranges::sort(all, {}, KeyOf);
  return all;
}

}  // namespace

std::span<const ir::OpDef* const> AllOps() {
  static const std::vector<const ir::OpDef*> all = SortedOps();
  return all;
}

const ir::OpDef* FindOp(std::string_view name, std::string_view domain) {
  if (domain == "ai.onnx") domain = "";
  const auto key = std::pair(domain, name);
  const auto at = std::ranges::lower_bound(AllOps(), key, {}, KeyOf);
  return at != AllOps().end() && KeyOf(*at) == key ? *at : nullptr;
}

}  // namespace octavo::ops
