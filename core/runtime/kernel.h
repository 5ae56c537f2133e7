// SPDX-License-Identifier: Apache-2.0
// A kernel computes one node.  A plan selects a kernel that matches, prepares it once, and runs it
// many times.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "core/base/parallel.h"
#include "core/ir/graph.h"
#include "core/numerics/mode.h"
#include "core/runtime/layout.h"

namespace octavo::runtime {

// Operands and results of a step.  Quantized values are stored integers; absent inputs are null.
// `scratch` has the size that Prepared requests and is aligned to 64 bytes.  Results contain
// arbitrary bytes beforehand.
struct StepContext {
  std::span<const ir::Tensor* const> inputs = {};
  std::span<ir::Tensor> results = {};
  std::byte* scratch = nullptr;
  ThreadPool* pool = nullptr;

  const ir::Tensor& in(size_t i) const { return *inputs[i]; }
  ir::Tensor& out(size_t i = 0) const { return results[i]; }
  bool Has(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
};

// A prepared node.  `run` is thread-safe: each call has its own context.
struct Prepared {
  std::function<Status(const StepContext&)> run = {};
  int64_t scratch_bytes = 0;
  double operations = 0;  // a multiply-add counts as two
};

// Values that are equal in every run, as stored: constants, and values computed only from
// constants.
using FixedValues = std::unordered_map<ir::ValueId, ir::Tensor>;

// A node and what a plan knows about its operands.
struct NodeView {
  const ir::Graph& graph;
  const ir::Node& node;
  const FixedValues& fixed;
  Layout layout = Layout::kPlain;  // of its images; see LayoutRule
  const numerics::Mode* numerics = &numerics::kOnnx;

  bool Has(size_t input) const { return node.input(input).valid(); }
  const ir::Type& in(size_t input) const { return graph.type(node.input(input)); }
  const ir::Type& out(size_t result = 0) const { return graph.type(node.result(result)); }
  // The stored elements of a constant input, or null.
  const ir::Tensor* constant(size_t input) const {
    const auto at = fixed.find(node.input(input));
    return at == fixed.end() ? nullptr : &at->second;
  }
};

// The layouts that a kernel supports.
enum class LayoutRule {
  kPlain,         // operands and results in the order of the graph's shapes
  kChannelsLast,  // images are channels-last
  kEither,        // either layout, the same for all images
};

// The numerics modes that a kernel supports.
enum class Modes {
  kQLinear,       // modes with the arithmetic of ONNX's QLinear operators
  kWithFormulas,  // all other modes, by the mode's formulas
  kAll,           // all: it moves or compares stored values, or reads the mode itself
};

struct Epilogue;

struct Kernel {
  std::string_view name = {};
  // The ops that it computes; empty: any op.
  std::span<const std::string_view> ops = {};
  LayoutRule layout = LayoutRule::kPlain;
  Modes modes = Modes::kQLinear;
  // The number of leading inputs that are images.  The layout applies to these and to all results.
  size_t images = 1 << 20;
  // Whether the kernel can compute this node, whose op is one of `ops`.
  bool (*match)(const NodeView& view) = nullptr;
  Result<Prepared> (*prepare)(const NodeView& view, ThreadPool& pool) = nullptr;
  // Null, or prepares the node and its fused nodes as one step, see plan/epilogue.h.  Every such
  // kernel supports a lookup table at the end of its epilogue.
  Result<Prepared> (*prepare_fused)(const NodeView& view, const Epilogue& epilogue) = nullptr;
  // Further contents of its epilogue: an Add of a tensor of the result's shape, an Add of one row
  // that is broadcast to all others, a store to a slice of an in-place Concat.
  bool fuses_add = false, fuses_row_add = false, writes_slices = false;
  // Whether it supports these for this node; null: always.
  bool (*can_fuse)(const NodeView& view) = nullptr;
  // The instruction set that it uses on this machine; null: that of the whole build.
  std::string_view (*isa)() = nullptr;
};

// ------------------------------------------------------------ conditions of matches

// Whether the type is 8-bit and quantized per tensor.
inline bool IsPlain8(const ir::Type& type) {
  return type.quantized() && type.quant->per_tensor() && ir::SizeOf(type.dtype) == 1;
}
inline bool SameQuantizedType(const ir::Type& a, const ir::Type& b) {
  return a.dtype == b.dtype && a.quant == b.quant;
}
// The name of CurrentIsa().
std::string_view CurrentIsaName();

}  // namespace octavo::runtime
