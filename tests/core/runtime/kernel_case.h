// SPDX-License-Identifier: Apache-2.0
// One-node graphs for kernels, and a function that runs any kernel of the table on them.
#pragma once

#include <cstring>
#include <random>

#include "core/runtime/kernel_table.h"

namespace octavo::runtime {

inline ir::Type QuantType(ir::DType dtype, ir::Shape shape, float scale, int32_t zero_point) {
  return {dtype, std::move(shape), ir::Quant::PerTensor(scale, zero_point), {}};
}
inline ir::Type ChannelType(ir::DType dtype, ir::Shape shape, int axis, float scale,
                            int32_t zero_point = 0) {
  ir::Quant quant{{}, {}, axis, 0};
  for (int64_t c = 0; c < shape[axis]; ++c) {
    quant.scales.push_back(scale * static_cast<float>(1 + c % 7));
    quant.zero_points.push_back(zero_point);
  }
  return {dtype, std::move(shape), quant, {}};
}

// Random elements over the whole range of the type, or within [-most, most].
inline ir::Tensor RandomElements(const ir::Type& type, uint32_t seed, int64_t most = 1 << 30) {
  std::mt19937 random(seed);
  ir::Tensor tensor(type.dtype, type.shape);
  if (type.dtype == ir::DType::kF32) {
    for (float& x : tensor.mutable_values<float>()) {
      x = static_cast<float>(static_cast<int32_t>(random() % 2001) - 1000) / 100.0f;
    }
    return tensor;
  }
  const ir::IntegerRange range = ir::IntegerRangeOf(type.dtype);
  const int64_t low = std::max(range.min, -most), high = std::min(range.max, most);
  const int size = ir::SizeOf(type.dtype);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    const int64_t value = low + static_cast<int64_t>(random()) % (high - low + 1);
    std::memcpy(tensor.mutable_raw() + i * size, &value, size);
  }
  return tensor;
}

struct Operand {
  ir::Type type = {};
  bool constant = false;
  int64_t most = 1 << 30;
};

// A graph of one node; `tensors` has one tensor of elements per operand.
struct KernelCase {
  ir::Graph graph = {};
  ir::NodeId node = {};
  FixedValues fixed = {};
  std::vector<ir::Tensor> tensors = {};

  KernelCase(const ir::OpDef& op, const std::vector<Operand>& operands, ir::AttrMap attributes,
             const std::vector<ir::Type>& results) {
    std::vector<ir::ValueId> ids;
    for (size_t i = 0; i < operands.size(); ++i) {
      const auto& [type, constant, most] = operands[i];
      tensors.push_back(RandomElements(type, static_cast<uint32_t>(i) + 1, most));
      const std::string name = fmt::format("x{}", i);
      ids.push_back(constant ? graph.AddConstant(name, ir::MakePayload(tensors[i]), type)
                             : graph.AddInput(name, type));
      if (constant) fixed.emplace(ids.back(), tensors[i]);
    }
    std::vector<std::pair<std::string, ir::Type>> named;
    for (const ir::Type& type : results) named.push_back({fmt::format("y{}", named.size()), type});
    node = graph.AddNode(
        {.op = &op, .inputs = ids, .attributes = std::move(attributes), .results = named});
    for (const ir::ValueId id : graph.node(node).results) graph.AddOutput(id);
  }

  NodeView View() const { return {graph, graph.node(node), fixed}; }
};

// Runs a kernel in the given layout (for images) and returns results in plain layout.
inline std::vector<ir::Tensor> RunKernel(const KernelCase& test, const Kernel& kernel,
                                         Layout layout, ThreadPool& pool) {
  NodeView view = test.View();
  view.layout = layout;
  const auto prepared = kernel.prepare(view, pool);
  if (!prepared) throw std::runtime_error(prepared.error().message);
  std::vector<ir::Tensor> operands;
  for (size_t i = 0; i < test.tensors.size(); ++i) {
    const ir::Tensor& plain = test.tensors[i];
    operands.push_back(plain);
    if (i >= kernel.images || CanonicalLayout(layout, plain.shape()) == Layout::kPlain) continue;
    operands.back() = ir::Tensor(plain.dtype(), plain.shape());
    ConvertLayout(plain, Layout::kPlain, operands.back(), pool);
  }
  std::vector<const ir::Tensor*> inputs;
  for (const ir::Tensor& operand : operands) inputs.push_back(&operand);
  std::vector<ir::Tensor> results;
  for (const ir::ValueId id : view.node.results) {
    results.emplace_back(view.graph.type(id).dtype, view.graph.type(id).shape);
    for (std::byte& byte : std::span(results.back().mutable_raw(), results.back().bytes())) {
      byte = std::byte{0xa5};  // results are not zeroed beforehand
    }
  }
  ir::Tensor scratch(ir::DType::kU8, {prepared->scratch_bytes + 64});
  const Status done = prepared->run(
      {.inputs = inputs, .results = results, .scratch = scratch.mutable_raw(), .pool = &pool});
  if (!done) throw std::runtime_error(done.error().message);
  for (ir::Tensor& result : results) {
    if (CanonicalLayout(layout, result.shape()) == Layout::kPlain) continue;
    ir::Tensor plain(result.dtype(), result.shape());
    ConvertLayout(result, layout, plain, pool);
    result = plain;
  }
  return results;
}

}  // namespace octavo::runtime
