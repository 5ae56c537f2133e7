// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/kernels/shared/value_table.h"

#include <memory>

#include "core/ops/shared/data_op.h"
#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::runtime {

bool IsNarrowPerTensor(const ir::Type& type) {
  return type.quantized() && type.quant->per_tensor() && ir::SizeOf(type.dtype) <= 2;
}

Prepared LookUp(const NodeView& view, const std::vector<int32_t>& results) {
  const int64_t least = ir::IntegerRangeOf(view.in(0).dtype).min;
  return Prepared{.run = [least, table = std::make_shared<const std::vector<int32_t>>(results)](
                             const StepContext& context) -> Status {
    const ir::Tensor& x = context.in(0);
    ir::Tensor& y = context.out();
    const int32_t* values = table->data();
    ops::VisitDType(x.dtype(), [&]<class From>(From) {
      ops::VisitDType(y.dtype(), [&]<class To>(To) {
        const From* from = x.values<From>().data();
        To* to = y.mutable_values<To>().data();
        context.pool->For(y.size(), kRowGrain, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            to[i] = static_cast<To>(values[static_cast<int64_t>(from[i]) - least]);
          }
        });
      });
    });
    return {};
  }};
}

}  // namespace octavo::runtime
