// Integer matrix products: packed 8-bit kernels, and the definition for any storage up to 16 bits
// with sums in int64.
#include "core/ops/data_op.h"
#include "core/runtime/int8/gemm.h"
#include "core/runtime/product.h"
#include "core/runtime/requantize.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kGemmOps[] = {"Gemm"};
constexpr std::string_view kMatMulOps[] = {"MatMul"};

// A product [m, k] x [k, n], for each item of a batch.
struct Sizes {
  int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  std::vector<int64_t> a_offsets = {0}, b_offsets = {0};

  double operations() const {
    return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) *
           static_cast<double>(a_offsets.size());
  }
};

Sizes GemmSizes(const NodeView& view) {
  const bool trans_a = view.node.attributes.Int("transA", 0) != 0;
  const bool trans_b = view.node.attributes.Int("transB", 0) != 0;
  const ir::Shape& a = view.in(0).shape;
  const ir::Shape& b = view.in(1).shape;
  return {.m = a[trans_a ? 1 : 0],
          .n = b[trans_b ? 0 : 1],
          .k = a[trans_a ? 0 : 1],
          .trans_a = trans_a,
          .trans_b = trans_b};
}

int GemmWeightAxis(const NodeView& view) {
  return view.node.attributes.Int("transB", 0) != 0 ? 0 : 1;
}

// alpha and beta are 1, and the bias is one row for all.
bool IsSimpleGemm(const NodeView& view) {
  const ir::AttrMap& attributes = view.node.attributes;
  if (attributes.Float("alpha", 1) != 1 || attributes.Float("beta", 1) != 1) return false;
  if (!view.Has(2)) return true;
  const int64_t n = view.out().shape[1];
  return view.in(2).shape == ir::Shape{n} || view.in(2).shape == ir::Shape{1, n};
}

// Where each item's matrix begins, with ONNX's broadcast of the batches.
std::vector<int64_t> ItemOffsets(const ir::Shape& operand, const ir::Shape& batch) {
  const int64_t matrix = operand[operand.size() - 2] * operand.back();
  const ir::Shape own(operand.begin(), operand.end() - 2);
  const ir::Shape strides = ops::BroadcastStrides(own, batch);
  std::vector<int64_t> offsets = {0};
  for (size_t axis = 0; axis < batch.size(); ++axis) {
    std::vector<int64_t> more;
    for (const int64_t offset : offsets) {
      for (int64_t i = 0; i < batch[axis]; ++i) more.push_back(offset + i * strides[axis] * matrix);
    }
    offsets = std::move(more);
  }
  return offsets;
}

// Of ranks from 2 on; with a matrix on the right all rows of the left are one item.
Sizes MatMulSizes(const NodeView& view) {
  const ir::Shape& a = view.in(0).shape;
  const ir::Shape& b = view.in(1).shape;
  Sizes sizes{.m = a[a.size() - 2], .n = b.back(), .k = a.back()};
  if (b.size() == 2) {
    for (size_t i = 0; i + 2 < a.size(); ++i) sizes.m *= a[i];
    return sizes;
  }
  const ir::Shape& y = view.out().shape;
  const ir::Shape batch(y.begin(), y.end() - 2);
  sizes.a_offsets = ItemOffsets(a, batch);
  sizes.b_offsets = ItemOffsets(b, batch);
  return sizes;
}

int MatMulWeightAxis(const NodeView& view) { return static_cast<int>(view.in(1).shape.size()) - 1; }

// ---------------------------------------------------------------- constant weights

// B as [n][k], in which FitsInt32 looks at channels.
std::vector<uint8_t> ByColumns(const ir::Tensor& b, const Sizes& sizes) {
  const auto bytes = b.values<uint8_t>();
  std::vector<uint8_t> columns(bytes.begin(), bytes.end());
  for (int64_t i = 0; !sizes.trans_b && i < sizes.n * sizes.k; ++i) {
    columns[i] = bytes[i % sizes.k * sizes.n + i / sizes.k];
  }
  return columns;
}

