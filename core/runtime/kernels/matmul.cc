// SPDX-License-Identifier: Apache-2.0
// Integer matrix products: packed 8-bit kernels, and the definition with int64 sums for storage of
// up to 16 bits.
#include <algorithm>

#include "core/ops/shared/data_op.h"
#include "core/runtime/int8/gemm.h"
#include "core/runtime/kernels/shared/pair_product.h"
#include "core/runtime/kernels/shared/product_operands.h"
#include "core/runtime/kernels/shared/wide_product.h"
#include "core/runtime/plan/epilogue.h"

namespace octavo::runtime {
namespace {

constexpr std::string_view kGemmOps[] = {"Gemm"};
constexpr std::string_view kMatMulOps[] = {"MatMul"};

// A product [m, k] x [k, n] for each item of a batch.
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

// Whether alpha and beta are 1 and the bias is a single row.
bool IsSimpleGemm(const NodeView& view) {
  const ir::AttrMap& attributes = view.node.attributes;
  if (attributes.Float("alpha", 1) != 1 || attributes.Float("beta", 1) != 1) return false;
  if (!view.Has(2)) return true;
  const int64_t n = view.out().shape[1];
  return view.in(2).shape == ir::Shape{n} || view.in(2).shape == ir::Shape{1, n};
}

// The offset of each item's matrix, with ONNX's broadcasting of batches.
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

// Requires ranks of at least 2; with a matrix on the right, all rows of the left are one item.
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

// B as [n][k], the order that FitsInt32 expects.
std::vector<uint8_t> ByColumns(const ir::Tensor& b, const Sizes& sizes) {
  const auto bytes = b.values<uint8_t>();
  if (sizes.trans_b) return {bytes.begin(), bytes.end()};
  constexpr int64_t kBlock = 64;  // columns whose lines stay in the cache
  std::vector<uint8_t> columns(bytes.size());
  for (int64_t first = 0; first < sizes.n; first += kBlock) {
    const int64_t last = std::min(sizes.n, first + kBlock);
    for (int64_t k = 0; k < sizes.k; ++k) {
      for (int64_t n = first; n < last; ++n) columns[n * sizes.k + k] = bytes[k * sizes.n + n];
    }
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

Result<int8::GemmPlan> PlanPacked(const NodeView& view, const Sizes& sizes,
                                  const Epilogue& epilogue) {
  const std::vector<float> multipliers = MultipliersOf(view, sizes.n);
  return int8::GemmPlan::Prepare({.n = sizes.n,
                                  .k = sizes.k,
                                  .input = ActivationOf(view.in(0)),
                                  .weights = WeightsOf(view.in(1), *view.constant(1)),
                                  .layout = sizes.trans_b ? int8::Layout::kNk : int8::Layout::kKn,
                                  .bias = ConstantBias(view),
                                  .requantization = RequantizationOf(view.out(), multipliers),
                                  .residual = epilogue.residual(),
                                  .lookup = epilogue.lookup()});
}

Result<Prepared> PreparePacked(const NodeView& view, const Sizes& sizes, const Epilogue& epilogue) {
  OCTAVO_TRY(const int8::GemmPlan plan, PlanPacked(view, sizes, epilogue));
  if (!epilogue.add) {
    return Prepared{.run = [plan, m = sizes.m](const StepContext& context) -> Status {
                      plan.Run(context.in(0).raw(), m, context.out().mutable_raw(), *context.pool);
                      return {};
                    },
                    .operations = sizes.operations()};
  }
  return Prepared{.run = [plan, m = sizes.m,
                          is_row = epilogue.add->is_row](const StepContext& context) -> Status {
                    plan.Run(context.in(0).raw(), m, {context.inputs.back()->raw(), is_row},
                             context.out().mutable_raw(), *context.pool);
                    return {};
                  },
                  .operations = sizes.operations()};
}

bool MatchInt8Gemm(const NodeView& view) {
  return IsInt8Product(view, GemmWeightAxis(view)) && IsSimpleGemm(view) &&
         FitsPacked(view, GemmSizes(view));
}
Result<Prepared> PrepareInt8Gemm(const NodeView& view, ThreadPool&) {
  return PreparePacked(view, GemmSizes(view), {});
}
Result<Prepared> PrepareFusedGemm(const NodeView& view, const Epilogue& epilogue) {
  return PreparePacked(view, GemmSizes(view), epilogue);
}

bool MatchInt8MatMul(const NodeView& view) {
  return view.in(0).shape.size() >= 2 && view.in(1).shape.size() == 2 &&
         IsInt8Product(view, MatMulWeightAxis(view)) && FitsPacked(view, MatMulSizes(view));
}
Result<Prepared> PrepareInt8MatMul(const NodeView& view, ThreadPool&) {
  return PreparePacked(view, MatMulSizes(view), {});
}
Result<Prepared> PrepareFusedMatMul(const NodeView& view, const Epilogue& epilogue) {
  return PreparePacked(view, MatMulSizes(view), epilogue);
}

// ---------------------------------------------------------------- two activations

bool MatchPair(const NodeView& view) {
  if (!IsPlain8(view.in(0)) || !IsPlain8(view.in(1))) return false;
  if (!IsPlain8(view.out()) && !IsFloatOfProduct(view)) return false;
  if (view.in(0).shape.size() < 2 || view.in(1).shape.size() < 2) return false;
  const Sizes sizes = MatMulSizes(view);
  return view.out().elements() > 0 && sizes.k > 0 &&
         static_cast<double>(sizes.k * ReachOf(view.in(0)) * ReachOf(view.in(1))) < 0x1p31;
}

Result<Prepared> PreparePair(const NodeView& view, ThreadPool&) {
  const Sizes sizes = MatMulSizes(view);
  const std::vector<float> multipliers = MultipliersOf(view, 1);
  OCTAVO_TRY(
      const int8::MatMulPlan plan,
      int8::MatMulPlan::Prepare({.m = sizes.m,
                                 .n = sizes.n,
                                 .k = sizes.k,
                                 .a = ActivationOf(view.in(0)),
                                 .b = ActivationOf(view.in(1)),
                                 .requantization = RequantizationOf(view.out(), multipliers)}));
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

// Copies a matrix with strides `row` and `column` to dense rows.
void CopyRows(const int32_t* from, int64_t row, int64_t column, int64_t rows, int64_t columns,
              int32_t* to) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) *to++ = from[r * row + c * column];
  }
}

struct Definition {
  Sizes sizes = {};
  ir::Quant a = {}, b = {};
  int64_t reach = 0;  // of b
  std::optional<PairForm> pairs = {};
  WideFinish finish = {};

