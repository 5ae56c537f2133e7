// SPDX-License-Identifier: Apache-2.0
#include "core/job/sample_survey.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

#include "core/job/survey.h"

namespace octavo::job {
namespace {

constexpr int64_t kPart = int64_t{1} << 18;  // elements between two looks at a stop

// Nearly all samples are finite floats; these loops have no branches, so that they vectorize.
bool AllFinite(std::span<const float> values) {
  bool is_finite = true;
  for (const float value : values) {
    is_finite &= (std::bit_cast<uint32_t>(value) & 0x7f800000u) != 0x7f800000u;
  }
  return is_finite;
}

bool Differs(std::span<const float> values, float from) {
  bool differs = false;
  for (const float value : values) differs |= value != from;
  return differs;
}

std::string_view Describe(double element) {
  if (std::isnan(element)) return "NaN";
  return element > 0 ? "infinite" : "minus infinite";
}

// "3,0,2": the index of an element in an array.
std::string IndexOf(int64_t element, const ir::Shape& shape) {
  ir::Shape index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = element % shape[axis];
    element /= shape[axis];
  }
  return fmt::format("[{}]", fmt::join(index, ","));
}

Failure NotFinite(const data::SampleOrigin& origin, const std::string& input, double value) {
  const std::string array =
      origin.array.empty() ? std::string() : fmt::format(" in array '{}'", origin.array);
  return Fail(Code::kInvalidArgument,
              "samples: '{}' is {} at {}{}, of input '{}'; --allow-non-finite accepts it",
              origin.file, Describe(value), IndexOf(origin.first, origin.shape), array, input)
      .Field(input)
      .Reason("INVALID_SAMPLES");
}

}  // namespace

SampleSurvey::SampleSurvey(std::vector<std::string> inputs, bool refuses,
                           const data::Samples& samples)
    : refuses_(refuses),
      origin_(samples.origin),
      looked_(static_cast<size_t>(samples.batches.size())),
      first_(inputs.size()) {
  for (std::string& name : inputs) inputs_.push_back({.name = std::move(name)});
}

Status SampleSurvey::Look(int64_t number, const ir::Batches::Batch& batch, const StopToken& stop) {
  const std::lock_guard lock(mutex_);
  if (looked_[static_cast<size_t>(number)]) return {};
  for (size_t i = 0; i < batch.size() && i < inputs_.size(); ++i) {
    if (ir::IsFloat(batch[i].dtype())) OCTAVO_CHECK(LookAt(number, i, batch[i], stop));
  }
  looked_[static_cast<size_t>(number)] = true;
  return {};
}

Status SampleSurvey::LookAt(int64_t number, size_t input, const ir::Tensor& tensor,
                            const StopToken& stop) {
  SurveyedInput& found = inputs_[input];
  if (found.elements == 0 && tensor.size() > 0) first_[input] = tensor.FloatAt(0);
  for (int64_t begin = 0; begin < tensor.size(); begin += kPart) {
    OCTAVO_CHECK(stop.Check());
    const int64_t end = std::min(begin + kPart, tensor.size());
    OCTAVO_CHECK(LookAtPart(number, input, tensor, begin, end));
  }
  found.elements += tensor.size();
  return {};
}

Status SampleSurvey::LookAtPart(int64_t number, size_t input, const ir::Tensor& tensor,
                                int64_t begin, int64_t end) {
  SurveyedInput& found = inputs_[input];
  const double first = first_[input];
  if (tensor.dtype() == ir::DType::kF32) {
    const auto part = tensor.values<float>().subspan(static_cast<size_t>(begin),
                                                     static_cast<size_t>(end - begin));
    if (AllFinite(part)) {
      found.varies = found.varies || Differs(part, static_cast<float>(first));
      return {};
    }
  }
  for (int64_t i = begin; i < end; ++i) {
    const double value = tensor.FloatAt(i);
    found.varies |= value != first;
    if (std::isfinite(value)) continue;
    if (refuses_) return NotFinite(origin_(number, input, i), found.name, value);
    (std::isnan(value) ? found.nans : found.infinities) += 1;
  }
  return {};
}

std::vector<SurveyedInput> SampleSurvey::Inputs() const {
  const std::lock_guard lock(mutex_);
  std::vector<SurveyedInput> floats;
  std::ranges::copy_if(inputs_, std::back_inserter(floats),
                       [](const SurveyedInput& input) { return input.elements > 0; });
  return floats;
}

std::shared_ptr<SampleSurvey> Survey(const ir::Graph& graph, NonFinite non_finite,
                                     data::Samples& samples) {
  if (!samples.origin) return nullptr;
  std::vector<std::string> names;
  for (const ir::ValueId input : graph.inputs()) names.push_back(graph.name(input));
  const bool refuses = non_finite == NonFinite::kRefuse ||
                       (non_finite == NonFinite::kRefuseIfQuantized && HasQuantizedValues(graph));
  auto survey = std::make_shared<SampleSurvey>(std::move(names), refuses, samples);
  const int64_t size = samples.batches.size();
  samples.batches =
      ir::Batches(size,
                  [survey, read = std::move(samples.batches)](
                      int64_t number, const StopToken& stop) -> Result<ir::Batches::Batch> {
                    OCTAVO_TRY(ir::Batches::Batch batch, read.Read(number, stop));
                    OCTAVO_CHECK(survey->Look(number, batch, stop));
                    return batch;
                  });
  return survey;
}

}  // namespace octavo::job
