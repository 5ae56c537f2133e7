// SPDX-License-Identifier: Apache-2.0
// Loads a model and its samples, for jobs and for the other commands.
#pragma once

#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/data/samples.h"
#include "core/job/execute.h"
#include "core/onnx/import/import.h"
#include "core/passes/pass.h"
#include "core/target/target.h"

namespace octavo::job {

struct LoadRequest {
  const NamedBlob& model;
  const std::vector<NamedBlob>& external_data;
  const std::vector<NamedBlob>& samples;  // empty: none
  std::map<std::string, std::vector<int64_t>> shape = {};
  int64_t batch = 0;
  const target::Target* target = nullptr;  // whose custom ops may occur
  ModelLimits limits = {};
  // How an input that determines a shape (the shape of a Reshape, the starts of a Slice) is
  // treated: as an error, or with kFromSamples as a constant that all samples must share.
  enum class Deciders { kRefused, kFromSamples };
  Deciders deciders = Deciders::kRefused;
  // Whether the samples are cut into this model's inputs, or only bind its dynamic dimensions.
  enum class Use { kRun, kShapes };
  Use use = Use::kRun;
};

struct Loaded {
  onnx::Imported model = {};  // for a text or native graph only the fields that apply
  data::Samples samples = {};
  std::optional<data::SampleSource> source = {};  // of the samples, before they are cut
  // SHA-256 of the model's bytes, computed by another thread.
  std::shared_future<std::string> digest = {};
};

// Loads `model` with the samples, dimensions and limits of `input`, which may be the same.
LoadRequest RequestOf(const ModelInput& model, const ModelInput& input);

// A model of any form of model_form.h with its samples, ready to run: an ONNX model is imported
// and the pass fold-qdq has run.  All commands load models by this function; the job takes the same
// steps one by one, since its report has the pass.
Result<Loaded> Load(const LoadRequest& request);

// Reads the model without its samples.
Result<Loaded> ReadModel(const LoadRequest& request);
// Cuts the samples of `loaded` for the inputs of `graph`, the model after fold-qdq.  kTooLarge for
// a value over the limits.
Status TakeSamples(const LoadRequest& request, const ir::Graph& graph, Loaded& loaded);

}  // namespace octavo::job