  // For several rows at once: kPairLanes columns of an item and at most kRowsOfBlock of its rows
  // are one piece of work.
  void RunInPairs(std::span<const int32_t> left, const int32_t* right,
                  std::span<const int64_t> offsets, std::span<const int64_t> bias, std::byte* y,
                  ThreadPool& pool) const {
    constexpr int64_t kRowsOfBlock = 64;
    const int64_t items = static_cast<int64_t>(sizes.a_offsets.size());
    const int64_t blocks = (sizes.n + simd::kPairLanes - 1) / simd::kPairLanes;
    const int64_t chunks = (sizes.m + kRowsOfBlock - 1) / kRowsOfBlock;
    pool.For(items * chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t item = i / chunks, first = i % chunks * kRowsOfBlock;
        const int64_t count = std::min(kRowsOfBlock, sizes.m - first);
        const PairRows rows(left.subspan(sizes.a_offsets[item] + first * sizes.k, count * sizes.k),
                            count, *pairs);
        for (int64_t b = 0; b < blocks; ++b) {
          RunBlock(rows, count, right + sizes.b_offsets[item], offsets, bias, b * simd::kPairLanes,
                   (item * sizes.m + first) * sizes.n, y);
        }
      }
    });
  }

  // Rows of kPairLanes columns; the first row begins at element `at` of the result.
  void RunBlock(const PairRows& rows, int64_t count, const int32_t* right,
                std::span<const int64_t> offsets, std::span<const int64_t> bias, int64_t column,
                int64_t at, std::byte* y) const {
    const PairBlock block = rows.Pack(right + column, offsets);
    const auto columns = std::min<int64_t>(simd::kPairLanes, sizes.n - column);
    int64_t sums[simd::kPairRows * simd::kPairLanes];
    for (int64_t first = 0; first < count; first += simd::kPairRows) {
      const int64_t together = std::min<int64_t>(simd::kPairRows, count - first);
      rows.Run(block, first, together, sums);
      for (int64_t k = 0; k < together; ++k) {
        finish.Store({sums + k * simd::kPairLanes, static_cast<size_t>(columns)},
                     bias.subspan(column, columns), column, y, at + (first + k) * sizes.n + column,
                     1);
      }
    }
  }

