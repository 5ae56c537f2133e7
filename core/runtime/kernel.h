// What a kernel is: a way to compute one node, offered where it matches and prepared once.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "core/base/parallel.h"
#include "core/ir/graph.h"
#include "core/ir/numerics.h"
#include "core/runtime/layout.h"

namespace octavo::runtime {

// What a step computes on: values as stored (codes), null for absent inputs.  `scratch` is as
// large as was asked for and aligned to 64 bytes.  Results hold arbitrary bytes beforehand.
struct StepContext {
  std::span<const ir::Tensor* const> inputs = {};
  std::span<ir::Tensor> results = {};
  std::byte* scratch = nullptr;
  ThreadPool* pool = nullptr;

  const ir::Tensor& in(size_t i) const { return *inputs[i]; }
  ir::Tensor& out(size_t i = 0) const { return results[i]; }
  bool Has(size_t i) const { return i < inputs.size() && inputs[i] != nullptr; }
};

// A node made ready.  `run` may be called by several threads at once, each with its own context.
struct Prepared {
  std::function<Status(const StepContext&)> run = {};
  int64_t scratch_bytes = 0;
  double operations = 0;  // a multiply-add is two
};

// Values that are the same at every run, as stored: constants and what follows from them alone.
using FixedValues = std::unordered_map<ir::ValueId, ir::Tensor>;

// The node at hand, while a plan is made.
struct NodeView {
  const ir::Graph& graph;
  const ir::Node& node;
  const FixedValues& fixed;
  Layout layout = Layout::kPlain;  // that images will have; see LayoutRule
  ir::Numerics numerics = ir::Numerics::kOnnx;

  bool Has(size_t input) const { return node.input(input).valid(); }
  const ir::Type& in(size_t input) const { return graph.type(node.input(input)); }
  const ir::Type& out(size_t result = 0) const { return graph.type(node.result(result)); }
  // The elements of a fixed input, codes as stored, or null.
  const ir::Tensor* constant(size_t input) const {
    const auto at = fixed.find(node.input(input));
    return at == fixed.end() ? nullptr : &at->second;
  }
};

// The layouts that a kernel can take.
enum class LayoutRule {
  kPlain,         // operands and results as the graph's shapes say
  kChannelsLast,  // images channels-last
  kEither,        // whichever the operands are in, the same for all
};

struct Tail;

struct Kernel {
  std::string_view name = {};
  // The ops that it computes; empty: any.
  std::span<const std::string_view> ops = {};
  LayoutRule layout = LayoutRule::kPlain;
  // The modes whose bits it gives.
  ir::NumericsSet numerics = ir::Only(ir::Numerics::kOnnx);
  // How many leading inputs are images; the layout concerns these and all results.
  size_t images = 1 << 20;
  // Whether it can compute this node of one of its ops.
  bool (*match)(const NodeView& view) = nullptr;
  Result<Prepared> (*prepare)(const NodeView& view, ThreadPool& pool) = nullptr;
  // Null, or the step that ends in what follows the node: see tail.h.
  Result<Prepared> (*prepare_tail)(const NodeView& view, const Tail& tail) = nullptr;
  // Of that, an Add; also one whose addend is one row for all; a part of a joined image.
  bool adds = false, adds_rows = false, joins = false;
  // Null, or whether this node can do the first and the last of these.
  bool (*can_add)(const NodeView& view) = nullptr;
  // The instruction set that it uses on this machine; null: whatever the compiler made.
  std::string_view (*isa)() = nullptr;
};

// ------------------------------------------------------------ what matches ask

// Codes of 8 bits with one scale and zero point.
inline bool IsPlain8(const ir::Type& type) {
  return type.quantized() && type.quant->per_tensor() && ir::SizeOf(type.dtype) == 1;
}
inline bool SameCodes(const ir::Type& a, const ir::Type& b) {
  return a.dtype == b.dtype && a.quant == b.quant;
}
// The name of CurrentIsa().
std::string_view CurrentIsaName();

}  // namespace octavo::runtime
