// SPDX-License-Identifier: Apache-2.0
// The activations of RNN, GRU and LSTM by name.
#include <algorithm>
#include <cmath>

#include "core/base/math.h"
#include "core/base/math_each.h"
#include "core/ops/shared/recurrent.h"

namespace octavo::ops {
namespace {

using Numbers = std::span<double>;

template <class Function>
void Each(Numbers values, Function function) {
  for (double& x : values) x = function(x);
}

struct Row {
  std::string_view name;
  bool has_alpha = false, has_beta = false;
  double alpha = 0, beta = 0;  // defaults if the node specifies none
  void (*function)(Numbers values, double alpha, double beta) = nullptr;
};

constexpr Row kRows[] = {
    {"Relu", false, false, 0, 0,
     [](Numbers all, double, double) { Each(all, [](double x) { return std::max(x, 0.0); }); }},
    {"Tanh", false, false, 0, 0, [](Numbers all, double, double) { math::TanhEach(all); }},
    {"Sigmoid", false, false, 0, 0, [](Numbers all, double, double) { math::SigmoidEach(all); }},
    {"Softsign", false, false, 0, 0,
     [](Numbers all, double, double) {
       Each(all, [](double x) { return x / (1 + std::abs(x)); });
     }},
    {"Softplus", false, false, 0, 0,
     [](Numbers all, double, double) {
       Each(all, [](double x) { return math::Log1p(math::Exp(-std::abs(x))) + std::max(x, 0.0); });
     }},
    {"LeakyRelu", true, false, 0.01, 0,
     [](Numbers all, double alpha, double) {
       Each(all, [=](double x) { return x < 0 ? alpha * x : x; });
     }},
    {"ThresholdedRelu", true, false, 1, 0,
     [](Numbers all, double alpha, double) {
       Each(all, [=](double x) { return x > alpha ? x : 0.0; });
     }},
    {"Elu", true, false, 1, 0,
     [](Numbers all, double alpha, double) {
       Each(all, [=](double x) { return x < 0 ? alpha * math::Expm1(x) : x; });
     }},
    {"Affine", true, true, 1, 0,
     [](Numbers all, double alpha, double beta) {
       Each(all, [=](double x) { return alpha * x + beta; });
     }},
    {"ScaledTanh", true, true, 1, 1,
     [](Numbers all, double alpha, double beta) {
       Each(all, [=](double x) { return alpha * math::Tanh(beta * x); });
     }},
    {"HardSigmoid", true, true, 0.2, 0.5,
     [](Numbers all, double alpha, double beta) {
       Each(all, [=](double x) { return std::clamp(alpha * x + beta, 0.0, 1.0); });
     }},
};

std::vector<std::string> NamesOf(const ir::Node& node) {
  const auto at = std::ranges::find(node.attributes, "activations",
                                    [](const auto& entry) { return entry.first; });
  if (at == node.attributes.end()) return {};
  return std::get<std::vector<std::string>>(at->second);
}

}  // namespace

tl::expected<std::vector<Activation>, std::string> RecurrentActivations(
    const ir::Node& node, std::span<const std::string_view> defaults, int64_t directions) {
  std::vector<std::string> names = NamesOf(node);
  while (names.size() < defaults.size() * static_cast<size_t>(directions)) {
    names.emplace_back(defaults[names.size() % defaults.size()]);
  }
  const std::vector<float> alphas = node.attributes.Floats("activation_alpha");
  const std::vector<float> betas = node.attributes.Floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    const auto row = std::ranges::find(kRows, name, &Row::name);
    if (row == std::end(kRows)) return tl::make_unexpected(name);
    double alpha = row->alpha, beta = row->beta;
    if (row->has_alpha && next_alpha < alphas.size()) alpha = alphas[next_alpha++];
    if (row->has_beta && next_beta < betas.size()) beta = betas[next_beta++];
    activations.emplace_back(
        [row, alpha, beta](Numbers values) { row->function(values, alpha, beta); });
  }
  return activations;
}

}  // namespace octavo::ops
