// SPDX-License-Identifier: Apache-2.0
// The interface between an operator and the rest of Octavo: one constexpr row per op, in core/ops
// or in a target description.  Passes, runtime and exporters read these rows; they keep no lists of
// op names.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/parallel.h"
#include "core/base/status.h"
#include "core/ir/attribute.h"
#include "core/ir/type.h"

namespace octavo::ir {

class Graph;
struct Node;
class InferContext;
struct EvalContext;

// ---------------------------------------------------------------- schema

struct AttrSpec {
  std::string_view name = {};
  AttrKind kind = AttrKind::kInt;
  bool required = false;
};

// How many inputs or results a node may have.  Inputs past `min` are optional: they may be absent
// (an invalid ValueId); trailing absent ones are dropped.
struct Arity {
  int min = 1;
  int max = 1;
};
inline constexpr int kManyInputs = 1 << 20;

// The purpose of an input.
enum class Role {
  kData,       // real values that the op computes on; quantized when the op runs in integers
  kWeight,     // real values, usually constant; quantized by the target's weight rule
  kBias,       // real values added to the accumulator; int32 at s_x * s_w when quantized
  kParameter,  // never quantized: shapes, indices, axes, scales, bounds
};

// The opset of ONNX's own domain that introduced the op.  No default value, so that a row without
// it does not compile.
class Since {
 public:
  explicit constexpr Since(int opset) : opset_(opset) {}
  constexpr int opset() const { return opset_; }

 private:
  int opset_;
};
// For ops of another domain: Octavo's own, a target's.
inline constexpr Since kNotInOnnx{0};

// ---------------------------------------------------------------- quantization

// How a node is quantized.
struct QuantRule {
  enum class Kind {
    kFloatOnly,  // stays float between Dequantize and Quantize; `why` states the reason
    kNotReal,    // its results are not real values (shapes, indices, bools): nothing to quantize
    kFree,       // calibration chooses the result's parameters
    kSameScale,  // data inputs and result need equal quantization parameters (MLIR's SameScales)
    kFixed,      // the result's real range is known in advance: `range`
  };
  Kind kind = Kind::kFloatOnly;
  std::string_view why = "no integer form is defined";
  Range range = {};  // kFixed
};

// Which rewrites the op allows for a Rescale at an input or at the output.
struct RescaleRule {
  enum class AtInput {
    kKeep,  // the node needs the operand's type as it is
    kFold,  // into its consumer, which scales this operand itself: Op(Rescale(x)) -> Op(x)
    kSink,  // exact: Op(Rescale(x)) -> Rescale(Op(x))
  };
  enum class AtOutput {
    kKeep,
    kFold,   // into its producer, which can choose its type: Rescale(Op(x)) -> Op(x) : t
    kHoist,  // exact: Rescale(Op(x)) -> Op(Rescale(x))
  };
  AtInput at_input = AtInput::kKeep;  // of data inputs; of all of them together when kSink
  AtOutput at_output = AtOutput::kKeep;
  // A further condition on one node for a Rescale from `from` to `to` (for example, a MaxPool must
  // have no indices result, and a Pad's value must map to itself).  Null: no condition.  Returns ""
  // if allowed, else the reason as a sentence for the ledger.
  std::string (*why_not)(const Graph& graph, const Node& node, const Type& from,
                         const Type& to) = nullptr;
};

// Whether the results consist of elements of the data inputs.  Every same-scale op states how. From
// kCopy on, the definition accepts elements of any type, so it also runs on quantized values.
enum class Movement {
  kNone,     // results are computed
  kSelect,   // elements of the inputs, selected by comparing numbers (Max, MaxPool, ReduceMin)
  kFill,     // elements of input 0 and a constant (Pad)
  kCopy,     // elements of the inputs (Concat, Where, TopK)
  kView,     // elements of input 0; their positions depend only on parameters (Transpose, Slice):
             // the runtime may alias the input.  Ops that have a separate copy kernel
             // (DepthToSpace) are kCopy.
  kReshape,  // the elements of input 0 in the same order; only the shape differs
};

// ---------------------------------------------------------------- the row

struct OpDef {
  std::string_view name = {};
  std::string_view domain = {};  // "" is ONNX's own; "octavo" is Octavo's (Quantize, Rescale..)
  Since since;
  Arity inputs = {};
  Arity results = {};
  std::span<const AttrSpec> attributes = {};
  // The role of each input; inputs past the end have the last role.
  std::array<Role, 7> roles = {};

