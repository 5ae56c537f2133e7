// SPDX-License-Identifier: Apache-2.0
// Everything that the rest of Octavo knows about an operator: one constexpr row per op, in core/ops
// or in a target description.  Passes, runtime and exporters read these rows; none of them keeps a
// list of op names.
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
// (an invalid ValueId), trailing ones are dropped.
struct Arity {
  int min = 1;
  int max = 1;
};
inline constexpr int kManyInputs = 1 << 20;

// How the op uses an input.
enum class Role {
  kData,       // real values that flow through; quantized when the op runs in integers
  kWeight,     // real values, usually constant; quantized by the target's weight rule
  kBias,       // real values added to the accumulator; int32 at s_x * s_w when quantized
  kParameter,  // never quantized: shapes, indices, axes, scales, bounds
};

// The opset of ONNX's own domain in which an op first exists.  It has no default, so that a row
// without it does not compile.
class Since {
 public:
  explicit constexpr Since(int opset) : opset_(opset) {}
  constexpr int opset() const { return opset_; }

 private:
  int opset_;
};
// Ops of another domain: Octavo's own, a target's.
inline constexpr Since kNotInOnnx{0};

// ---------------------------------------------------------------- quantization

// How a node takes part in integer arithmetic.
struct QuantRule {
  enum class Kind {
    kFloatOnly,  // stays float between Dequantize and Quantize; `why` says the reason
    kNotReal,    // its results are not real values (shapes, indices, bools): nothing to quantize
    kFree,       // the result's parameters are chosen from the profile
    kSameScale,  // data inputs and result need equal quantization parameters (MLIR's SameScales)
    kFixed,      // the result's real range is known in advance: `range`
  };
  Kind kind = Kind::kFloatOnly;
  std::string_view why = "no integer form is defined";
  Range range = {};  // kFixed
};

// Which rewrites a Rescale at an input or at the output of the node allows.
struct RescaleRule {
  enum class AtInput {
    kKeep,  // the node needs the operand's type as it is
    kFold,  // into its consumer, which scales this operand itself: Op(Rescale(x)) -> Op(x)
    kSink,  // exact: Op(Rescale(x)) -> Rescale(Op(x))
  };
  enum class AtOutput {
    kKeep,
    kFold,   // into its producer, whose result parameters are free: Rescale(Op(x)) -> Op(x) : t
    kHoist,  // exact: Rescale(Op(x)) -> Op(Rescale(x))
  };
  AtInput at_input = AtInput::kKeep;  // of data inputs; of all of them together when kSink
  AtOutput at_output = AtOutput::kKeep;
  // A further condition on one node for a Rescale from `from` to `to` (MaxPool with an indices
  // result, Pad whose value must map to itself).  Null: none.  Otherwise "" when allowed, else the
  // reason as a sentence for the ledger.
  std::string (*why_not)(const Graph& graph, const Node& node, const Type& from,
                         const Type& to) = nullptr;
};

// Whether the elements of the results are elements of the data inputs.  Every same-scale op says
// how; from kCopy on, the definition accepts elements of any type, so it runs on quantized values.
enum class Movement {
  kNone,     // results are computed
  kSelect,   // elements of the inputs, selected by comparing numbers (Max, MaxPool, ReduceMin)
  kFill,     // elements of input 0 and a constant (Pad)
  kCopy,     // elements of the inputs (Concat, Where, TopK)
  kView,     // elements of input 0, at places that the parameters alone decide (Transpose, Slice):
             // the runtime may alias the input.  Ops whose copy has a kernel of its own
             // (DepthToSpace) are kCopy.
  kReshape,  // the elements of input 0 in the same order; only the shape differs
};

// ---------------------------------------------------------------- the row

struct OpDef {
  std::string_view name = {};
  std::string_view domain = {};  // "" is ONNX's own; "octavo" the IR's (Quantize, Rescale..)
  Since since;
  Arity inputs = {};
  Arity results = {};
  std::span<const AttrSpec> attributes = {};
  // The role of each input; inputs past the end have the last one's.
  std::array<Role, 7> roles = {};

  QuantRule quant = {};
  // Set if the rule depends on the node (Resize: nearest is a same-scale op, linear is not).
  QuantRule (*quant_of)(const Graph& graph, const Node& node) = nullptr;
  RescaleRule rescale = {};
  // For same-scale ops: the quantization that the result has when data input `input` has `from`
  // (the axis rules).  nullopt where no type expresses it.  Null: the result's is the same, and
  // per-channel types are not allowed.
  std::optional<Quant> (*map_quant)(const Graph& graph, const Node& node, int input,
                                    const Quant& from) = nullptr;
  // The output-channel axis of input `input` (role kWeight), or -1.
  int (*weight_axis)(const Graph& graph, const Node& node, int input) = nullptr;

  // Sets the expressed type (dtype and shape) of every result, or says what is wrong.
  Status (*infer)(InferContext& context) = nullptr;
  // The op's float definition: expressed inputs to expressed results.
  Status (*definition)(const EvalContext& context) = nullptr;

  bool commutative = false;
  // Each result element is a function of the element at the same place of input 0 and of
  // parameters: an 8-bit operand has a table of 256 results.
  bool pointwise = false;
  Movement moves_data = Movement::kNone;
  // The result is the data operand clamped to a range (Relu, Clip): it may fuse into the clamp of
  // the operand's producer.
  bool clamps = false;
  // The result changes by as much as a data operand does (Add, Sub): where operands cancel, their
  // rounding errors are all that is left.
  bool sums = false;
  // The results depend on the inputs' shapes alone (Shape): known as soon as types are.
  bool shape_only = false;
  // The results depend on the order of the data operand's elements alone (ArgMax): any injective
  // and increasing map of the operand leaves them as they are.
  bool order_only = false;
  // The index of the data input that result 0 equals wherever their shapes and expressed dtypes
  // agree, or -1.  Null: none.
  int (*identity_of)(const Graph& graph, const Node& node) = nullptr;
  // The second operand that leaves every first operand unchanged bit for bit, its sign included: 1
  // in x * 1, -0 in x + -0, -inf in Max(x, -inf).
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
// The first roles as given, the last one repeated.
template <class... Rest>
constexpr std::array<Role, 7> Roles(Role first, Rest... rest) {
  std::array<Role, 7> roles = {first, rest...};
  for (size_t i = 1 + sizeof...(rest); i < roles.size(); ++i) roles[i] = roles[sizeof...(rest)];
  return roles;
}

// ---------------------------------------------------------------- contexts

// The arguments of `infer`.  Types are expressed (a quantized operand is f32).
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
  // The elements where they are known before any run: constants and what follows from them and
  // from shapes.  Else null.
  const Tensor* known(size_t input) const {
    return input < known_.size() ? known_[input] : nullptr;
  }
  // The same as int64; an error that names the operand where they are not known.
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

// The arguments of `definition`.  inputs[i] is null for an absent input; results are allocated with
// the inferred types and zeroed.  Thread count never changes a bit.
struct EvalContext {
  const Node& node;
  std::span<const Tensor* const> inputs = {};
  std::span<Tensor> results = {};
  ThreadPool* pool = nullptr;  // never null when called through core/float_exec

  bool Has(size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  const Tensor& in(size_t input) const { return *inputs[input]; }
  Tensor& out(size_t result = 0) const { return results[result]; }
};

}  // namespace octavo::ir
