#include "core/ops/class_loss.h"

namespace octavo::ops {

Status InferLoss(ir::InferContext& context) {
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

}  // namespace octavo::ops
