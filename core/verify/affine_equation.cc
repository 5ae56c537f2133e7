// SPDX-License-Identifier: Apache-2.0
// s * Op(x, w, b) + t, per channel, is Op(x, s * w, s * b + t) for real numbers.
#include <algorithm>
#include <cmath>

#include "core/verify/term.h"

namespace octavo::verify {
namespace {

// The output channel of element i of the weight.
int64_t WeightChannel(const Term& product, const ir::Shape& weight, int64_t i) {
  const int64_t channels = product.type.shape[1];
  int64_t inner = 1;
  for (size_t k = 2; k < weight.size(); ++k) inner *= weight[k];
  if (Is(product, "Conv")) return i / (inner * weight[1]);
  if (Is(product, "ConvTranspose")) {
    const int64_t group = std::max<int64_t>(1, product.attributes.Int("group", 1));
    const int64_t in = i / (inner * weight[1]);
    return in / std::max<int64_t>(1, weight[0] / group) * (channels / group) +
           i / inner % weight[1];
  }
  return product.attributes.Int("transB", 0) != 0 ? i / weight[1] : i % weight[1];
}

}  // namespace

// The constant's value for each channel (axis 1) of a result of this shape; nullopt if it is no
// constant or differs within a channel.
std::optional<std::vector<double>> Terms::PerChannel(TermId id, const ir::Shape& shape) const {
  const Term& term = terms_[id];
  if (term.kind != Term::Kind::kConstant || term.type.quant || shape.size() < 2)
    return std::nullopt;
  const ir::Shape& own = term.type.shape;
  if (own.size() > shape.size()) return std::nullopt;
  const size_t skip = shape.size() - own.size();
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i] != 1 && (i + skip != 1 || own[i] != shape[1])) return std::nullopt;
  }
  const auto values = ValuesOf(id);
  if (!values || (values->size() != 1 && static_cast<int64_t>(values->size()) != shape[1])) {
    return std::nullopt;
  }
  return values->size() == 1 ? std::vector<double>(shape[1], values->front()) : *values;
}

// s and t of s * x + t per channel, and x; nullopt if the term is no such map.
std::optional<Affine> Terms::AffineOf(const Term& term) const {
  const ir::Shape& shape = term.type.shape;
  const bool norm = Is(term, "BatchNormalization") && term.operands.size() == 5;
  const bool mul = Is(term, "Mul");
  if (shape.size() < 2 || term.results != 1) return std::nullopt;
  Affine map{term.operands[0], std::vector<double>(shape[1], 1.0),
             std::vector<double>(shape[1], 0.0)};
  if (norm) {
    std::vector<double> parts[4];
    for (size_t i = 0; i < 4; ++i) {
      const auto values = ValuesOf(term.operands[i + 1]);
      if (!values || static_cast<int64_t>(values->size()) != shape[1]) return std::nullopt;
      parts[i] = *values;
    }
    const double epsilon = term.attributes.Float("epsilon", 1e-5f);
    for (size_t c = 0; c < map.scale.size(); ++c) {
      map.scale[c] = parts[0][c] / std::sqrt(parts[3][c] + epsilon);
      map.shift[c] = parts[1][c] - parts[2][c] * map.scale[c];
    }
    return map;
  }
  if ((!mul && !Is(term, "Add")) || term.operands.size() != 2) return std::nullopt;
  TermId by = term.operands[1];
  if (terms_[map.of].kind == Term::Kind::kConstant) std::swap(map.of, by);
  const auto constant = PerChannel(by, shape);
  if (!constant) return std::nullopt;
  (mul ? map.scale : map.shift) = *constant;
  return map;
}

TermId Terms::FoldedAffine(const Term& term) {
  const ir::Shape& shape = term.type.shape;
  std::optional<Affine> map = term.operands.empty() ? std::nullopt : AffineOf(term);
  if (!map) return kAbsent;
  auto& [of, scale, shift] = *map;
  Term product = terms_[of];
  const bool conv = Is(product, "Conv") || Is(product, "ConvTranspose");
  const bool plain = Is(product, "MatMul") && product.type.shape.size() == 2;
  if (!conv && !plain && !Is(product, "Gemm")) return kAbsent;
  if (product.type.shape != shape || product.attributes.Float("beta", 1) != 1 ||
      product.operands.size() < 2 || terms_[product.operands[1]].kind != Term::Kind::kConstant) {
    return kAbsent;
  }
  const Term weight = terms_[product.operands[1]];
  if (weight.type.quant || weight.type.dtype != ir::DType::kF32 || weight.type.shape.size() < 2) {
    return kAbsent;
  }
  if (product.operands.size() > 2 && product.operands[2] != kAbsent) {
    const auto bias = ValuesOf(product.operands[2]);
    if (!bias || bias->size() != shift.size()) return kAbsent;
    for (size_t c = 0; c < shift.size(); ++c) shift[c] += scale[c] * (*bias)[c];
  }
  if (!MayCompute(weight.type.elements())) return kAbsent;
  ir::Tensor weights = weight.constant->tensor.Clone(), biases(ir::DType::kF32, {shape[1]});
  for (int64_t i = 0; i < weights.size(); ++i) {
    float& w = weights.mutable_values<float>()[i];
    const int64_t channel = WeightChannel(product, weight.type.shape, i);
    if (channel >= shape[1]) return kAbsent;
    w = static_cast<float>(w * scale[channel]);
  }
  for (size_t c = 0; c < shift.size(); ++c) {
    biases.mutable_values<float>()[c] = static_cast<float>(shift[c]);
  }
  static constexpr ir::OpDef kGemm{.name = "Gemm", .since = ir::Since(1)};
  if (plain) product.op = &kGemm;
  product.operands.resize(3, kAbsent);
  product.operands[1] = Constant(ir::MakePayload(std::move(weights)), weight.type);
  product.operands[2] =
      Constant(ir::MakePayload(std::move(biases)), {ir::DType::kF32, {shape[1]}, {}, {}});
  return Build(std::move(product));
}

}  // namespace octavo::verify
