// A model and its samples, read: shared by the job and by the commands that only look or run.
#pragma once

#include <future>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/data/samples.h"
#include "core/job/execute.h"
#include "core/onnx/import.h"
#include "core/passes/pass.h"
#include "core/target/target.h"

namespace octavo::job {

struct LoadRequest {
  const NamedBlob& model;
  const std::vector<NamedBlob>& external_data;
  const std::vector<NamedBlob>& samples;  // empty: none
  std::map<std::string, std::vector<int64_t>> shape = {};
  int64_t batch = 0;
  const target::Target* target = nullptr;  // its own ops are known then
  ModelLimits limits = {};
  // What an input whose elements decide a shape (the shape of a Reshape, the starts of a Slice) is
  // for this run: with kFromSamples a constant of what all samples agree in.
  enum class Deciders { kRefused, kFromSamples };
  Deciders deciders = Deciders::kRefused;
  // What the samples are for: to be cut into this model's inputs, or to bind its shapes alone.
  enum class Use { kRun, kShapes };
  Use use = Use::kRun;
};

struct Loaded {
  onnx::Imported model = {};  // of a text graph: what of it applies
  data::Samples samples = {};
  // SHA-256 of the model's bytes, which another thread computes beside what follows.
  std::shared_future<std::string> digest = {};
};

// `model` with the samples, extents and limits of `input`, which is often the same.
LoadRequest RequestOf(const ModelInput& model, const ModelInput& input);

// A model of any form of model_form.h.
Result<Loaded> Load(const LoadRequest& request);

// What import did and warned of, as the first entries of the job's findings.
void RecordImport(const onnx::Imported& model, passes::Findings& findings);

// `count` samples drawn from the inputs' entries in a profile, or evenly where it has none; the
// same for equal seeds on every machine.
struct ProfileDraw {
  uint64_t seed = 0;
  int64_t count = 8;
};

}  // namespace octavo::job
