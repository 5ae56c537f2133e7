// SPDX-License-Identifier: Apache-2.0
// Looks at the samples that a command reads: refuses or counts elements that are not finite, and
// finds inputs that never vary.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/data/samples.h"
#include "core/ir/graph.h"

namespace octavo::job {

// kRefuseIfQuantized: refuses them for a graph with quantized values, which would clamp or replace
// them.
enum class NonFinite { kRefuse, kRefuseIfQuantized, kCount };

// Of a float input, over the samples looked at.
struct SurveyedInput {
  std::string name = {};
  int64_t elements = 0, nans = 0, infinities = 0;
  bool varies = false;  // has two different elements
};

// Thread-safe.
class SampleSurvey {
 public:
  // `inputs` are those of the samples' batches, in order.
  SampleSurvey(std::vector<std::string> inputs, bool refuses, const data::Samples& samples);

  // Looks at a batch once, however often it is read.  kInvalidArgument, with the file and the index
  // of the first element that is not finite, if they are refused; else the stop's error within 100
  // ms of the stop.
  Status Look(int64_t number, const ir::Batches::Batch& batch, const StopToken& stop);

  // In the model's order; float inputs only.
  std::vector<SurveyedInput> Inputs() const;

 private:
  Status LookAt(int64_t number, size_t input, const ir::Tensor& tensor, const StopToken& stop);
  Status LookAtPart(int64_t number, size_t input, const ir::Tensor& tensor, int64_t begin,
                    int64_t end);

  const bool refuses_;
  const data::SampleOrigins origin_;
  mutable std::mutex mutex_;
  std::vector<bool> looked_;  // by batch
  std::vector<SurveyedInput> inputs_;
  std::vector<double> first_;  // element of each input
};

// From now on, reading a batch of `samples` looks at it.  Null for samples that are drawn: they are
// finite.
std::shared_ptr<SampleSurvey> Survey(const ir::Graph& graph, NonFinite non_finite,
                                     data::Samples& samples);

}  // namespace octavo::job
