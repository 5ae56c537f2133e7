// SPDX-License-Identifier: Apache-2.0
#include "core/float_exec/computation.h"

#include <algorithm>

#include "core/float_exec/conv_shape.h"
#include "core/float_exec/half.h"
#include "core/float_exec/kernels/conv.h"
#include "core/float_exec/kernels/matmul.h"

namespace octavo::float_exec {
namespace {

using Shapes = std::span<const ir::Shape>;
using Constants = std::span<const ir::Tensor* const>;
using Function = std::function<Status(const ir::EvalContext&)>;

const float* Data(const ir::Tensor& tensor) { return tensor.values<float>().data(); }
float* MutableData(ir::Tensor& tensor) { return tensor.mutable_values<float>().data(); }

bool AllF32(const ir::EvalContext& context) {
  return std::ranges::all_of(context.inputs, [](const ir::Tensor* input) {
    return input == nullptr || input->dtype() == ir::DType::kF32;
  });
}

// Kernels support only f32; the definition handles other types.
Function OnF32(Function kernel) {
  return [kernel = std::move(kernel)](const ir::EvalContext& context) {
    return AllF32(context) ? kernel(context) : RunDefinition(context);
  };
}

using Pack = PackedConv (*)(const ConvShape&, const float*);

Function ConvolveWith(const ConvShape& shape, const ir::Tensor* weights, Pack pack) {
  std::optional<PackedConv> packed;
  if (weights) packed = pack(shape, Data(*weights));
  return [shape, packed, pack](const ir::EvalContext& context) -> Status {
    const float* bias = context.Has(2) ? Data(context.in(2)) : nullptr;
    Convolve(packed ? *packed : pack(shape, Data(context.in(1))), Data(context.in(0)), bias,
             MutableData(context.out()), *context.pool);
    return {};
  };
}

Function PrepareConv(const ir::Node& node, Shapes shapes, Constants constants) {
  const auto shape = ConvShapeOf(node, shapes[0], shapes[1]);
  return shape ? ConvolveWith(*shape, constants[1], &PackConv2d) : nullptr;
}

Function PrepareConvTranspose(const ir::Node& node, Shapes shapes, Constants constants) {
  const auto shape = ConvTransposeShapeOf(node, shapes[0], shapes[1]);
  return shape ? ConvolveWith(*shape, constants[1], &PackConvTranspose2d) : nullptr;
}

MatrixView View(const float* data, int64_t rows, int64_t columns, bool transposed) {
  if (!transposed) return {data, rows, columns, columns, 1};
  return MatrixView{data, columns, rows, rows, 1}.Transposed();
}

// Packing pays off if many rows reuse the packed weights.
bool Prepacks(const ir::Tensor* constant, int64_t rows, bool transposed) {
  return constant != nullptr && (rows >= 8 || transposed);
}

// y = a * b + c, where c is absent or a single row.
Function PrepareGemm(const ir::Node& node, Shapes shapes, Constants constants) {
  const bool trans_a = node.attributes.Int("transA", 0) != 0;
  const bool trans_b = node.attributes.Int("transB", 0) != 0;
  if (node.attributes.Float("alpha", 1) != 1 || node.attributes.Float("beta", 1) != 1)
    return nullptr;
  const int64_t m = shapes[0][trans_a ? 1 : 0], k = shapes[0][trans_a ? 0 : 1];
  const int64_t n = shapes[1][trans_b ? 0 : 1];
  if (shapes.size() > 2 && node.input(2)) {
    const ir::Shape& c = shapes[2];
    const bool one_row = c == ir::Shape{n} || c == ir::Shape{1, n};
    if (!one_row) return nullptr;
  }
  std::optional<PackedMatrix> packed;
  if (Prepacks(constants[1], m, trans_b)) {
    packed.emplace(View(Data(*constants[1]), k, n, trans_b));
  }
  return [=](const ir::EvalContext& context) -> Status {
    const MatrixView a = View(Data(context.in(0)), m, k, trans_a);
    const MatMulBias bias{.per_column = context.Has(2) ? Data(context.in(2)) : nullptr};
    float* y = MutableData(context.out());
    if (packed) {
      MatMul(a, *packed, y, n, *context.pool, bias);
    } else {
      MatMul(a, View(Data(context.in(1)), k, n, trans_b), y, n, *context.pool, bias);
    }
    return {};
  };
}

// Offset of the matrix of each index in the broadcast batch.
std::vector<int64_t> Offsets(const ir::Shape& operand, const ir::Shape& batch) {
  const int64_t matrix = operand[operand.size() - 2] * operand.back();
  const size_t own = operand.size() - 2;
  std::vector<int64_t> offsets(ir::NumElements(batch), 0);
  int64_t stride = matrix, repeat = 1;
  for (size_t i = 0; i < batch.size(); ++i) {
    const size_t axis = batch.size() - 1 - i;
    const int64_t extent = i < own ? operand[own - 1 - i] : 1;
    for (size_t j = 0; j < offsets.size() && extent != 1; ++j) {
      offsets[j] += static_cast<int64_t>(j) / repeat % batch[axis] * stride;
    }
    stride *= extent;
    repeat *= batch[axis];
  }
  return offsets;
}

Function PrepareMatMul(const ir::Node&, Shapes shapes, Constants constants) {
  const ir::Shape& a = shapes[0];
  const ir::Shape& b = shapes[1];
  if (a.size() < 2 || b.size() < 2) return nullptr;
  const int64_t k = a.back(), n = b.back();
  if (b.size() == 2) {
    const int64_t m =
        k == 0 ? ir::NumElements(ir::Shape(a.begin(), a.end() - 1)) : ir::NumElements(a) / k;
    std::optional<PackedMatrix> packed;
    if (Prepacks(constants[1], m, false)) {
      packed.emplace(View(Data(*constants[1]), k, n, false));
    }
    return [=](const ir::EvalContext& context) -> Status {
      const MatrixView left = View(Data(context.in(0)), m, k, false);
      float* y = MutableData(context.out());
      if (packed) {
        MatMul(left, *packed, y, n, *context.pool);
      } else {
        MatMul(left, View(Data(context.in(1)), k, n, false), y, n, *context.pool);
      }
      return {};
    };
  }
  const int64_t m = a[a.size() - 2];
  return [=, a = a, b = b](const ir::EvalContext& context) -> Status {
    const ir::Shape& result = context.out().shape();
    const ir::Shape batch(result.begin(), result.end() - 2);
    const std::vector<int64_t> from_a = Offsets(a, batch), from_b = Offsets(b, batch);
    std::vector<int64_t> to(from_a.size());
    for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<int64_t>(i) * m * n;
    MatMulBatched(View(Data(context.in(0)), m, k, false), View(Data(context.in(1)), k, n, false),
                  MutableData(context.out()), n,
                  {.count = static_cast<int64_t>(to.size()),
                   .a_offsets = from_a.data(),
                   .b_offsets = from_b.data(),
                   .c_offsets = to.data()},
                  *context.pool);
    return {};
  };
}

struct Row {
  std::string_view op;
  Function (*prepare)(const ir::Node&, Shapes, Constants);
};
constexpr Row kRows[] = {
    {"Conv", &PrepareConv},
    {"ConvTranspose", &PrepareConvTranspose},
    {"Gemm", &PrepareGemm},
    {"MatMul", &PrepareMatMul},
};

}  // namespace

Result<Computation> Prepare(const ir::Node& node, std::span<const ir::Shape> shapes,
                            std::span<const ir::Tensor* const> constants) {
  if (node.op->definition == nullptr) {
    return Fail(Code::kUnimplemented, "{} '{}': the operator has no float definition here",
                node.op->name, node.name)
        .Node(node.name);
  }
  const auto real = [](const ir::Tensor* tensor) {
    return tensor == nullptr || tensor->dtype() == ir::DType::kF32;
  };
  const auto row = std::ranges::find(kRows, node.op->name, &Row::op);
  if (row != std::end(kRows) && node.op->domain.empty() && std::ranges::all_of(constants, real)) {
    if (Function kernel = row->prepare(node, shapes, constants)) {
      return Computation{OnF32(std::move(kernel)), true};
    }
  }
  // Clamps and elementwise sums write every element of their results.
  return Computation{&RunDefinition, node.op->clamps || node.op->sums};
}

}  // namespace octavo::float_exec
