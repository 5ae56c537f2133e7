// SPDX-License-Identifier: Apache-2.0
#include "core/report/accuracy.h"

#include <cmath>

namespace octavo::report {

std::optional<ir::ValueId> ScoresOf(const ir::Graph& graph, int64_t rows) {
  for (const ir::ValueId output : graph.outputs()) {
    const ir::Type& type = graph.type(output);
    const bool floats = type.dtype == ir::DType::kF32 && !type.shape.empty();
    if (floats && type.shape.back() > 1 && type.elements() == rows * type.shape.back()) {
      return output;
    }
  }
  return std::nullopt;
}

void AccuracyCounter::Count(const ir::Tensor& scores, int64_t begin, int64_t width, int64_t label,
                            Hits& hits) {
  const double own = scores.FloatAt(begin + label);
  if (std::isnan(own)) return;
  int64_t before = 0;  // classes that are ranked before the label
  for (int64_t i = 0; i < width; ++i) {
    const double score = scores.FloatAt(begin + i);
    before += score > own || (score == own && i < label);
  }
  hits.top1 += before < 1;
  hits.top5 += before < 5;
}

Status AccuracyCounter::Add(const ir::Tensor& baseline, const ir::Tensor& actual) {
  classes_ = baseline.shape().back();
  for (int64_t begin = 0; begin < baseline.size() && done_ < labels_.size(); begin += classes_) {
    const int64_t label = labels_[done_];
    if (label < 0 || label >= classes_) {
      return Fail(Code::kInvalidArgument,
                  "labels: that of sample {} is {}, but there are {} classes", done_, label,
                  classes_)
          .Field("labels")
          .Reason("INVALID_SAMPLES");
    }
    Count(baseline, begin, classes_, label, baseline_);
    Count(actual, begin, classes_, label, actual_);
    ++done_;
  }
  return {};
}

v1::Accuracy AccuracyCounter::Finish() const {
  v1::Accuracy figures;
  const auto samples = static_cast<double>(done_);
  figures.set_samples(static_cast<int64_t>(done_));
  if (done_ == 0) return figures;
  figures.set_top1(static_cast<double>(actual_.top1) / samples);
  figures.set_top1_float(static_cast<double>(baseline_.top1) / samples);
  if (classes_ < 6) return figures;
  figures.set_top5(static_cast<double>(actual_.top5) / samples);
  figures.set_top5_float(static_cast<double>(baseline_.top5) / samples);
  return figures;
}

}  // namespace octavo::report
