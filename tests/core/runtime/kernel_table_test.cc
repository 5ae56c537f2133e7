// SPDX-License-Identifier: Apache-2.0
// Walks the kernel table.  A case of awkward shape selects every kernel, which must give the bits
// of its definition on every instruction set, in every layout and with 1, 2, 3 and 8 threads.
#include <gtest/gtest.h>

#include <set>

#include "core/base/cpu.h"
#include "core/ops/op_table.h"
#include "tests/core/runtime/naive_products.h"

namespace octavo::runtime {
namespace {

using ir::DType;
using ir::Shape;
using ir::Tensor;

const ir::OpDef& Op(std::string_view domain, std::string_view name) {
  const ir::OpDef* op = ops::FindOp(name, domain);
  if (op == nullptr) throw std::runtime_error(std::string(name));
  return *op;
}

// Expects the results `expected` of a kernel in all layouts and on all instruction sets.
void ExpectEverywhere(const KernelCase& test, const Kernel& kernel,
                      const std::vector<Tensor>& expected) {
  for (const Isa isa : MachineIsas()) {
    const ScopedIsaLimit limit(isa);
    for (const int threads : {1, 2, 3, 8}) {
      ThreadPool pool(threads);
      for (const Layout layout : {Layout::kPlain, Layout::kChannelsLast}) {
        if (layout == Layout::kPlain && kernel.layout == LayoutRule::kChannelsLast) continue;
        if (layout == Layout::kChannelsLast && kernel.layout == LayoutRule::kPlain) continue;
        EXPECT_EQ(RunKernel(test, kernel, layout, pool), expected)
            << kernel.name << " " << IsaName(isa) << " " << threads << " threads";
      }
    }
  }
}

std::set<std::string_view>& Met() {
  static std::set<std::string_view> met;
  return met;
}

// Expects that all kernels for the case give the bits of the definition, which is one of them.
void ExpectAsDefinition(const KernelCase& test) {
  const std::vector<const Kernel*> kernels = MatchingKernels(test.View());
  ThreadPool alone(1);
  const auto expected = RunKernel(test, *kernels.back(), Layout::kPlain, alone);
  for (const Kernel* kernel : kernels) {
    Met().insert(kernel->name);
    ExpectEverywhere(test, *kernel, expected);
  }
}

// Expects these integers from all kernels except the float definition.
void ExpectStored(const KernelCase& test, const std::vector<int32_t>& stored) {
  std::vector<const Kernel*> kernels = MatchingKernels(test.View());
  kernels.pop_back();
  Tensor expected(test.View().out().dtype, test.View().out().shape);
  ASSERT_EQ(expected.size(), static_cast<int64_t>(stored.size()));
  const int size = ir::SizeOf(expected.dtype());
  for (size_t i = 0; i < stored.size(); ++i) {
    std::memcpy(expected.mutable_raw() + i * size, &stored[i], size);
  }
  EXPECT_FALSE(kernels.empty());
  for (const Kernel* kernel : kernels) {
    Met().insert(kernel->name);
    ExpectEverywhere(test, *kernel, {expected});
  }
}

struct ConvCase {
  Shape x, w, y;
  Geometry geometry = {};
};

void CheckConv(std::string_view op, const ConvCase& test, DType x, DType w) {
  const bool transposed = op == "ConvTranspose";
  const int64_t outs = test.y[1];
  const bool wide = x == DType::kI16 || x == DType::kU16;
  const ir::Type bias = transposed ? QuantType(DType::kI32, {outs}, 0.00006f, 0)
                                   : ChannelType(DType::kI32, {outs}, 0, 0.00006f);
  const ir::Type weights =
      transposed ? ChannelType(w, test.w, 1, 0.003f, 0) : ChannelType(w, test.w, 0, 0.003f, 0);
  const KernelCase kernel_case(
      Op("", op),
      {{QuantType(x, test.x, 0.02f, x == DType::kI8 ? -9 : 117)},
       {weights, true},
       {bias, true, 9000}},
      test.geometry.Attributes(test.x.size() - 2),
      {QuantType(x, test.y, wide ? 0.9f : 0.3f, x == DType::kI8 ? 3 : 100)});
  SCOPED_TRACE(fmt::format("{} {} {}", op, ir::ToString(test.x), ir::ToString(test.w)));
  ExpectStored(kernel_case, NaiveConv(kernel_case, test.geometry, transposed));
}

void CheckConvolutions() {
  const ConvCase cases[] = {
      {{1, 3, 7, 9}, {5, 3, 3, 3}, {1, 5, 4, 5}, {.stride = 2, .before = 1, .after = 1}},
      {{2, 6, 5, 19}, {6, 1, 3, 3}, {2, 6, 5, 19}, {.groups = 6, .before = 1, .after = 1}},
      {{1, 4, 8, 8}, {6, 2, 2, 2}, {1, 6, 3, 3}, {.groups = 2, .stride = 3, .before = 1}},
      {{1, 2, 11}, {3, 2, 3}, {1, 3, 7}, {.dilation = 2}},
      {{1, 5, 1, 1}, {7, 5, 1, 1}, {1, 7, 1, 1}},
      {{2, 2, 5, 6, 7}, {3, 2, 3, 3, 3}, {2, 3, 3, 3, 4}, {.stride = 2, .before = 1, .after = 1}},
      {{1, 4, 4, 5, 6}, {4, 2, 2, 2, 2}, {1, 4, 2, 3, 4}, {.groups = 2, .dilation = 2}},
  };
  for (const ConvCase& test : cases) {
    for (const DType x : {DType::kU8, DType::kI8, DType::kI16, DType::kU16}) {
      for (const DType w : {DType::kI8, DType::kI16}) CheckConv("Conv", test, x, w);
    }
  }
}

void CheckTransposedConvolutions() {
  const ConvCase cases[] = {
      {{1, 3, 4, 5},
       {3, 4, 3, 3},
       {1, 4, 8, 10},
       {.stride = 2, .before = 1, .after = 1, .extra = 1}},
      {{2, 4, 3, 3}, {4, 3, 2, 2}, {2, 6, 6, 6}, {.groups = 2, .stride = 2}},
      {{1, 2, 3, 4}, {2, 2, 3, 3}, {1, 2, 9, 12}, {.stride = 3, .dilation = 1}},
      {{1, 2, 3, 3}, {2, 1, 2, 2}, {1, 1, 8, 8}, {.stride = 3}},
      {{1, 2, 4, 4}, {2, 3, 3, 3}, {1, 3, 11, 11}, {.stride = 2, .dilation = 2}},
      {{1, 2, 5, 5}, {2, 3, 3, 3}, {1, 3, 7, 7}},
      {{1, 3, 6}, {3, 2, 4}, {1, 2, 12}, {.stride = 2, .before = 1, .after = 1}},
      {{1, 2, 2, 3, 4},
       {2, 3, 3, 3, 3},
       {1, 3, 4, 6, 8},
       {.stride = 2, .before = 1, .after = 1, .extra = 1}},
  };
  for (const ConvCase& test : cases) {
    for (const DType x : {DType::kU8, DType::kI8, DType::kI16, DType::kU16}) {
      CheckConv("ConvTranspose", test, x, DType::kI8);
    }
  }
}

void CheckProducts() {
  for (const DType dtype : {DType::kU8, DType::kI8, DType::kI16, DType::kU16}) {
    const int32_t zero = dtype == DType::kI8 ? -5 : 90;
    const int64_t m = 3, n = 19, k = 37;
    for (const int64_t trans : {0, 1, 2, 3}) {
      const bool trans_a = (trans & 1) != 0, trans_b = (trans & 2) != 0;
      const KernelCase gemm(
          Op("", "Gemm"),
          {{QuantType(dtype, trans_a ? Shape{k, m} : Shape{m, k}, 0.02f, zero)},
           {ChannelType(DType::kI8, trans_b ? Shape{n, k} : Shape{k, n}, trans_b ? 0 : 1, 0.003f),
            true},
           {ChannelType(DType::kI32, {n}, 0, 0.00006f), true, 9000}},
          {{"transA", int64_t{trans_a}}, {"transB", int64_t{trans_b}}},
          {QuantType(dtype, {m, n}, 0.7f, zero)});
      ExpectStored(
          gemm,
          NaiveProduct(
              gemm, m, n, k,
              [&](int64_t, int64_t r, int64_t j) { return trans_a ? j * m + r : r * k + j; },
              [&](int64_t, int64_t j, int64_t c) { return trans_b ? c * k + j : j * n + c; }));
    }
    // Batches of three: no item shares a right operand, and all items share a left operand.
    const KernelCase pair(
        Op("", "MatMul"),
        {{QuantType(dtype, {m, k}, 0.02f, zero)}, {QuantType(dtype, {3, k, n}, 0.02f, zero)}}, {},
        {QuantType(dtype, {3, m, n}, 9.0f, zero)});
    ExpectStored(pair,
                 NaiveProduct(
                     pair, m, n, k, [&](int64_t, int64_t r, int64_t j) { return r * k + j; },
                     [&](int64_t item, int64_t j, int64_t c) { return (item * k + j) * n + c; }));
    const KernelCase weights(Op("", "MatMul"),
                             {{QuantType(dtype, {2, m, k}, 0.02f, zero)},
                              {ChannelType(DType::kI8, {k, n}, 1, 0.003f), true}},
                             {}, {QuantType(dtype, {2, m, n}, 0.7f, zero)});
    ExpectStored(weights,
                 NaiveProduct(
                     weights, 2 * m, n, k, [&](int64_t, int64_t r, int64_t j) { return r * k + j; },
                     [&](int64_t, int64_t j, int64_t c) { return j * n + c; }));
  }
}

// ------------------------------------------------------------ means

void CheckMeans() {
  const Shape shape = {3, 5, 7, 4};
  const std::pair<Ints, Shape> cases[] = {{{3}, {3, 5, 7, 1}},
                                          {{-2, -1}, {3, 5, 1, 1}},
                                          {{1}, {3, 1, 7, 4}},
                                          {{0, 2}, {1, 5, 1, 4}},
                                          {{0, 1, 2, 3}, {1, 1, 1, 1}}};
  for (const DType dtype : {DType::kU8, DType::kI8, DType::kI16, DType::kU16}) {
    for (const auto& [axes, kept] : cases) {
      KernelCase test(Op("", "ReduceMean"),
                      {{QuantType(dtype, shape, 0.02f, 7)},
                       {{DType::kI64, {static_cast<int64_t>(axes.size())}, {}, {}}, true}},
                      {}, {QuantType(dtype, kept, 0.013f, 3)});
      test.tensors[1] = Tensor::Ints(axes);
      test.fixed[test.graph.node(test.node).inputs[1]] = test.tensors[1];
      std::vector<int64_t> sums(ir::NumElements(kept), 0);
      const Shape strides = ir::StridesOf(kept);
      for (int64_t i = 0; i < ir::NumElements(shape); ++i) {
        int64_t to = 0;
        for (size_t d = shape.size(), rest = static_cast<size_t>(i); d-- > 0;) {
          if (kept[d] != 1) to += static_cast<int64_t>(rest) % shape[d] * strides[d];
          rest /= static_cast<size_t>(shape[d]);
        }
        sums[to] += CenteredAt(test, 0, i);
      }
      const NodeView view = test.View();
      const int64_t count = ir::NumElements(shape) / ir::NumElements(kept);
      std::vector<int32_t> stored;
      for (const int64_t sum : sums) {
        stored.push_back(
            RequantizedSum(view, sum, MeanMultiplier(*view.in(0).quant, *view.out().quant, count)));
      }
      ExpectStored(test, stored);
    }
  }
}

// ------------------------------------------------------------ kernels that equal the definition

void CheckElementwise() {
  const ir::Type a = QuantType(DType::kU8, {2, 5, 3, 7}, 0.031f, 100);
  const ir::Type b = QuantType(DType::kI8, {5, 1, 1}, 0.017f, -3);
  const ir::Type y = QuantType(DType::kI8, {2, 5, 3, 7}, 0.041f, 7);
  for (const std::string_view name : {"Add", "Sub", "Mul", "Div"}) {
    ExpectAsDefinition({Op("", name), {{a}, {b}}, {}, {y}});
    const ir::Type wide = QuantType(DType::kI16, {2, 5, 3, 7}, 0.0007f, 0);
    ExpectAsDefinition({Op("", name), {{wide}, {b}}, {}, {wide}});
  }
  // An operand of lower rank whose axes change places where the result is channels-last.
  const ir::Type row = QuantType(DType::kU8, {2, 5, 7}, 0.031f, 100);
  ExpectAsDefinition(
      {Op("", "Add"), {{row}, {QuantType(DType::kI8, {5, 7}, 0.017f, -3)}}, {}, {row}});
  for (const std::string_view name : {"Max", "Min"}) {
    ExpectAsDefinition({Op("", name), {{a}, {a}}, {}, {a}});
  }
  for (const std::string_view name :
       {"Relu", "Sigmoid", "Tanh", "Gelu", "Exp", "HardSwish", "Swish"}) {
    ExpectAsDefinition({Op("", name), {{a}}, {}, {y}});
    ExpectAsDefinition({Op("", name), {{y}}, {}, {a}});
  }
  ExpectAsDefinition({Op("octavo", "Rescale"), {{a}}, {}, {y}});
}

void CheckMovement() {
  const ir::Type x = QuantType(DType::kI8, {2, 3, 4, 5}, 0.5f, 3);
  const auto like = [&](Shape shape) { return QuantType(DType::kI8, std::move(shape), 0.5f, 3); };
  ExpectAsDefinition({Op("", "Concat"), {{x}, {x}}, {{"axis", int64_t{1}}}, {like({2, 6, 4, 5})}});
  ExpectAsDefinition({Op("", "Transpose"), {{x}}, {}, {like({5, 4, 3, 2})}});
  ExpectAsDefinition({Op("", "MaxPool"),
                      {{x}},
                      {{"kernel_shape", Ints{3, 2}}, {"pads", Ints{1, 0, 1, 1}}},
                      {like({2, 3, 4, 5})}});
  for (const int64_t channels : {12, 36, 40}) {
    const ir::Type image = like({2, channels, 3, 7});
    ExpectAsDefinition(
        {Op("", "MaxPool"),
         {{image}},
         {{"kernel_shape", Ints{3, 3}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 2}}},
         {like({2, channels, 2, 4})}});
  }
  for (const std::string mode : {"DCR", "CRD"}) {
    ExpectAsDefinition({Op("", "DepthToSpace"),
                        {{like({2, 12, 3, 5})}},
                        {{"blocksize", int64_t{2}}, {"mode", mode}},
                        {like({2, 3, 6, 10})}});
  }
  ExpectAsDefinition({Op("", "SpaceToDepth"),
                      {{like({2, 3, 6, 10})}},
                      {{"blocksize", int64_t{2}}},
                      {like({2, 12, 3, 5})}});
}

// Sets a constant operand of a case.
void SetConstant(KernelCase& test, size_t input, const Tensor& tensor) {
  test.tensors[input] = tensor;
  test.fixed[test.graph.node(test.node).inputs[input]] = tensor;
}

void CheckRuns() {
  const ir::Type x = QuantType(DType::kI8, {2, 3, 4, 5}, 0.5f, 3);
  const auto like = [&](Shape shape) { return QuantType(DType::kI8, std::move(shape), 0.5f, 3); };
  const ir::Type ints{DType::kI64, {8}, {}, {}};
  for (const std::string mode : {"constant", "edge", "reflect"}) {
    KernelCase pad(Op("", "Pad"), {{x}, {ints, true}}, {{"mode", mode}}, {like({2, 3, 7, 6})});
    SetConstant(pad, 1, Tensor::Ints({0, 0, 2, 0, 0, 0, 1, 1}));
    ExpectAsDefinition(pad);
  }
  const ir::Type none{DType::kF32, {0}, {}, {}}, sizes{DType::kI64, {4}, {}, {}};
  for (const Shape& to : {Shape{2, 3, 8, 10}, Shape{2, 3, 2, 3}, Shape{2, 3, 9, 4}}) {
    KernelCase resize(Op("", "Resize"), {{x}, {none, true}, {none, true}, {sizes, true}}, {},
                      {like(to)});
    SetConstant(resize, 3, Tensor::Ints(to));
    ExpectAsDefinition(resize);
  }
}

void CheckBorders() {
  const ir::Type real{DType::kF32, {2, 3, 4, 5}, {}, {}};
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    const ir::Type quantized = QuantType(dtype, real.shape, 0.031f, 9);
    ExpectAsDefinition({Op("octavo", "Quantize"), {{real}}, {}, {quantized}});
    ExpectAsDefinition({Op("octavo", "Dequantize"), {{quantized}}, {}, {real}});
    const KernelCase same(Op("octavo", "Reinterpret"), {{{dtype, real.shape, {}, {}}}}, {},
                          {quantized});
    const Kernel& kernel = *MatchingKernels(same.View()).front();
    Met().insert(kernel.name);
    EXPECT_EQ(kernel.name, "copy");
    ExpectEverywhere(same, kernel, {same.tensors[0]});
  }
}

