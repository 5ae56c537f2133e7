// SPDX-License-Identifier: Apache-2.0
// Loads a model and its samples, for jobs and the other commands.
#pragma once

#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/data/samples.h"
#include "core/job/execute.h"
#include "core/job/sample_survey.h"
#include "core/onnx/import/import.h"
#include "core/onnx/wire/opaque_part.h"
#include "core/passes/pass.h"
#include "core/target/target.h"

namespace octavo::job {

struct LoadRequest {
  const NamedBlob& model;
  const std::vector<NamedBlob>& external_data;
  const std::vector<NamedBlob>& samples;  // empty: no samples
  std::map<std::string, std::vector<int64_t>> shape = {};
  int64_t batch = 0;
  const target::Target* target = nullptr;  // the model may use its custom ops
  ModelLimits limits = {};
  // Treatment of an input that determines a shape (the shape of a Reshape, the starts of a Slice):
  // kRefused fails; kFromSamples makes it a constant, whose value all samples must share.
  enum class Deciders { kRefused, kFromSamples };
  Deciders deciders = Deciders::kRefused;
  // kRun splits the samples into this model's inputs; kShapes only binds its dynamic dimensions.
  enum class Use { kRun, kShapes };
  Use use = Use::kRun;
  // kRefuse: a node that Octavo does not support is an error.  kLeave: such nodes, and those that
  // follow without known values, become the opaque part of the model's contract.
  enum class Unsupported { kRefuse, kLeave };
  Unsupported unsupported = Unsupported::kRefuse;
  int64_t open_extent = 0;           // binds open dimensions, for a look at a model
  data::SampleOptions reading = {};  // of the samples
  // Samples of other sizes than the first ones become `Loaded::other_sizes`; else they are refused.
  bool several_sizes = false;
  StopToken stop = {};
  NonFinite non_finite = NonFinite::kCount;  // elements of samples
};

struct Loaded {
  onnx::Imported model = {};  // of a text or native graph: only the fields that apply
  data::Samples samples = {};
  std::optional<data::SampleSource> source = {};  // of the samples, before the split into inputs
  // Of --evaluate, likewise; a job with a profile may have these alone.
  data::Samples evaluation = {};
  std::optional<data::SampleSource> evaluation_source = {};
  std::shared_ptr<SampleSurvey> evaluation_survey = {};
  std::shared_ptr<SampleSurvey> survey = {};         // of the samples; null if they are drawn
  std::vector<data::SampleSource> other_sizes = {};  // each of one size
  // SHA-256 of the model's bytes; another thread computes it.
  std::shared_future<std::string> digest = {};
};

// Requests to load `model` with the samples, dimensions and limits of `input`.  Both may be the
// same object.
LoadRequest RequestOf(const ModelInput& model, const ModelInput& input, const StopToken& stop = {});

// Loads a model of any form in model_form.h and its samples, ready to run: imports an ONNX model
// and runs the pass fold-qdq.  All commands use this function, except jobs: a job takes the same
// steps one by one, because its report lists the pass.
Result<Loaded> Load(const LoadRequest& request);

// The same for a command that runs the model: kUsage if there are no samples and the model has
// inputs.
Result<Loaded> LoadToRun(const LoadRequest& request, std::string_view command);

// The opaque part of a model, or null.
const onnx::OpaquePart* OpaqueOf(const onnx::Contract& contract);
// Whether the model's graph computes nothing: all its nodes are in the opaque part.
Status CheckComputes(const Loaded& loaded);

// Finds Octavo's ops, then the custom ops of a target, which may be null.
onnx::OpFinder FinderFor(const target::Target* target);
// Reads the model as its file defines it, without samples.
Result<Loaded> ReadModel(const LoadRequest& request);
// Splits the samples of `loaded` into the inputs of `graph`, which is the model's graph after
// fold-qdq.  kTooLarge if a value exceeds the limits.
Status TakeSamples(const LoadRequest& request, const ir::Graph& graph, Loaded& loaded);

// The model at the size of one of `other_sizes`, imported anew, with these samples.
Result<Loaded> LoadAtSize(const LoadRequest& request, const data::SampleSource& samples);

}  // namespace octavo::job
