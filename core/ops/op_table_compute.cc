// The list of ops that compute: arithmetic, activations, products, pools, normalizations, and the
// borders between reals and codes.
#include "core/ops/op_table.h"

// One line per op; the row itself stands in the op's file.
#define OCTAVO_COMPUTE_OPS(X)  \
  X(Abs)                       \
  X(Acos)                      \
  X(Acosh)                     \
  X(Add)                       \
  X(Asin)                      \
  X(Asinh)                     \
  X(Atan)                      \
  X(Atanh)                     \
  X(AveragePool)               \
  X(BatchNormalization)        \
  X(Ceil)                      \
  X(Celu)                      \
  X(Clip)                      \
  X(Conv)                      \
  X(ConvTranspose)             \
  X(Cos)                       \
  X(Cosh)                      \
  X(DFT)                       \
  X(Dequantize)                \
  X(Det)                       \
  X(Div)                       \
  X(Einsum)                    \
  X(Elu)                       \
  X(Erf)                       \
  X(Exp)                       \
  X(Floor)                     \
  X(GRU)                       \
  X(Gelu)                      \
  X(Gemm)                      \
  X(GlobalAveragePool)         \
  X(GlobalLpPool)              \
  X(GlobalMaxPool)             \
  X(GridSample)                \
  X(GroupNormalization)        \
  X(HardSigmoid)               \
  X(HardSwish)                 \
  X(Hardmax)                   \
  X(InstanceNormalization)     \
  X(LRN)                       \
  X(LSTM)                      \
  X(LayerNormalization)        \
  X(LeakyRelu)                 \
  X(Log)                       \
  X(LogSoftmax)                \
  X(LpNormalization)           \
  X(LpPool)                    \
  X(MatMul)                    \
  X(Max)                       \
  X(MaxPool)                   \
  X(MaxUnpool)                 \
  X(Mean)                      \
  X(MeanVarianceNormalization) \
  X(Min)                       \
  X(Mish)                      \
  X(Mod)                       \
  X(Mul)                       \
  X(Neg)                       \
  X(NegativeLogLikelihoodLoss) \
  X(PRelu)                     \
  X(Pow)                       \
  X(Quantize)                  \
  X(RMSNormalization)          \
  X(RNN)                       \
  X(Reciprocal)                \
  X(ReduceL1)                  \
  X(ReduceL2)                  \
  X(ReduceLogSum)              \
  X(ReduceLogSumExp)           \
  X(ReduceMax)                 \
  X(ReduceMean)                \
  X(ReduceMin)                 \
  X(ReduceProd)                \
  X(ReduceSum)                 \
  X(ReduceSumSquare)           \
  X(Reinterpret)               \
  X(Relu)                      \
  X(Rescale)                   \
  X(RoiAlign)                  \
  X(Round)                     \
  X(STFT)                      \
  X(Selu)                      \
  X(Shrink)                    \
  X(Sigmoid)                   \
  X(Sign)                      \
  X(Sin)                       \
  X(Sinh)                      \
  X(Softmax)                   \
  X(SoftmaxCrossEntropyLoss)   \
  X(Softplus)                  \
  X(Softsign)                  \
  X(Sqrt)                      \
  X(Sub)                       \
  X(Sum)                       \
  X(Swish)                     \
  X(Tan)                       \
  X(Tanh)                      \
  X(ThresholdedRelu)

namespace octavo::ops {

#define OCTAVO_DECLARE(name) extern const ir::OpDef k##name;
OCTAVO_COMPUTE_OPS(OCTAVO_DECLARE)
#undef OCTAVO_DECLARE

std::span<const ir::OpDef* const> ComputeOps() {
#define OCTAVO_ADDRESS(name) &k##name,
  static constexpr const ir::OpDef* kOps[] = {OCTAVO_COMPUTE_OPS(OCTAVO_ADDRESS)};
#undef OCTAVO_ADDRESS
  return kOps;
}

}  // namespace octavo::ops