bool FitsPacked(const NodeView& view, const Sizes& sizes) {
  if (sizes.trans_a || sizes.m == 0 || sizes.n == 0 || sizes.k == 0) return false;
  const std::vector<uint8_t> columns = ByColumns(*view.constant(1), sizes);
  int8::Weights weights = WeightsOf(view.in(1), *view.constant(1));
  weights.data = columns.data();
  return int8::FitsInt32(weights, sizes.n, sizes.k, ActivationOf(view.in(0)), ConstantBias(view));
}

Result<Prepared> PreparePacked(const NodeView& view, const Sizes& sizes) {
  const std::vector<float> multipliers =
      Multipliers(*view.in(0).quant, *view.in(1).quant, *view.out().quant, sizes.n);
  OCTAVO_TRY(
      const int8::GemmPlan plan,
      int8::GemmPlan::Prepare({.n = sizes.n,
                               .k = sizes.k,
                               .input = ActivationOf(view.in(0)),
                               .weights = WeightsOf(view.in(1), *view.constant(1)),
                               .layout = sizes.trans_b ? int8::Layout::kNk : int8::Layout::kKn,
                               .bias = ConstantBias(view),
                               .finish = FinishOf(view.out(), multipliers)}));
  return Prepared{.run = [plan, m = sizes.m](const StepContext& context) -> Status {
                    plan.Run(context.in(0).raw(), m, context.out().mutable_raw(), *context.pool);
                    return {};
                  },
                  .operations = sizes.operations()};
}

bool MatchInt8Gemm(const NodeView& view) {
  return IsInt8Product(view, GemmWeightAxis(view)) && IsSimpleGemm(view) &&
         FitsPacked(view, GemmSizes(view));
}
Result<Prepared> PrepareInt8Gemm(const NodeView& view, ThreadPool&) {
  return PreparePacked(view, GemmSizes(view));
}

bool MatchInt8MatMul(const NodeView& view) {
  return view.in(0).shape.size() >= 2 && view.in(1).shape.size() == 2 &&
         IsInt8Product(view, MatMulWeightAxis(view)) && FitsPacked(view, MatMulSizes(view));
}
Result<Prepared> PrepareInt8MatMul(const NodeView& view, ThreadPool&) {
  return PreparePacked(view, MatMulSizes(view));
}

// ---------------------------------------------------------------- two activations

int64_t Reach(const ir::Type& type) {
  const ir::CodeRange codes = ir::CodesOf(type.dtype);
  const int64_t zero = type.quant->zero_point();
  return std::max(zero - codes.min, codes.max - zero);
}

bool MatchPair(const NodeView& view) {
  if (!IsPlain8(view.in(0)) || !IsPlain8(view.in(1)) || !IsPlain8(view.out())) return false;
  if (view.in(0).shape.size() < 2 || view.in(1).shape.size() < 2) return false;
  const Sizes sizes = MatMulSizes(view);
  return view.out().elements() > 0 && sizes.k > 0 &&
         static_cast<double>(sizes.k * Reach(view.in(0)) * Reach(view.in(1))) < 0x1p31;
}

Result<Prepared> PreparePair(const NodeView& view, ThreadPool&) {
  const Sizes sizes = MatMulSizes(view);
  const std::vector<float> multipliers =
      Multipliers(*view.in(0).quant, *view.in(1).quant, *view.out().quant, 1);
  OCTAVO_TRY(const int8::MatMulPlan plan,
             int8::MatMulPlan::Prepare({.m = sizes.m,
                                        .n = sizes.n,
                                        .k = sizes.k,
                                        .a = ActivationOf(view.in(0)),
                                        .b = ActivationOf(view.in(1)),
                                        .finish = FinishOf(view.out(), multipliers)}));
  return Prepared{.run = [plan, sizes](const StepContext& context) -> Status {
                    plan.Run(context.in(0).raw(), context.in(1).raw(), context.out().mutable_raw(),
                             {.count = static_cast<int64_t>(sizes.a_offsets.size()),
                              .a_offsets = sizes.a_offsets.data(),
                              .b_offsets = sizes.b_offsets.data()},
                             *context.pool);
                    return {};
                  },
                  .operations = sizes.operations()};
}