  QuantRule quant = {};
  // For rules that depend on the node (Resize: nearest is a same-scale op, linear is not).
  QuantRule (*quant_of)(const Graph& graph, const Node& node) = nullptr;
  RescaleRule rescale = {};
  // For same-scale ops: the quantization of the result if data input `input` has `from` (the axis
  // rules).  nullopt if no type can express it.  Null pointer: the result has the same
  // quantization, and per-channel types are not allowed.
  std::optional<Quant> (*map_quant)(const Graph& graph, const Node& node, int input,
                                    const Quant& from) = nullptr;
  // The output-channel axis of input `input` (role kWeight), or -1.
  int (*weight_axis)(const Graph& graph, const Node& node, int input) = nullptr;

  // Sets the expressed type (dtype and shape) of every result, or reports an error.
  Status (*infer)(InferContext& context) = nullptr;
  // The op's float definition: computes expressed results from expressed inputs.
  Status (*definition)(const EvalContext& context) = nullptr;

  bool commutative = false;
  // Each result element is a function of the element of input 0 at the same index and of
  // parameters: for an 8-bit operand, a table of 256 entries defines the op.
  bool pointwise = false;
  Movement moves_data = Movement::kNone;
  // The result is the data operand clamped to a range (Relu, Clip): the clamp may fuse into that of
  // the operand's producer.
  bool clamps = false;
  // The result changes by as much as a data operand does (Add, Sub): if the operands cancel, only
  // their rounding errors remain.
  bool sums = false;
  // The results depend only on the inputs' shapes (Shape): they are known as soon as the types are.
  bool shape_only = false;
  // Comparing elements of the operands decides an index, a bool or a selection (ArgMax, Equal, the
  // indices of TopK): an element that moves by one LSB can change the result by any amount.
  bool depends_on_order = false;
  // The index of the data input that equals result 0 whenever their shapes and expressed dtypes
  // agree, or -1.  Null pointer: no such input.
  int (*identity_of)(const Graph& graph, const Node& node) = nullptr;
  // The second operand that leaves every first operand unchanged bit for bit, including the sign:
  // x * 1, x + -0, Max(x, -inf).
  std::optional<float> neutral = {};

  QuantRule QuantOf(const Graph& graph, const Node& node) const {
    return quant_of ? quant_of(graph, node) : quant;
  }
  Role RoleOf(size_t input) const { return roles[std::min(input, roles.size() - 1)]; }
};

// The same role for every input: `.roles = AllRoles(Role::kParameter)`.
constexpr std::array<Role, 7> AllRoles(Role role) {
  return {role, role, role, role, role, role, role};
}
// The given roles; the last one repeats.
template <class... Rest>
constexpr std::array<Role, 7> Roles(Role first, Rest... rest) {
  std::array<Role, 7> roles = {first, rest...};
  for (size_t i = 1 + sizeof...(rest); i < roles.size(); ++i) roles[i] = roles[sizeof...(rest)];
  return roles;
}

// ---------------------------------------------------------------- contexts

// The part of a node that `infer` may use.  Types are expressed (a quantized operand is f32).
class InferContext {
 public:
  InferContext(const Node& node, std::span<const Type> inputs, std::span<const Tensor* const> known,
               size_t results);

  const Node& node() const { return node_; }
  size_t input_count() const { return inputs_.size(); }
  bool Has(size_t input) const;
  // Requires Has(input).
  const Type& type(size_t input) const { return inputs_[input]; }
  const Shape& shape(size_t input) const { return inputs_[input].shape; }
  DType dtype(size_t input) const { return inputs_[input].dtype; }
  // The elements if they are known before any run: constants, and values computed from constants
  // and shapes.  Else null.
  const Tensor* known(size_t input) const {
    return input < known_.size() ? known_[input] : nullptr;
  }
  // The same as int64; an error that names the operand if they are not known.
  Result<std::vector<int64_t>> KnownInts(size_t input, std::string_view what) const;

  size_t result_count() const { return results_.size(); }
  void SetResult(size_t result, DType dtype, Shape shape);
  const std::vector<Type>& results() const { return results_; }

  // kInvalidArgument "Conv 'name': ..." with the node filled in.
  template <class... Args>
  Failure Invalid(fmt::format_string<Args...> format, Args&&... args) const {
    return Problem(Code::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  Failure Unsupported(fmt::format_string<Args...> format, Args&&... args) const {
    return Problem(Code::kUnimplemented, fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  Failure Problem(Code code, std::string message) const;

  const Node& node_;
  std::span<const Type> inputs_;
  std::span<const Tensor* const> known_;
  std::vector<Type> results_;
};

// The operands and results of `definition`.  inputs[i] is null for an absent input; results are
// allocated with the inferred types and zeroed.  The thread count never changes a bit.
struct EvalContext {
  const Node& node;
  std::span<const Tensor* const> inputs = {};
  std::span<Tensor> results = {};
  ThreadPool* pool = nullptr;  // never null when called by core/float_exec

  bool Has(size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  const Tensor& in(size_t input) const { return *inputs[input]; }
  Tensor& out(size_t result = 0) const { return results[result]; }
};

}  // namespace octavo::ir
