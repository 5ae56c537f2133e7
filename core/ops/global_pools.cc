// SPDX-License-Identifier: Apache-2.0
// Pools over all spatial axes and keeps them with extent 1.
//   GlobalAveragePool(x): the mean, summed in double in row-major order
//   GlobalLpPool(x) {p}: the p-norm
//   GlobalMaxPool(x): the largest element
#include <cmath>

#include "core/base/math.h"
#include "core/ops/shared/elementwise.h"
#include "core/ops/shared/real_type.h"

namespace octavo::ops {
namespace {

// ---------------------------------------------------------------- GlobalAveragePool

Status InferAverage(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  ir::Shape shape = context.shape(0);
  if (shape.size() < 2) {
    return context.Invalid("operand of shape {} must have at least 2 axes", ir::ToString(shape));
  }
  std::fill(shape.begin() + 2, shape.end(), 1);
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

template <class T>
void AveragePlanes(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t planes = x.shape()[0] * x.shape()[1];
  const int64_t size = planes == 0 ? 0 : x.size() / planes;
  const T* from = x.values<T>().data();
  T* to = context.out().mutable_values<T>().data();
  context.pool->For(planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* values = from + plane * size;
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) sum += values[i];
      to[plane] = static_cast<T>(sum / static_cast<double>(size));
    }
  });
}

Status Average(const ir::EvalContext& context) {
  WithReal(context.in(0).dtype(), [&]<class T>(T) { AveragePlanes<T>(context); });
  return {};
}

// ---------------------------------------------------------------- GlobalLpPool

constexpr ir::AttrSpec kLpAttributes[] = {{"p", ir::AttrKind::kInt}};

Status InferLp(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  ir::Shape shape = context.shape(0);
  if (shape.size() < 3 || context.node().attributes.Int("p", 2) < 1) {
    return context.Invalid("operand of shape {} must have at least 3 axes, and p be at least 1",
                           ir::ToString(shape));
  }
  std::fill(shape.begin() + 2, shape.end(), 1);
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

Status Lp(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const auto p = static_cast<double>(context.node.attributes.Int("p", 2));
  const int64_t planes = context.out().size();
  const int64_t size = planes == 0 ? 0 : x.size() / planes;
  VisitDType(x.dtype(), [&]<class T>(T) {
    const T* from = x.values<T>().data();
    T* to = context.out().mutable_values<T>().data();
    for (int64_t plane = 0; plane < planes; ++plane) {
      double sum = 0;
      for (int64_t i = 0; i < size; ++i) {
        sum += math::Pow(std::abs(static_cast<double>(from[plane * size + i])), p);
      }
      to[plane] = static_cast<T>(math::Pow(sum, 1 / p));
    }
  });
  return {};
}

// ---------------------------------------------------------------- GlobalMaxPool

Status InferMax(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  ir::Shape shape = context.shape(0);
  if (shape.size() < 2) {
    return context.Invalid("operand of shape {} must have at least 2 axes", ir::ToString(shape));
  }
  if (std::count(shape.begin() + 2, shape.end(), 0) > 0) {
    return context.Invalid("operand of shape {} has no elements to choose from",
                           ir::ToString(shape));
  }
  std::fill(shape.begin() + 2, shape.end(), 1);
  context.SetResult(0, context.dtype(0), shape);
  return {};
}

template <class T>
void MaxPlanes(const ir::EvalContext& context) {
  const ir::Tensor& x = context.in(0);
  const int64_t planes = x.shape()[0] * x.shape()[1];
  const int64_t size = planes == 0 ? 0 : x.size() / planes;
  const T* from = x.values<T>().data();
  T* to = context.out().mutable_values<T>().data();
  context.pool->For(planes, 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const T* values = from + plane * size;
      T most = values[0];
      for (int64_t i = 1; i < size; ++i) {
        if (values[i] > most || values[i] != values[i]) most = values[i];
      }
      to[plane] = most;
    }
  });
}

Status Max(const ir::EvalContext& context) {
  WithReal(context.in(0).dtype(), [&]<class T>(T) { MaxPlanes<T>(context); });
  return {};
}

}  // namespace

extern constexpr ir::OpDef kGlobalAveragePool{
    .name = "GlobalAveragePool",
    .since = ir::Since(1),
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &InferAverage,
    .definition = &Average,
};
extern constexpr ir::OpDef kGlobalLpPool{
    .name = "GlobalLpPool",
    .since = ir::Since(1),
    .attributes = kLpAttributes,
    .quant = kFreeResult,
    .rescale = kFoldsRescale,
    .infer = &InferLp,
    .definition = &Lp,
};
extern constexpr ir::OpDef kGlobalMaxPool{
    .name = "GlobalMaxPool",
    .since = ir::Since(1),
    .quant = kSameScale,
    .rescale = kMovesRescale,
    .infer = &InferMax,
    .definition = &Max,
    .moves_data = ir::Movement::kSelect,
};

}  // namespace octavo::ops