// ---------------------------------------------------------------- the definition

Prepared Define(const NodeView& view, const Sizes& sizes) {
  const ir::Quant a_quant = *view.in(0).quant, b_quant = *view.in(1).quant;
  const auto multipliers = Multipliers(a_quant, b_quant, *view.out().quant, sizes.n);
  const int32_t zero = view.out().quant->zero_point();
  return {.run = [=](const StepContext& context) -> Status {
            std::vector<int32_t> a(context.in(0).size()), b(context.in(1).size());
            Center(context.in(0), a_quant, a.data());
            Center(context.in(1), b_quant, b.data());
            const auto bias = BiasOf(context.Has(2) ? &context.in(2) : nullptr, sizes.n);
            ir::Tensor& y = context.out();
            const int64_t a_row = sizes.trans_a ? 1 : sizes.k, a_step = sizes.trans_a ? sizes.m : 1;
            const int64_t b_column = sizes.trans_b ? sizes.k : 1;
            const int64_t b_step = sizes.trans_b ? 1 : sizes.n;
            context.pool->For(y.size(), 1024, [&](int64_t begin, int64_t end) {
              for (int64_t i = begin; i < end; ++i) {
                const int64_t n = i % sizes.n, m = i / sizes.n % sizes.m;
                const int64_t item = i / sizes.n / sizes.m;
                const int32_t* left = a.data() + sizes.a_offsets[item] + m * a_row;
                const int32_t* right = b.data() + sizes.b_offsets[item] + n * b_column;
                int64_t sum = bias[n];
                for (int64_t k = 0; k < sizes.k; ++k) {
                  sum += static_cast<int64_t>(left[k * a_step]) * right[k * b_step];
                }
                StoreCode(y, i, Requantize(sum, multipliers[n], zero, ir::CodesOf(y.dtype())));
              }
            });
            return {};
          },
          .operations = sizes.operations()};
}

bool MatchGemm(const NodeView& view) {
  return IsIntegerProduct(view, GemmWeightAxis(view)) && IsSimpleGemm(view);
}
Result<Prepared> PrepareGemm(const NodeView& view, ThreadPool&) {
  return Define(view, GemmSizes(view));
}

bool MatchMatMul(const NodeView& view) {
  return view.in(0).shape.size() >= 2 && view.in(1).shape.size() >= 2 &&
         IsIntegerProduct(view, MatMulWeightAxis(view));
}
Result<Prepared> PrepareMatMul(const NodeView& view, ThreadPool&) {
  return Define(view, MatMulSizes(view));
}

}  // namespace

extern constexpr Kernel kInt8Gemm{.name = "int8-gemm",
                                  .ops = kGemmOps,
                                  .match = &MatchInt8Gemm,
                                  .prepare = &PrepareInt8Gemm,
                                  .isa = &CurrentIsaName};

extern constexpr Kernel kInt8MatMul{.name = "int8-matmul",
                                    .ops = kMatMulOps,
                                    .match = &MatchInt8MatMul,
                                    .prepare = &PrepareInt8MatMul,
                                    .isa = &CurrentIsaName};

extern constexpr Kernel kInt8MatMulPair{.name = "int8-matmul-pair",
                                        .ops = kMatMulOps,
                                        .match = &MatchPair,
                                        .prepare = &PreparePair,
                                        .isa = &CurrentIsaName};

extern constexpr Kernel kIntegerGemm{
    .name = "integer-gemm", .ops = kGemmOps, .match = &MatchGemm, .prepare = &PrepareGemm};

extern constexpr Kernel kIntegerMatMul{
    .name = "integer-matmul", .ops = kMatMulOps, .match = &MatchMatMul, .prepare = &PrepareMatMul};

}  // namespace octavo::runtime
