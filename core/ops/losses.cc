// SPDX-License-Identifier: Apache-2.0
// Losses of classifiers: (scores, labels, weights?) {ignore_index, reduction}.
#include <functional>

#include "core/base/math.h"
#include "core/ops/shared/elementwise.h"

namespace octavo::ops {
namespace {

constexpr ir::AttrSpec kAttributes[] = {{"ignore_index", ir::AttrKind::kInt},
                                        {"reduction", ir::AttrKind::kString}};

// Scores are [N, C, positions..], labels [N, positions..], weights [C].
Status Infer(ir::InferContext& context) {
  OCTAVO_CHECK(InferFloatUnary(context));
  const ir::Shape& scores = context.shape(0);
  const ir::Shape& labels = context.shape(1);
  const std::string reduction = context.node().attributes.String("reduction", "mean");
  if (reduction != "none" && reduction != "mean" && reduction != "sum") {
    return context.Invalid("reduction '{}' is unknown", reduction).Field("reduction");
  }
  if (scores.size() < 2 || !ir::IsInteger(context.dtype(1))) {
    return context.Invalid("scores must have 2 axes at least, and labels be integers");
  }
  ir::Shape places = scores;
  places.erase(places.begin() + 1);
  if (labels != places) {
    return context.Invalid("labels of shape {} do not fit scores of shape {}", ir::ToString(labels),
                           ir::ToString(scores));
  }
  if (context.Has(2) && context.shape(2) != ir::Shape{scores[1]}) {
    return context.Invalid("weights of shape {} do not fit {} classes",
                           ir::ToString(context.shape(2)), scores[1]);
  }
  context.SetResult(0, context.dtype(0), reduction == "none" ? places : ir::Shape{});
  if (context.result_count() > 1) context.SetResult(1, context.dtype(0), scores);
  return {};
}

// Writes result 0: the weighted negative log probability of each position's class, reduced as the
// attribute specifies.  `log_probability(n, c, place)` is the log probability of class c.
Status ClassLoss(
    const ir::EvalContext& context,
    const std::function<double(int64_t n, int64_t c, int64_t place)>& log_probability) {
  const ir::Tensor& labels = context.in(1);
  const ir::Shape& shape = context.in(0).shape();
  const std::string reduction = context.node.attributes.String("reduction", "mean");
  const bool ignores = context.node.attributes.Has("ignore_index");
  const int64_t ignored = context.node.attributes.Int("ignore_index", 0);
  const int64_t places = shape[0] == 0 ? 0 : labels.size() / shape[0];
  double sum = 0, weights = 0;
  std::vector<double> losses(labels.size(), 0);
  for (int64_t i = 0; i < labels.size(); ++i) {
    const int64_t label = labels.IntAt(i);
    if (ignores && label == ignored) continue;
    if (label < 0 || label >= shape[1]) {
      return BadData(context, "label {} is outside of {} classes", label, shape[1]);
    }
    const double weight = context.Has(2) ? context.in(2).FloatAt(label) : 1.0;
    losses[i] = -weight * log_probability(i / places, label, i % places);
    sum += losses[i];
    weights += weight;
  }
  ir::Tensor& result = context.out();
  VisitDType(result.dtype(), [&]<class T>(T) {
    const auto to = result.mutable_values<T>();
    if (reduction == "none") {
      for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(losses[i]);
    } else {
      to[0] = static_cast<T>(reduction == "mean" ? sum / weights : sum);
    }
  });
  return {};
}

// The scores are already log probabilities.
Status NegativeLogLikelihood(const ir::EvalContext& context) {
  const ir::Tensor& input = context.in(0);
  const ir::Shape strides = ir::StridesOf(input.shape());
  return ClassLoss(context, [&](int64_t n, int64_t c, int64_t place) {
    return input.FloatAt(n * strides[0] + c * strides[1] + place);
  });
}

// LogSoftmax along axis 1 in double.
std::vector<double> LogProbabilities(const ir::Tensor& scores) {
  const int64_t classes = scores.shape()[1], stride = ir::StridesOf(scores.shape())[1];
  std::vector<double> values(scores.size());
  for (int64_t i = 0; i < scores.size(); ++i) values[i] = scores.FloatAt(i);
  for (int64_t row = 0; classes > 0 && row < scores.size() / classes; ++row) {
    double* first = values.data() + row / stride * stride * classes + row % stride;
    double most = first[0], sum = 0;
    for (int64_t c = 1; c < classes; ++c) most = std::max(most, first[c * stride]);
    for (int64_t c = 0; c < classes; ++c) sum += math::Exp(first[c * stride] - most);
    for (int64_t c = 0; c < classes; ++c) first[c * stride] -= most + math::Log(sum);
  }
  return values;
}

// Computes log(softmax(scores)) along axis 1; this is also result 1.
Status SoftmaxCrossEntropy(const ir::EvalContext& context) {
  const std::vector<double> logs = LogProbabilities(context.in(0));
  const ir::Shape strides = ir::StridesOf(context.in(0).shape());
  if (context.results.size() > 1) {
    VisitDType(context.out(1).dtype(), [&]<class T>(T) {
      const auto to = context.out(1).mutable_values<T>();
      for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(logs[i]);
    });
  }
  return ClassLoss(context, [&](int64_t n, int64_t c, int64_t place) {
    return logs[n * strides[0] + c * strides[1] + place];
  });
}

}  // namespace

extern constexpr ir::OpDef kNegativeLogLikelihoodLoss{
    .name = "NegativeLogLikelihoodLoss",
    .since = ir::Since(12),
    .inputs = {2, 3},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "it computes a loss, which stays float"},
    .infer = &Infer,
    .definition = &NegativeLogLikelihood,
};
extern constexpr ir::OpDef kSoftmaxCrossEntropyLoss{
    .name = "SoftmaxCrossEntropyLoss",
    .since = ir::Since(12),
    .inputs = {2, 3},
    .results = {1, 2},
    .attributes = kAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "it computes a loss, which stays float"},
    .infer = &Infer,
    .definition = &SoftmaxCrossEntropy,
};

}  // namespace octavo::ops
