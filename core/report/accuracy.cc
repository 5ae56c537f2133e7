// SPDX-License-Identifier: Apache-2.0
#include "core/report/accuracy.h"

#include <algorithm>
#include <cmath>

namespace octavo::report {
namespace {

constexpr std::string_view kRanking[] = {"Softmax", "LogSoftmax"};

// The axis of input 0 along which the elements of the result's axis `axis` are, or -1.  The op's
// rule for parameters per channel says where each axis goes.
int AxisBefore(const ir::Graph& graph, const ir::Node& node, int axis) {
  const ir::Shape& before = graph.type(node.inputs[0]).shape;
  const int64_t extent = graph.type(node.result()).shape[static_cast<size_t>(axis)];
  for (size_t from = 0; from < before.size(); ++from) {
    if (before[from] != extent) continue;
    const auto count = static_cast<size_t>(extent);
    const ir::Quant along = ir::Quant::PerAxis(static_cast<int>(from), std::vector<float>(count, 1),
                                               std::vector<int32_t>(count, 0));
    const auto moved =
        node.op->map_quant ? node.op->map_quant(graph, node, 0, along) : std::nullopt;
    if (moved && moved->axis == axis) return static_cast<int>(from);
  }
  return -1;
}

// Whether the node computes what ranks classes along the axis of its result.
bool Ranks(const ir::Graph& graph, const ir::Node& node, int axis) {
  if (!node.op->domain.empty() || std::ranges::count(kRanking, node.op->name) == 0) return false;
  const auto rank = static_cast<int64_t>(graph.type(node.result()).shape.size());
  const int64_t own = node.attributes.Int("axis", -1);
  return (own < 0 ? own + rank : own) == axis;
}

}  // namespace

bool RanksClasses(const ir::Graph& graph, ir::ValueId value) {
  const ir::Shape& shape = graph.type(value).shape;
  if (shape.size() < 2 || shape.size() > 3 || shape.back() < 2) return false;
  if (shape.size() == 2) return true;
  int axis = 2;
  for (const ir::Node* node = graph.Producer(value); node != nullptr && axis >= 0;) {
    if (Ranks(graph, *node, axis)) return true;
    if (node->op->moves_data < ir::Movement::kView) return false;
    axis = AxisBefore(graph, *node, axis);
    node = graph.Producer(node->inputs[0]);
  }
  return false;
}

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
    const bool numbered = numbers_ != nullptr && !numbers_->empty();
    if (label < 0 || label >= classes_) {
      return Fail(Code::kInvalidArgument,
                  "labels: that of sample {} is {}, but there are {} classes",
                  numbered ? (*numbers_)[done_] : static_cast<int64_t>(done_), label, classes_)
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
