// The list of ops that compute: arithmetic, activations, products, pools, normalizations, and the
// borders between reals and codes.
#include "core/ops/op_table.h"

// One line per op; the row itself stands in the op's file.
#define OCTAVO_COMPUTE_OPS(X) \
  X(Abs)                      \
  X(Add)                      \
  X(AveragePool)              \
  X(BatchNormalization)       \
  X(Ceil)                     \
  X(Celu)                     \
  X(Clip)                     \
  X(Conv)                     \
  X(ConvTranspose)            \
  X(Cos)                      \
  X(Dequantize)               \
  X(Div)                      \
  X(Elu)                      \
  X(Erf)                      \
  X(Exp)                      \
  X(Floor)                    \
  X(Gelu)                     \
  X(Gemm)                     \
  X(GlobalAveragePool)        \
  X(GlobalMaxPool)            \
  X(HardSigmoid)              \
  X(HardSwish)                \
  X(Hardmax)                  \
  X(InstanceNormalization)    \
  X(LRN)                      \
  X(LayerNormalization)       \
  X(LeakyRelu)                \
  X(Log)                      \
  X(LogSoftmax)               \
  X(MatMul)                   \
  X(Max)                      \
  X(MaxPool)                  \
  X(Mean)                     \
  X(Min)                      \
  X(Mish)                     \
  X(Mod)                      \
  X(Mul)                      \
  X(Neg)                      \
  X(PRelu)                    \
  X(Pow)                      \
  X(Quantize)                 \
  X(Reciprocal)               \
  X(ReduceL1)                 \
  X(ReduceL2)                 \
  X(ReduceLogSum)             \
  X(ReduceMax)                \
  X(ReduceMean)               \
  X(ReduceMin)                \
  X(ReduceProd)               \
  X(ReduceSum)                \
  X(ReduceSumSquare)          \
  X(Reinterpret)              \
  X(Relu)                     \
  X(Rescale)                  \
  X(Round)                    \
  X(Selu)                     \
  X(Sigmoid)                  \
  X(Sign)                     \
  X(Sin)                      \
  X(Softmax)                  \
  X(Softplus)                 \
  X(Softsign)                 \
  X(Sqrt)                     \
  X(Sub)                      \
  X(Sum)                      \
  X(Tanh)                     \
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
