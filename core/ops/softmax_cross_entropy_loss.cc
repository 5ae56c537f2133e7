// SoftmaxCrossEntropyLoss(scores, labels, weights?) {ignore_index, reduction}: the loss of
// log(softmax(scores)) along axis 1, and that logarithm itself.
#include "core/base/math.h"
#include "core/ops/class_loss.h"

namespace octavo::ops {
namespace {

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

Status Reference(const ir::EvalContext& context) {
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

extern constexpr ir::OpDef kSoftmaxCrossEntropyLoss{
    .name = "SoftmaxCrossEntropyLoss",
    .inputs = {2, 3},
    .results = {1, 2},
    .attributes = kLossAttributes,
    .roles = ir::Roles(ir::Role::kData, ir::Role::kParameter),
    .quant = {.why = "a loss is a measure and stays float"},
    .infer = &InferLoss,
    .reference = &Reference,
};

}  // namespace octavo::ops
