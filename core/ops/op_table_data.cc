// The list of ops that move, compare, convert or make elements.
#include "core/ops/op_table.h"

// One line per op; the row itself stands in the op's file.
#define OCTAVO_DATA_OPS(X) \
  X(And)                   \
  X(ArgMax)                \
  X(ArgMin)                \
  X(BitShift)              \
  X(BitwiseAnd)            \
  X(BitwiseNot)            \
  X(BitwiseOr)             \
  X(BitwiseXor)            \
  X(BlackmanWindow)        \
  X(Cast)                  \
  X(CenterCropPad)         \
  X(Col2Im)                \
  X(Compress)              \
  X(Concat)                \
  X(ConstantOfShape)       \
  X(ConvInteger)           \
  X(CumSum)                \
  X(DepthToSpace)          \
  X(Dropout)               \
  X(DynamicQuantizeLinear) \
  X(Equal)                 \
  X(Expand)                \
  X(EyeLike)               \
  X(Flatten)               \
  X(Gather)                \
  X(GatherElements)        \
  X(GatherND)              \
  X(Greater)               \
  X(GreaterOrEqual)        \
  X(HammingWindow)         \
  X(HannWindow)            \
  X(Identity)              \
  X(IsInf)                 \
  X(IsNaN)                 \
  X(Less)                  \
  X(LessOrEqual)           \
  X(MatMulInteger)         \
  X(MelWeightMatrix)       \
  X(NonMaxSuppression)     \
  X(NonZero)               \
  X(Not)                   \
  X(OneHot)                \
  X(Or)                    \
  X(Pad)                   \
  X(Range)                 \
  X(Reshape)               \
  X(Resize)                \
  X(ReverseSequence)       \
  X(ScatterElements)       \
  X(ScatterND)             \
  X(Shape)                 \
  X(Size)                  \
  X(Slice)                 \
  X(SpaceToDepth)          \
  X(Split)                 \
  X(Squeeze)               \
  X(Tile)                  \
  X(TopK)                  \
  X(Transpose)             \
  X(Trilu)                 \
  X(Unique)                \
  X(Unsqueeze)             \
  X(Where)                 \
  X(Xor)

namespace octavo::ops {

#define OCTAVO_DECLARE(name) extern const ir::OpDef k##name;
OCTAVO_DATA_OPS(OCTAVO_DECLARE)
#undef OCTAVO_DECLARE

std::span<const ir::OpDef* const> DataOps() {
#define OCTAVO_ENTRY(name) &k##name,
  static constexpr const ir::OpDef* kOps[] = {OCTAVO_DATA_OPS(OCTAVO_ENTRY)};
#undef OCTAVO_ENTRY
  return kOps;
}

}  // namespace octavo::ops
