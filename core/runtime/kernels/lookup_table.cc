// SPDX-License-Identifier: Apache-2.0
// Functions of one 8-bit operand as lookup tables of 256 results, computed by the op's definition.
#include "core/runtime/kernels/lookup_table.h"
#include "core/float_exec/computation.h"
#include "core/ops/quantize_math.h"
#include "core/runtime/kernel.h"
#include "core/runtime/kernels/shared/quant_params.h"

namespace octavo::runtime {
bool IsTabled(const NodeView& view) {
  if (!view.node.op->pointwise || !IsPlain8(view.in(0)) || !IsPlain8(view.out())) return false;
  for (size_t i = 1; i < view.node.inputs.size(); ++i) {
    if (view.Has(i) && (view.constant(i) == nullptr || view.in(i).quantized())) return false;
  }
  return true;
}

Result<ir::Tensor> ValuesAt(const NodeView& view, const ir::Tensor& real, ThreadPool& pool) {
  std::vector<const ir::Tensor*> inputs = {&real};
  std::vector<const ir::Tensor*> constants = {nullptr};
  std::vector<ir::Shape> shapes = {real.shape()};
  for (size_t i = 1; i < view.node.inputs.size(); ++i) {
    constants.push_back(view.constant(i));
    inputs.push_back(view.constant(i));
    shapes.push_back(view.Has(i) ? view.in(i).shape : ir::Shape{});
  }
  OCTAVO_TRY(const float_exec::Computation computation,
             float_exec::Prepare(view.node, shapes, constants));
  std::vector<ir::Tensor> results = {ir::Tensor(ir::DType::kF32, real.shape())};
  OCTAVO_CHECK(
      computation.run({.node = view.node, .inputs = inputs, .results = results, .pool = &pool}));
  return std::move(results[0]);
}

using Table = std::array<uint8_t, 256>;

Result<Table> TableOf(const NodeView& view, ThreadPool& pool) {
  const ir::Type& from = view.in(0);
  ir::Tensor bytes(from.dtype, {256});
  for (int i = 0; i < 256; ++i) bytes.mutable_values<uint8_t>()[i] = static_cast<uint8_t>(i);
  const ir::Tensor real = ops::DequantizeTensor(bytes, *from.quant);
  OCTAVO_TRY(const ir::Tensor values, ValuesAt(view, real, pool));
  ir::Type to = view.out();
  to.shape = {256};
  const ir::Tensor quantized = ops::QuantizeTensor(values, to);
  Table table{};
  std::ranges::copy(quantized.values<uint8_t>(), table.begin());
  return table;
}

namespace {

Result<Prepared> Prepare(const NodeView& view, ThreadPool& pool) {
  OCTAVO_TRY(const Table table, TableOf(view, pool));
  return Prepared{
      .run = [table, loops = &simd::CurrentKernels()](const StepContext& context) -> Status {
        const uint8_t* x = context.in(0).values<uint8_t>().data();
        uint8_t* y = context.out().mutable_values<uint8_t>().data();
        context.pool->For(context.out().size(), kRowGrain, [&](int64_t begin, int64_t end) {
          loops->look_up(x + begin, end - begin, table.data(), y + begin);
        });
        return {};
      }};
}

}  // namespace

extern constexpr Kernel kTable{.name = "table",
                               .layout = LayoutRule::kEither,
                               .images = 1,
                               .match = &IsTabled,
                               .prepare = &Prepare,
                               .isa = &CurrentIsaName};

}  // namespace octavo::runtime
