// What the rest of Octavo may know of an operator: one constexpr row per op, filled in by
// core/ops (one file per op) or by a target description.  Passes, runtime and exporters read these
// rows; none of them asks for an op by name to learn how it behaves.
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

// What an input is for.
enum class Role {
  kData,       // reals that flow through; quantized when the op runs in integers
  kWeight,     // reals, usually constant; quantized by the target's weight rule
  kBias,       // reals added to the accumulator; int32 at s_x * s_w when quantized
  kParameter,  // never quantized: shapes, indices, axes, scales, bounds
};

// ---------------------------------------------------------------- quantization

// How a node takes part in integer arithmetic.
struct QuantRule {
  enum class Kind {
    kFloatOnly,    // stays float between Dequantize and Quantize; `why` says the reason
    kNotReal,      // its results are not reals (shapes, indices, bools): nothing to quantize
    kFree,         // result parameters are chosen from the profile
    kSameAsInput,  // result and all data inputs have one type (moves or compares stored codes)
    kFixed,        // the result's real range is known ahead: `range`
  };
  Kind kind = Kind::kFloatOnly;
  std::string_view why = "no integer form is defined";
  Range range = {};  // kFixed
};

// How a Rescale next to the node may be rewritten; see the tables of laws.
struct RescaleRule {
  enum class AtInput {
    kKept,      // the node needs the type that it is given
    kAbsorbed,  // the node scales this operand itself: Op(Rescale(x)) -> Op(x)
    kSunk,      // exact to move: Op(Rescale(x)) -> Rescale(Op(x))
  };
  enum class AtOutput {
    kKept,
    kAbsorbed,  // result parameters are free: Rescale(Op(x)) -> Op(x) : t
    kRaised,    // exact to move: Rescale(Op(x)) -> Op(Rescale(x))
  };
  AtInput at_input = AtInput::kKept;  // of data inputs; all of them together when kSunk
  AtOutput at_output = AtOutput::kKept;
  // A further condition on one node for a Rescale from `from` to `to` (MaxPool with an indices
  // result, Pad whose value must map to itself).  Null: none.  Otherwise "" when allowed, else the
  // reason in a sentence that the ledger can show.
  std::string (*why_not)(const Graph& graph, const Node& node, const Type& from,
                         const Type& to) = nullptr;
};

// ---------------------------------------------------------------- the row

struct OpDef {
  std::string_view name = {};
  std::string_view domain = {};  // "" is ONNX's own; "octavo" the IR's (Quantize, Rescale..)
  Arity inputs = {};
  Arity results = {};
  std::span<const AttrSpec> attributes = {};
  // The role of each input; inputs past the end have the last one's.
  std::array<Role, 7> roles = {};

  QuantRule quant = {};
  // Where the rule depends on the node (Resize: nearest moves codes, linear does not).
  QuantRule (*quant_of)(const Graph& graph, const Node& node) = nullptr;
  RescaleRule rescale = {};
  // For kSameAsInput ops: the quantization that the result has when data input `input` has `from`
  // (the axis rules).  nullopt where it cannot be said by a type.  Null: the result's is the same
  // and per-channel types are not allowed.
  std::optional<Quant> (*map_quant)(const Graph& graph, const Node& node, int input,
                                    const Quant& from) = nullptr;
  // The output-channel axis of input `input` (role kWeight), or -1.
  int (*weight_axis)(const Graph& graph, const Node& node, int input) = nullptr;

  // Sets the expressed type (dtype and shape) of every result, or says what is wrong.
  Status (*infer)(InferContext& context) = nullptr;
  // The float meaning: expressed inputs to expressed results.
  Status (*reference)(const EvalContext& context) = nullptr;

  bool commutative = false;
  // The result is the data operand limited to a range (Relu, Clip): it may fuse into the clamp of
  // the operand's producer.
  bool clamps = false;
  // The result moves one for one with each data operand (Add, Sub): where they cancel, the
  // operands' rounding is all that is left.
  bool sums = false;
  // The results depend on the inputs' shapes alone (Shape): known as soon as types are.
  bool shape_only = false;

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

// What `infer` sees of a node.  Types are expressed (a quantized operand is f32).
class InferContext {
 public:
  InferContext(const Node& node, std::span<const Type> inputs, std::span<const Tensor* const> known,
               size_t results);

  const Node& node() const { return node_; }
  size_t input_count() const { return inputs_.size(); }
  bool Has(size_t input) const;
  // Only where Has(input).
  const Type& type(size_t input) const { return inputs_[input]; }
  const Shape& shape(size_t input) const { return inputs_[input].shape; }
  DType dtype(size_t input) const { return inputs_[input].dtype; }
  // The elements where they are known ahead of any run: constants and what follows from them and
  // from shapes.  Else null.
  const Tensor* known(size_t input) const {
    return input < known_.size() ? known_[input] : nullptr;
  }
  // The same as int64s; an error that names the operand where they are not known.
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

// What `reference` computes on.  inputs[i] is null for an absent input; results are allocated
// with the inferred types and zeroed.  Thread count never changes a bit.
struct EvalContext {
  const Node& node;
  std::span<const Tensor* const> inputs = {};
  std::span<Tensor> results = {};
  ThreadPool* pool = nullptr;  // never null when called through core/reference

  bool Has(size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  const Tensor& in(size_t input) const { return *inputs[input]; }
  Tensor& out(size_t result = 0) const { return results[result]; }
};

}  // namespace octavo::ir