// Expects that kernels for image pools give the bits of the kernel for any pool.
void CheckPools() {
  for (const DType dtype : {DType::kU8, DType::kI8}) {
    const ir::Type x = QuantType(dtype, {2, 19, 7, 6}, 0.02f, 5);
    const KernelCase cases[] = {
        {Op("", "GlobalAveragePool"), {{x}}, {}, {QuantType(dtype, {2, 19, 1, 1}, 0.013f, 0)}},
        {Op("", "AveragePool"),
         {{x}},
         {{"kernel_shape", Ints{3, 2}}, {"pads", Ints{1, 0, 1, 1}}, {"strides", Ints{2, 1}}},
         {QuantType(dtype, {2, 19, 4, 6}, 0.013f, 7)}},
        {Op("", "AveragePool"),
         {{QuantType(dtype, {2, 130, 9, 11}, 0.02f, 5)}},
         {{"kernel_shape", Ints{3, 4}},
          {"pads", Ints{2, 3, 1, 0}},
          {"strides", Ints{3, 2}},
          {"dilations", Ints{2, 2}},
          {"count_include_pad", int64_t{1}}},
         {QuantType(dtype, {2, 130, 3, 4}, 0.013f, 7)}}};
    for (const KernelCase& test : cases) {
      std::vector<const Kernel*> kernels = MatchingKernels(test.View());
      kernels.pop_back();
      ThreadPool alone(1);
      const auto expected = RunKernel(test, *kernels.back(), Layout::kPlain, alone);
      for (const Kernel* kernel : kernels) {
        Met().insert(kernel->name);
        ExpectEverywhere(test, *kernel, expected);
      }
    }
  }
}