  Status Run(const StepContext& context) const {
    const int64_t m = sizes.m, n = sizes.n, k = sizes.k;
    std::vector<int32_t> left(context.in(0).size()), right(context.in(1).size());
    Center(context.in(0), a, left.data());
    Center(context.in(1), b, right.data());
    if (sizes.trans_a) {
      const std::vector<int32_t> columns = left;
      CopyRows(columns.data(), 1, m, m, k, left.data());
    }
    if (sizes.trans_b) {
      const std::vector<int32_t> columns = right;
      CopyRows(columns.data(), 1, k, k, n, right.data());
    }
    right.resize(right.size() + simd::kRowSlack);
    const auto bias = BiasOf(context.Has(2) ? &context.in(2) : nullptr, n);
    std::vector<int64_t> offsets(k);
    for (int64_t i = 0; i < k; ++i) offsets[i] = i * n;
    std::byte* y = context.out().mutable_raw();
    if (pairs && n > 0) {
      RunInPairs(left, right.data(), offsets, bias, y, *context.pool);
      return {};
    }
    const int64_t rows = static_cast<int64_t>(sizes.a_offsets.size()) * m;
    context.pool->For(n == 0 ? 0 : rows, 1, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> sums(n);
      for (int64_t r = begin; r < end; ++r) {
        const int32_t* row = left.data() + sizes.a_offsets[r / m] + r % m * k;
        WideRow({row, static_cast<size_t>(k)}, offsets, reach)
            .Run(right.data() + sizes.b_offsets[r / m], n, sums.data());
        finish.Store(sums, bias, 0, y, r * n, 1);
      }
    });
    return {};
  }
};

// Fewer rows, or one tap, are not worth the packing.
std::optional<PairForm> PairsOf(const NodeView& view, const Sizes& sizes) {
  if (sizes.m < simd::kPairRows || sizes.k < 2) return std::nullopt;
  return PairFormOf(view.in(1), view.in(0));
}

Prepared Define(const NodeView& view, const Sizes& sizes) {
  const auto definition =
      std::make_shared<const Definition>(Definition{.sizes = sizes,
                                                    .a = *view.in(0).quant,
                                                    .b = *view.in(1).quant,
                                                    .reach = ReachOf(view.in(1)),
                                                    .pairs = PairsOf(view, sizes),
                                                    .finish = WideFinish::Of(view, sizes.n)});
  return {.run = [definition](const StepContext& context) { return definition->Run(context); },
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
                                  .prepare_fused = &PrepareFusedGemm,
                                  .isa = &CurrentIsaName};

extern constexpr Kernel kInt8MatMul{.name = "int8-matmul",
                                    .ops = kMatMulOps,
                                    .match = &MatchInt8MatMul,
                                    .prepare = &PrepareInt8MatMul,
                                    .prepare_fused = &PrepareFusedMatMul,
                                    .fuses_add = true,
                                    .fuses_row_add = true,
                                    .isa = &CurrentIsaName};

extern constexpr Kernel kInt8MatMulPair{.name = "int8-matmul-pair",
                                        .ops = kMatMulOps,
                                        .match = &MatchPair,
                                        .prepare = &PreparePair,
                                        .isa = &CurrentIsaName};

extern constexpr Kernel kIntegerGemm{.name = "integer-gemm",
                                     .ops = kGemmOps,
                                     .modes = Modes::kAll,
                                     .match = &MatchGemm,
                                     .prepare = &PrepareGemm};

extern constexpr Kernel kIntegerMatMul{.name = "integer-matmul",
                                       .ops = kMatMulOps,
                                       .modes = Modes::kAll,
                                       .match = &MatchMatMul,
                                       .prepare = &PrepareMatMul};

}  // namespace octavo::runtime
