// SPDX-License-Identifier: Apache-2.0
// The elements of terms without symbols.  What an op computes is its definition, which its row
// (ir::OpDef) names; roundings are the verifier's own.
#include <algorithm>

#include "core/verify/term.h"

namespace octavo::verify {
namespace {

using ir::Tensor;

constexpr int kMaxDepth = 64;

void Store(Tensor& tensor, int64_t i, int64_t element) {
  const int size = ir::SizeOf(tensor.dtype());
  // Little endian: the low bytes are the narrower integer.
  std::copy_n(reinterpret_cast<const std::byte*>(&element), size, tensor.mutable_raw() + i * size);
}

Tensor Dequantized(const Tensor& x, const ir::Type& type) {
  Tensor result(ir::DType::kF32, x.shape());
  for (int64_t i = 0; i < x.size(); ++i) {
    result.mutable_values<float>()[i] = RealOf(x.IntAt(i), Grid::Of(type, ir::ScaleOf(type, i)));
  }
  return result;
}

std::optional<Tensor> Rounded(Mode mode, const Term& term, const Tensor& x, const ir::Type& from) {
  // All modes round blocks alike.
  const Mode rounding = term.type.blocked() ? Mode::kOnnx : mode;
  if (IsOwn(term, "Quantize")) return QuantizeConstant(rounding, x, term.type);
  if (!from.quant || !IsConversion(term)) return std::nullopt;
  if (IsOwn(term, "Dequantize")) return Dequantized(x, from);
  Tensor result(term.type.dtype, x.shape());
  for (int64_t i = 0; i < x.size(); ++i) {
    const auto stored = RescaleStored(mode, x.IntAt(i), Grid::Of(from, ir::ScaleOf(from, i)),
                                      Grid::Of(term.type, ir::ScaleOf(term.type, i)));
    if (!stored) return std::nullopt;
    Store(result, i, *stored);
  }
  return result;
}

// Whether Quantize(op(Dequantize)) is the op's arithmetic in the mode onnx, with a definition that
// rounds once: not for sums of products, means and curves.
bool RoundsOnce(const Term& term) {
  return term.op->sums || term.op->clamps || term.op->name == "Mul" || term.op->name == "Div" ||
         term.op->moves_data == ir::Movement::kSelect || term.op->moves_data == ir::Movement::kFill;
}

}  // namespace

// The op's definition on the operands.  Movement of quantized values runs on stored elements; other
// ops run on real numbers, and the result is rounded on the level that knows stored elements.
std::optional<Tensor> Terms::Evaluated(const Term& term, std::vector<Tensor> operands) {
  // Of several results, the types are known where all are parts of one operand.
  if (term.op->definition == nullptr || (term.results > 1 && !term.moves)) return std::nullopt;
  const bool quantized = level_ == Level::kExact && term.type.quant.has_value();
  const bool copies =
      (term.moves && !term.fills) || (term.selects && term.op->moves_data >= ir::Movement::kCopy);
  const bool rounds = quantized && !copies;
  if (rounds && (mode_ != Mode::kOnnx || !RoundsOnce(term))) return std::nullopt;
  ir::Node node{.op = term.op,
                .inputs = std::vector<ir::ValueId>(operands.size()),
                .results = std::vector<ir::ValueId>(term.results),
                .attributes = term.attributes};
  std::vector<const Tensor*> inputs;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool absent = term.operands[i] == kAbsent;
    const ir::Type type = absent ? ir::Type() : terms_[term.operands[i]].type;
    if (type.dtype == ir::DType::kF16 || type.dtype == ir::DType::kBF16) return std::nullopt;
    if (type.quant && !(quantized && copies)) operands[i] = verify::Dequantized(operands[i], type);
    if (!absent) node.inputs[i] = ir::ValueId{static_cast<int32_t>(i)};
    inputs.push_back(absent ? nullptr : &operands[i]);
  }
  static ThreadPool pool(1);
  std::vector<Tensor> results;
  for (int i = 0; i < term.results; ++i) {
    const ir::Shape& shape = term.results > 1 ? term.result_shapes[i] : term.type.shape;
    results.emplace_back((rounds ? term.type.Expressed() : term.type).dtype, shape);
  }
  if (!term.op->definition({node, inputs, results, &pool})) return std::nullopt;
  const Tensor& result = results[term.result];
  return rounds ? QuantizeConstant(mode_, result, term.type) : std::optional(result);
}

// Each term is computed once.  Operands come before what is computed from them, so a chain that is
// folded as it grows needs no depth.
ir::PayloadPtr Terms::Folded(TermId id, int depth) {
  const Term& term = terms_[id];
  if (term.kind == Term::Kind::kConstant) return term.constant;
  const bool computed = term.kind == Term::Kind::kNode || term.kind == Term::Kind::kTable;
  if (depth > kMaxDepth || !computed) return nullptr;
  if (const auto at = folded_.find(id); at != folded_.end()) return at->second;
  std::optional<Tensor> result = FoldedTerm(term, depth);
  ir::PayloadPtr& folded = folded_[id];
  if (result && result->dtype() == term.type.dtype) folded = ir::MakePayload(*std::move(result));
  return folded;
}

std::optional<Tensor> Terms::FoldedTerm(const Term& term, int depth) {
  if (term.operands.empty() || term.operands[0] == kAbsent) return std::nullopt;
  std::vector<Tensor> operands;
  int64_t elements = term.type.elements();
  for (const TermId operand : term.operands) {
    const ir::PayloadPtr folded = operand == kAbsent ? nullptr : Folded(operand, depth + 1);
    if (operand != kAbsent && !folded) return std::nullopt;
    operands.push_back(folded ? folded->tensor : Tensor());
    elements += operands.back().size();
  }
  if (!MayCompute(elements)) return std::nullopt;
  const ir::Type& from = terms_[term.operands[0]].type;
  if (term.kind == Term::Kind::kTable) {
    Tensor result(term.type.dtype, term.type.shape);
    const int64_t least = ir::IntegerRangeOf(from.dtype).min;
    for (int64_t i = 0; i < result.size(); ++i) {
      Store(result, i, (*term.table)[operands[0].IntAt(i) - least]);
    }
    return result;
  }
  if (term.op->domain == "octavo") {
    return operands.size() == 1 ? Rounded(mode_, term, operands[0], from) : std::nullopt;
  }
  if (term.moves && term.op->moves_data == ir::Movement::kReshape) {
    const bool real = from.quant && !term.type.quant;
    return (real ? verify::Dequantized(operands[0], from) : operands[0]).Reshaped(term.type.shape);
  }
  return Evaluated(term, std::move(operands));
}

}  // namespace octavo::verify