void CheckNormalizations() {
  const ir::Type real_row{DType::kF32, {37}, {}, {}};
  for (const auto& [from, to] : {std::pair(DType::kU8, DType::kI8),
                                 {DType::kI8, DType::kU8},
                                 {DType::kI16, DType::kI8},
                                 {DType::kI8, DType::kI16}}) {
    const ir::Type x = QuantType(from, {3, 5, 37}, from == DType::kI16 ? 0.0003f : 0.031f, 9);
    const ir::Type long_x = QuantType(from, {70, 301}, from == DType::kI16 ? 0.0003f : 0.07f, -3);
    const auto y = [&, dtype = to](const ir::Type& like, float scale) {
      return QuantType(dtype, like.shape, scale, 3);
    };
    for (const int64_t axis : {-1, 1}) {
      ExpectAsDefinition({Op("", "Softmax"), {{x}}, {{"axis", axis}}, {y(x, 0.0039f)}});
      ExpectAsDefinition({Op("", "LogSoftmax"), {{x}}, {{"axis", axis}}, {y(x, 0.05f)}});
    }
    ExpectAsDefinition({Op("", "Softmax"), {{long_x}}, {}, {y(long_x, 0.0039f)}});
    for (const ir::AttrMap& attributes :
         {ir::AttrMap{}, ir::AttrMap{{"axis", int64_t{1}}},
          ir::AttrMap{{"epsilon", 3.0f}, {"epsilon_mode", std::string("add")}}}) {
      ExpectAsDefinition({Op("", "LpNormalization"), {{x}}, attributes, {y(x, 0.0078f)}});
      ExpectAsDefinition({Op("", "LpNormalization"), {{long_x}}, attributes, {y(long_x, 0.0013f)}});
    }
    ExpectAsDefinition({Op("", "LayerNormalization"),
                        {{x}, {real_row, true}, {real_row, true}},
                        {},
                        {y(x, 0.3f)}});
    ExpectAsDefinition({Op("", "LayerNormalization"), {{x}, {real_row, true}}, {}, {y(x, 0.3f)}});
    ExpectAsDefinition({Op("", "RMSNormalization"), {{x}, {real_row, true}}, {}, {y(x, 0.3f)}});
    const ir::Type channels{DType::kF32, {5}, {}, {}};
    ExpectAsDefinition({Op("", "InstanceNormalization"),
                        {{x}, {channels, true}, {channels, true}},
                        {},
                        {y(x, 0.3f)}});
  }
}

TEST(KernelTable, EveryRowGivesTheBitsOfItsDefinition) {
  CheckConvolutions();
  CheckTransposedConvolutions();
  CheckProducts();
  CheckMeans();
  CheckPools();
  CheckElementwise();
  CheckMovement();
  CheckRuns();
  CheckBorders();
  CheckNormalizations();
  for (const Kernel* kernel : AllKernels()) {
    // mode_kernels_test.cc tests the kernels of other modes.
    if (kernel->modes == Modes::kWithFormulas) continue;
    EXPECT_TRUE(Met().count(kernel->name)) << kernel->name << " is met by no case";
  }
}

}  // namespace
}  // namespace octavo::runtime
