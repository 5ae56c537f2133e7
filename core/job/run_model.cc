// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/data/npy.h"
#include "core/job/execute.h"
#include "core/job/file_names.h"
#include "core/job/job_warnings.h"
#include "core/job/load.h"
#include "core/job/opaque.h"
#include "core/report/nan_inputs.h"
#include "core/runtime/plan.h"

namespace octavo::job {
namespace {

using ir::Shape;
using ir::Tensor;
using ir::ValueId;
using nlohmann::ordered_json;

// The results of one value over all batches.
struct Gathered {
  ValueId value = {};
  bool batched = false;
  std::vector<Tensor> parts = {};
};

// Concatenates batched results along axis 0 and stacks others along a new leading axis.
Tensor Join(const Gathered& gathered) {
  Shape shape = gathered.parts[0].shape();
  const auto count = static_cast<int64_t>(gathered.parts.size());
  if (gathered.batched) {
    shape[0] *= count;
  } else {
    shape.insert(shape.begin(), count);
  }
  Tensor joined(gathered.parts[0].dtype(), shape);
  std::byte* to = joined.mutable_raw();
  for (const Tensor& part : gathered.parts) to = std::ranges::copy(part.raw_bytes(), to).out;
  return joined;
}

ordered_json IndexEntry(const std::string& name, const std::string& file, const ir::Type& type) {
  ordered_json entry = {
      {"name", name},     {"file", file},          {"dtype", ir::NumpyName(type.dtype)},
      {"scale", nullptr}, {"zero_point", nullptr}, {"axis", nullptr}};
  if (!type.quant) return entry;
  if (type.quant->per_tensor()) {
    entry["scale"] = type.quant->scale();
    entry["zero_point"] = type.quant->zero_point();
  } else {
    entry["scale"] = type.quant->scales;
    entry["zero_point"] = type.quant->zero_points;
    entry["axis"] = *type.quant->axis;
  }
  return entry;
}

class Runner {
 public:
  Runner(const Loaded& loaded, bool all_values)
      : loaded_(loaded), graph_(loaded.model.graph), nans_(graph_) {
    const auto add = [&](ValueId id, bool batched) {
      if (!places_.emplace(id, gathered_.size()).second) return;
      gathered_.push_back({.value = id, .batched = batched});
    };
    for (size_t i = 0; i < graph_.outputs().size(); ++i) {
      const onnx::OutputSignature& output = loaded.model.outputs[i];
      if (!output.handed || all_values) add(graph_.outputs()[i], output.batched);
    }
    if (!all_values) return;
    for (const ValueId input : graph_.inputs()) add(input, HasBatch(input));
    for (const ir::NodeId id : graph_.nodes()) {
      for (const ValueId result : graph_.node(id).results) add(result, HasBatch(result));
    }
  }

  Status Run(const numerics::Mode* numerics, bool all_values, ThreadPool& pool,
             const StopToken& stop, const Observer& observer) {
    OCTAVO_TRY(
        const runtime::Plan plan,
        runtime::Plan::Create(
            graph_, {.numerics = numerics, .keep_all_values = all_values || nans_.ReadsView()},
            pool));
    const ir::Batches& batches = loaded_.samples.batches;
    for (int64_t done = 0; done < batches.size(); ++done) {
      OCTAVO_TRY(const ir::Batches::Batch batch, batches.Read(done, stop));
      for (size_t i = 0; i < batch.size(); ++i) {
        Keep(graph_.inputs()[i], batch[i]);
        nans_.Count(graph_.inputs()[i], batch[i]);
      }
      OCTAVO_TRY(runtime::Execution run, plan.Begin(batch, pool));
      while (!run.done()) {
        const std::vector<ValueId> values = run.next();
        OCTAVO_CHECK(run.Step(stop));
        for (const ValueId value : values) {
          if (nans_.Reads(value)) nans_.Count(value, run.Value(value));
          if (all_values) Keep(value, run.Value(value));
        }
      }
      const std::vector<Tensor> results = run.outputs();
      for (size_t i = 0; i < results.size(); ++i) {
        const auto place = places_.find(graph_.outputs()[i]);
        if (place == places_.end()) continue;
        Gathered& gathered = gathered_[place->second];
        if (gathered.parts.size() == static_cast<size_t>(done)) {
          gathered.parts.push_back(results[i].Clone());
        }
      }
      if (observer) observer({.stage = "integer-run", .done = done + 1, .total = batches.size()});
    }
    return {};
  }

  std::vector<NamedBlob> Files() const {
    std::vector<NamedBlob> files;
    FileNames names;
    ordered_json index = ordered_json::array();
    for (const Gathered& gathered : gathered_) {
      if (gathered.parts.empty()) continue;
      const std::string& name = graph_.name(gathered.value);
      const std::string file = names.For(name) + ".npy";
      files.push_back({file, Blob(data::WriteNpy(Join(gathered)))});
      index.push_back(IndexEntry(name, file, graph_.type(gathered.value)));
    }
    files.push_back({"index.json", Blob(index.dump(1) + "\n")});
    return files;
  }

  const report::NanCounter& nans() const { return nans_; }

 private:
  bool HasBatch(ValueId id) const {
    const Shape& shape = graph_.type(id).shape;
    return !shape.empty() && shape[0] == loaded_.model.batch;
  }
  void Keep(ValueId id, const Tensor& tensor) {
    const auto at = places_.find(id);
    if (at != places_.end()) gathered_[at->second].parts.push_back(tensor.Clone());
  }

  const Loaded& loaded_;
  const ir::Graph& graph_;
  std::vector<Gathered> gathered_;
  std::map<ValueId, size_t> places_;
  report::NanCounter nans_;
};

}  // namespace

Result<std::vector<NamedBlob>> RunModel(const ModelInput& input, bool all_values,
                                        const StopToken& stop, const Observer& observer,
                                        std::vector<ir::Warning>* warnings) {
  LoadRequest request = RequestOf(input, input, stop);
  request.deciders = LoadRequest::Deciders::kFromSamples;
  if (request.non_finite == NonFinite::kRefuse) request.non_finite = NonFinite::kRefuseIfQuantized;
  OCTAVO_TRY(const Loaded loaded, LoadToRun(request, "run"));
  if (!all_values) OCTAVO_CHECK(CheckComputes(loaded));
  ThreadPool pool(input.threads);
  Runner runner(loaded, all_values);
  OCTAVO_CHECK(runner.Run(input.numerics, all_values, pool, stop, observer));
  if (warnings != nullptr) {
    WarnOfOpaque(loaded.model, *warnings);
    WarnOfNonFinite(loaded.survey.get(), *warnings);
    WarnOfNans(runner.nans().Found(), *warnings);
  }
  return runner.Files();
}

}  // namespace octavo::job
