// SPDX-License-Identifier: Apache-2.0
// How often a classifier's scores agree with labels, before and after quantization, and which
// outputs are scores of classes.
#pragma once

#include <optional>
#include <vector>

#include "core/ir/graph.h"
#include "octavo/v1/report.pb.h"

namespace octavo::report {

// The first output of `graph` with a row of scores along the last axis for each of the `rows`
// samples of a batch; nullopt if there is none.
std::optional<ir::ValueId> ScoresOf(const ir::Graph& graph, int64_t rows);

// Whether the rows along the last axis rank classes, so that the index of the largest element means
// something: a value [N, C]; or [N, T, C], if it is a Softmax or LogSoftmax over C whose elements
// were at most moved since.  The last axis of a map is a place.
bool RanksClasses(const ir::Graph& graph, ir::ValueId value);

class AccuracyCounter {
 public:
  // One label per sample, in the order of the batches.  `numbers`: those that messages give the
  // samples; null or empty: 0, 1, ..
  explicit AccuracyCounter(const std::vector<int64_t>& labels,
                           const std::vector<int64_t>* numbers = nullptr)
      : labels_(labels), numbers_(numbers) {}

  // The next batch: the scores of the float model, and those of the quantized one, which may be
  // quantized values of one scale.  kInvalidArgument for a label that is no class.
  Status Add(const ir::Tensor& baseline, const ir::Tensor& actual);

  // Sets all figures except `output`.
  v1::Accuracy Finish() const;

 private:
  struct Hits {
    int64_t top1 = 0, top5 = 0;
  };
  static void Count(const ir::Tensor& scores, int64_t begin, int64_t width, int64_t label,
                    Hits& hits);

  const std::vector<int64_t>& labels_;
  const std::vector<int64_t>* numbers_;
  size_t done_ = 0;
  int64_t classes_ = 0;
  Hits baseline_ = {}, actual_ = {};
};

}  // namespace octavo::report
